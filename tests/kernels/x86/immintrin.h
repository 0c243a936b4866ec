/* AVX-512, VNNI and BF16 on processors without them: found in place of the compiler's header by
 * kernels that cc.sh compiles. SIMDe (libsimde-dev) has most of their intrinsics as plain C; below
 * is what its version 0.7.4 lacks, written from the instructions' definitions (Intel's manual,
 * volume 2).  Subnormals are zero where VCVTNE2PS2BF16 takes them as such. */
#ifndef TESTS_KERNELS_X86_IMMINTRIN_H
#define TESTS_KERNELS_X86_IMMINTRIN_H
#pragma GCC system_header
#define SIMDE_NO_NATIVE
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <simde/x86/f16c.h>
#include <simde/x86/fma.h>
#include <stdint.h>
#include <string.h>
#undef I /* complex.h's, which SIMDe includes; kernels have tensors of that name */
#undef complex
#undef _mm512_madd_epi16 /* an alias of four arguments in 0.7.4 */
#define _mm512_madd_epi16 simde_mm512_madd_epi16

typedef simde__mmask8 __mmask8;
typedef simde__mmask16 __mmask16;
typedef simde__mmask32 __mmask32;
typedef simde__mmask64 __mmask64;

/* Elements that a mask names, from memory or zero; to memory. */
#define MASKED_LOAD(name, T, lanes, vector, load)                                                  \
  static inline vector name(uint64_t mask, const void *from) {                                     \
    T x[lanes];                                                                                    \
    memset(x, 0, sizeof x);                                                                        \
    for (int i = 0; i < lanes; i++)                                                                \
      if (mask >> i & 1) memcpy(x + i, (const T *)from + i, sizeof(T));                            \
    return load((const void *)x);                                                                  \
  }
#define MASKED_STORE(name, T, lanes, vector)                                                       \
  static inline void name(void *to, uint64_t mask, vector v) {                                     \
    T x[lanes];                                                                                    \
    memcpy(x, &v, sizeof x);                                                                       \
    for (int i = 0; i < lanes; i++)                                                                \
      if (mask >> i & 1) memcpy((T *)to + i, x + i, sizeof(T));                                    \
  }
MASKED_LOAD(_mm_maskz_loadu_epi8, uint8_t, 16, __m128i, simde_mm_loadu_si128)
MASKED_LOAD(_mm256_maskz_loadu_epi16, uint16_t, 16, __m256i, simde_mm256_loadu_si256)
MASKED_LOAD(_mm512_maskz_loadu_epi16, uint16_t, 32, __m512i, simde_mm512_loadu_si512)
MASKED_LOAD(_mm512_maskz_loadu_epi32, uint32_t, 16, __m512i, simde_mm512_loadu_si512)
MASKED_LOAD(_mm512_maskz_loadu_ps, float, 16, __m512, simde_mm512_loadu_ps)
MASKED_STORE(_mm256_mask_storeu_epi16, uint16_t, 16, __m256i)
MASKED_STORE(_mm512_mask_storeu_epi16, uint16_t, 32, __m512i)
MASKED_STORE(_mm512_mask_storeu_epi32, uint32_t, 16, __m512i)
MASKED_STORE(_mm512_mask_storeu_ps, float, 16, __m512)

/* Each of 16 numbers in another type: the same, rounded to nearest, or its low bits. */
#define CONVERT(name, from, T, to, U, load)                                                        \
  static inline to name(from v) {                                                                  \
    T x[16];                                                                                       \
    U y[16];                                                                                       \
    memcpy(x, &v, sizeof x);                                                                       \
    for (int i = 0; i < 16; i++)                                                                   \
      y[i] = (U)x[i];                                                                              \
    return load((const void *)y);                                                                  \
  }
CONVERT(_mm512_cvtepu8_epi32, __m128i, uint8_t, __m512i, uint32_t, simde_mm512_loadu_si512)
CONVERT(_mm512_cvtepi8_epi32, __m128i, int8_t, __m512i, int32_t, simde_mm512_loadu_si512)
CONVERT(_mm512_cvtepu16_epi32, __m256i, uint16_t, __m512i, uint32_t, simde_mm512_loadu_si512)
CONVERT(_mm512_cvtepi32_epi8, __m512i, uint32_t, __m128i, uint8_t, simde_mm_loadu_si128)
CONVERT(_mm512_cvtepi32_ps, __m512i, int32_t, __m512, float, simde_mm512_loadu_ps)

