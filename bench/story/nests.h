#ifndef BENCH_STORY_NESTS_H
#define BENCH_STORY_NESTS_H
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { M = 1024, K = 2048, L = 1024, N = 3072, TILE = 64, ROWS = 64 };

/* exp by a polynomial of degree 6 on [-ln 2 / 2, ln 2 / 2], 2e-7 relative; vectorised where loops
 * are. */
static inline float fast_exp(float x) {
  x = x < -87 ? -87 : x > 88 ? 88 : x;
  float n = (float)(int32_t)(x * 1.44269504f + (x < 0 ? -0.5f : 0.5f)),
        r = x - n * 0.693145752f - n * 1.42860677e-6f;
  float p =
      1 +
      r * (1 + r * (0.5f + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720))))));
  union {
    int32_t i;
    float f;
  } two = {.i = ((int32_t)n + 127) << 23};
  return p * two.f;
}

void nests(const float *restrict A, const float *restrict B, const float *restrict E,
           float *restrict C, float *restrict F);
#endif
