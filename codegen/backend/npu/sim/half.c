/* binary16 to and from float32, in integer arithmetic, for any compiler. */
#include <string.h>

#include "codegen/backend/npu/sim/program.h"

enum { BIAS = 127 - 15, INF16 = 0x7c00 };

/* x >> by, to nearest even. */
static uint32_t rounded(uint32_t x, int by) {
  const uint32_t half = 1u << (by - 1), rest = x & ((1u << by) - 1), q = x >> by;
  return q + (rest > half || (rest == half && (q & 1)));
}

uint16_t npu_to_half(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  const uint32_t sign = u >> 16 & 0x8000, mantissa = u & 0x7fffff;
  const int e = (int)(u >> 23 & 0xff) - BIAS;
  if (e + BIAS == 0xff) return (uint16_t)(sign | INF16 | (mantissa ? 0x200 : 0));
  if (e >= 31) return (uint16_t)(sign | INF16);
  if (e < -10) return (uint16_t)sign;
  if (e <= 0) return (uint16_t)(sign | rounded(mantissa | 0x800000, 14 - e));
  return (uint16_t)(sign | rounded((uint32_t)e << 23 | mantissa,
                                   13)); /* a carry increments the exponent */
}

float npu_from_half(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, mantissa = h & 0x3ff;
  float x;
  if (e == 0) {
    x = (float)mantissa / 16777216.0F;
    return sign ? -x : x;
  }
  const uint32_t u = sign | (e == 31 ? 0x7f800000 : (e + BIAS) << 23) | mantissa << 13;
  memcpy(&x, &u, sizeof x);
  return x;
}