/* Towards zero; what no int32 holds is its least. */
static inline __m512i _mm512_cvttps_epi32(__m512 v) {
  float x[16];
  int32_t y[16];
  memcpy(x, &v, sizeof x);
  for (int i = 0; i < 16; i++)
    y[i] = x[i] >= -2147483648.0f && x[i] < 2147483648.0f ? (int32_t)x[i] : INT32_MIN;
  return simde_mm512_loadu_si512((const void *)y);
}

/* One number of all lanes: halves, then quarters, as the compilers' headers do. */
#define REDUCE(name, both)                                                                         \
  static inline float name(__m512 v) {                                                             \
    float x[16];                                                                                   \
    memcpy(x, &v, sizeof x);                                                                       \
    for (int half = 8; half; half /= 2)                                                            \
      for (int i = 0; i < half; i++)                                                               \
        x[i] = both(x[i], x[i + half]);                                                            \
    return x[0];                                                                                   \
  }
#define SUM_OF(a, b) ((a) + (b))
#define GREATER_OF(a, b) ((a) > (b) ? (a) : (b))
#define SMALLER_OF(a, b) ((a) < (b) ? (a) : (b))
REDUCE(_mm512_reduce_add_ps, SUM_OF)
REDUCE(_mm512_reduce_max_ps, GREATER_OF)
REDUCE(_mm512_reduce_min_ps, SMALLER_OF)

static inline __m512 _mm512_shuffle_f32x4(__m512 a, __m512 b, int how) {
  float x[32], y[16];
  memcpy(x, &a, sizeof a);
  memcpy(x + 16, &b, sizeof b);
  for (int i = 0; i < 16; i++)
    y[i] = x[i / 8 * 16 + 4 * (how >> 2 * (i / 4) & 3) + i % 4];
  return simde_mm512_loadu_ps(y);
}

/* To nearest, ties to even; a quiet NaN for any. */
static inline uint16_t emulated_bf16(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  if ((u & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000)) return (uint16_t)(u >> 16 | 0x40);
  if (!(u & UINT32_C(0x7f800000))) return (uint16_t)(u >> 16 & 0x8000);
  return (uint16_t)((u + UINT32_C(0x7fff) + (u >> 16 & 1)) >> 16);
}
static inline simde__m256bh _mm512_cvtneps_pbh(__m512 v) {
  float x[16];
  uint16_t y[16];
  simde__m256bh r;
  memcpy(x, &v, sizeof x);
  for (int i = 0; i < 16; i++)
    y[i] = emulated_bf16(x[i]);
  memcpy(&r, y, sizeof y);
  return r;
}
static inline simde__m512bh _mm512_cvtne2ps_pbh(__m512 high, __m512 low) {
  float x[32];
  uint16_t y[32];
  simde__m512bh r;
  memcpy(x, &low, sizeof low);
  memcpy(x + 16, &high, sizeof high);
  for (int i = 0; i < 32; i++)
    y[i] = emulated_bf16(x[i]);
  memcpy(&r, y, sizeof y);
  return r;
}

/* Sums of four products of an unsigned and a signed byte each. */
static inline __m256i _mm256_dpbusd_avx_epi32(__m256i sums, __m256i a, __m256i b) {
  int32_t z[8];
  uint8_t x[32];
  int8_t y[32];
  memcpy(z, &sums, sizeof z);
  memcpy(x, &a, sizeof x);
  memcpy(y, &b, sizeof y);
  for (int i = 0; i < 32; i++)
    z[i / 4] += x[i] * y[i];
  return simde_mm256_loadu_si256((const void *)z);
}

/* The low bits of `bits` at the places that `mask` names. */
static inline unsigned _pdep_u32(unsigned bits, unsigned mask) {
  unsigned r = 0;
  for (int i = 0, k = 0; i < 32; i++)
    if (mask >> i & 1) r |= (bits >> k++ & 1) << i;
  return r;
}
#endif
