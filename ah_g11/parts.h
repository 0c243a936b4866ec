/* What kernel.c is made of: vectors of avx512, functions of one number, and the least and the most of two. */
#ifndef TILEFLOW_kernel_PARTS_H
#define TILEFLOW_kernel_PARTS_H
#include <math.h>
#include <stdint.h>
static inline int32_t fast_bits(float x) {
  union { float f; int32_t i; } u = {x};
  return u.i;
}
static inline float fast_float(int32_t i) {
  union { int32_t i; float f; } u = {i};
  return u.f;
}
static inline float fast_exp(float v) {
  /* between -104 and 89, as integers: compilers make branches of the same on floats */
  uint32_t u = (uint32_t)fast_bits(v), low = u < 0xc2d00000U ? u : 0xc2d00000U;
  float x = fast_float((int32_t)low < 0x42b20000 ? (int32_t)low : 0x42b20000);
  float shifted = x * 1.44269504f + 12582912.0f; /* its low bits: n */
  float n = shifted - 12582912.0f;
  float r = x - n * 0.693145752f - n * 1.42860677e-6f;
  float q = 0.49999994f + r * (0.166665196f + r * (0.0416683927f + r * (0.00836878084f + r * 0.00138144672f)));
  int32_t whole = fast_bits(shifted) - fast_bits(12582912.0f), half = whole >> 1;
  float scale = fast_float((half + 127) * (1 << 23)), rest = fast_float((whole - half + 127) * (1 << 23));
  float all = (1.0f + (r + r * r * q)) * scale * rest;
  return v != v ? v : all;
}

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t pick(int64_t a, int64_t b, int64_t yes, int64_t no) { return a < b ? yes : no; }
/* Where element x of a row stands that holds its phases one after the other. */
static inline int64_t phase(int64_t x, int64_t stride, int64_t words) { return x % stride * words + x / stride; }
/* Whether the n bounds are those that were kept; they are afterwards. */
static inline int same_box(int64_t *kept, const int64_t *now, int n) {
  int same = 1;
  for (int i = 0; i < n; i++) {
    same &= kept[i] == now[i];
    kept[i] = now[i];
  }
  return same;
}
static inline float greater(float a, float b) { return a > b ? a : b; }
static inline float smaller(float a, float b) { return a < b ? a : b; }
static inline float chosen(float c, float yes, float no) { return c != 0.0f ? yes : no; }

#if defined(_OPENMP)
#include <omp.h>
static inline int64_t thread_number(void) { return omp_get_thread_num(); }
static inline int64_t most_threads(void) { return omp_get_max_threads(); }
#else
static inline int64_t thread_number(void) { return 0; }
static inline int64_t most_threads(void) { return 1; }
#endif

#if !(defined(__AVX512F__) && defined(__AVX512VL__))
#error "compile with -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast"
#endif
/* Tiles stay functions of their own: inlined where all strides are known, their sums get spilled. */
#if defined(__GNUC__)
#define APART __attribute__((noinline))
#define FETCH(p, writes) __builtin_prefetch((const void *)(p), writes)
#else
#define APART
#define FETCH(p, writes) ((void)(p))
#endif
#include <immintrin.h>
enum { LANES = 16 };
typedef __m512 vec;
static inline vec vec_zero(void) { return _mm512_setzero_ps(); }
static inline vec vec_splat(float x) { return _mm512_set1_ps(x); }
static inline vec vec_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void vec_store(float *p, vec v) { _mm512_storeu_ps(p, v); }
static inline vec vec_add(vec a, vec b) { return _mm512_add_ps(a, b); }
static inline vec vec_fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }
static inline vec vec_max(vec a, vec b) { return _mm512_max_ps(a, b); }
static inline vec vec_min(vec a, vec b) { return _mm512_min_ps(a, b); }
static inline vec vec_sub(vec a, vec b) { return _mm512_sub_ps(a, b); }
static inline vec vec_mul(vec a, vec b) { return _mm512_mul_ps(a, b); }
static inline vec vec_div(vec a, vec b) { return _mm512_div_ps(a, b); }
static inline vec vec_whole(const int32_t *p) { return _mm512_cvtepi32_ps(_mm512_loadu_si512((const void *)p)); }
static inline vec vec_scale(vec p, vec n) { return _mm512_scalef_ps(p, n); }
/* One of 16, by the low four bits of each lane. */
static inline vec vec_pick(const float *of, vec bits) { return _mm512_permutexvar_ps(_mm512_castps_si512(bits), vec_load(of)); }
static inline float vec_sum(vec v) { return _mm512_reduce_add_ps(v); }
static inline float vec_most(vec v) { return _mm512_reduce_max_ps(v); }
static inline float vec_least(vec v) { return _mm512_reduce_min_ps(v); }
static inline __mmask16 vec_first(int n) { return (__mmask16)((1U << n) - 1U); }
static inline vec vec_load_part(const float *p, int n) { return _mm512_maskz_loadu_ps(vec_first(n), p); }
static inline void vec_store_part(float *p, vec v, int n) { _mm512_mask_storeu_ps(p, vec_first(n), v); }
enum { ADDS = 1, FAR_A = 2, FAR_C = 4 };
/* Rows asked for ahead: they come from afar, and no stream tells the machine where a row ends. */
static inline void fetch_rows(uintptr_t from, int64_t step, int64_t rows, int64_t bytes) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < bytes; j += 64) FETCH(from + (uintptr_t)(i * step + j), 0);
}
static const float eighths[] = {
    1.0f, 1.09050775f, 1.18920708f, 1.29683959f, 1.41421354f, 1.54221082f, 1.68179286f, 1.83400810f,
    1.0f, 1.09050775f, 1.18920708f, 1.29683959f, 1.41421354f, 1.54221082f, 1.68179286f, 1.83400810f};
/* e^v where v is 0 or less, or not a number */
static inline vec vec_exp_low(vec v) {
  const vec x = vec_max(vec_splat(-104.0f), v); /* not a number stays so */
  const vec shifted = vec_fma(x, vec_splat(1.44269504f), vec_splat(1572864.0f)); /* its low bits: eighths */
  const vec n = vec_sub(shifted, vec_splat(1572864.0f)), p = vec_pick(eighths, shifted);
  const vec r = vec_fma(n, vec_splat(-1.42860677e-6f), vec_fma(n, vec_splat(-0.693145752f), x));
  vec q = vec_fma(r, vec_splat(0.166588545f), vec_splat(0.50006634f));
  q = vec_fma(r, q, vec_splat(1.00000012f));
  return vec_scale(vec_fma(vec_mul(p, r), q, p), n);
}
static inline vec vec_exp(vec v) { return vec_exp_low(vec_min(vec_splat(89.0f), v)); }
static inline float row_sum(const float *x, int64_t n) {
  vec a = vec_splat(0.0f), b = a, c = a, d = a;
  int64_t i = 0;
  for (; n - i >= 4 * LANES; i += 4 * LANES) {
    a = vec_add(a, vec_load(x + i));
    b = vec_add(b, vec_load(x + i + LANES));
    c = vec_add(c, vec_load(x + i + 2 * LANES));
    d = vec_add(d, vec_load(x + i + 3 * LANES));
  }
  for (; n - i >= LANES; i += LANES) a = vec_add(a, vec_load(x + i));
  float all = vec_sum(vec_add(vec_add(a, b), vec_add(c, d)));
  for (; i < n; i++) all = all + x[i];
  return all;
}
static inline float row_max(const float *x, int64_t n) {
  vec a = vec_splat(-INFINITY), b = a, c = a, d = a;
  int64_t i = 0;
  for (; n - i >= 4 * LANES; i += 4 * LANES) {
    a = vec_max(a, vec_load(x + i));
    b = vec_max(b, vec_load(x + i + LANES));
    c = vec_max(c, vec_load(x + i + 2 * LANES));
    d = vec_max(d, vec_load(x + i + 3 * LANES));
  }
  for (; n - i >= LANES; i += LANES) a = vec_max(a, vec_load(x + i));
  float all = vec_most(vec_max(vec_max(a, b), vec_max(c, d)));
  for (; i < n; i++) all = greater(all, x[i]);
  return all;
}
static inline float row_min(const float *x, int64_t n) {
  vec a = vec_splat(INFINITY), b = a, c = a, d = a;
  int64_t i = 0;
  for (; n - i >= 4 * LANES; i += 4 * LANES) {
    a = vec_min(a, vec_load(x + i));
    b = vec_min(b, vec_load(x + i + LANES));
    c = vec_min(c, vec_load(x + i + 2 * LANES));
    d = vec_min(d, vec_load(x + i + 3 * LANES));
  }
  for (; n - i >= LANES; i += LANES) a = vec_min(a, vec_load(x + i));
  float all = vec_least(vec_min(vec_min(a, b), vec_min(c, d)));
  for (; i < n; i++) all = smaller(all, x[i]);
  return all;
}
static inline vec vec_keep(vec v, vec other, int n) {
  float lane[LANES];
  vec_store(lane, other);
  vec_store_part(lane, v, n);
  return vec_load(lane);
}
#include <string.h>
static inline vec vec_whole_part(const int32_t *p, int n) {
  int32_t lane[LANES] = {0};
  memcpy(lane, p, (size_t)n * sizeof *p);
  return vec_whole(lane);
}
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#define TURN_BLOCK 1
static inline void turn_block(const char *from, int64_t from_row, char *to, int64_t to_row) {
  __m128 a = _mm_castsi128_ps(_mm_loadu_si128((const void *)from));
  __m128 b = _mm_castsi128_ps(_mm_loadu_si128((const void *)(from + from_row)));
  __m128 c = _mm_castsi128_ps(_mm_loadu_si128((const void *)(from + 2 * from_row)));
  __m128 d = _mm_castsi128_ps(_mm_loadu_si128((const void *)(from + 3 * from_row)));
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_si128((void *)to, _mm_castps_si128(a));
  _mm_storeu_si128((void *)(to + to_row), _mm_castps_si128(b));
  _mm_storeu_si128((void *)(to + 2 * to_row), _mm_castps_si128(c));
  _mm_storeu_si128((void *)(to + 3 * to_row), _mm_castps_si128(d));
}
#else
#define TURN_BLOCK 0
static inline void turn_block(const char *from, int64_t from_row, char *to, int64_t to_row) {
  (void)from, (void)from_row, (void)to, (void)to_row;
}
#endif
#if defined(__AVX512F__)
#define TURN_SQUARE 1
/* Rows i, i + 4, i + 8 and i + 12, four words of each. */
static inline __m512 turn_lanes(const char *from, int64_t from_row) {
  __m512 v = _mm512_castps128_ps512(_mm_loadu_ps((const float *)(const void *)from));
  v = _mm512_mask_broadcast_f32x4(v, 0xf0, _mm_loadu_ps((const float *)(const void *)(from + 4 * from_row)));
  v = _mm512_mask_broadcast_f32x4(v, 0xf00, _mm_loadu_ps((const float *)(const void *)(from + 8 * from_row)));
  return _mm512_mask_broadcast_f32x4(v, 0xf000, _mm_loadu_ps((const float *)(const void *)(from + 12 * from_row)));
}
static inline void turn_square(const char *from, int64_t from_row, char *to, int64_t to_row) {
  for (int64_t p = 0; p < 16; p += 4, from += 16, to += 4 * to_row) {
    const __m512 a = turn_lanes(from, from_row), b = turn_lanes(from + from_row, from_row);
    const __m512 c = turn_lanes(from + 2 * from_row, from_row), d = turn_lanes(from + 3 * from_row, from_row);
    const __m512d ab = _mm512_castps_pd(_mm512_unpacklo_ps(a, b)), cd = _mm512_castps_pd(_mm512_unpacklo_ps(c, d));
    const __m512d ef = _mm512_castps_pd(_mm512_unpackhi_ps(a, b)), gh = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));
    _mm512_storeu_pd((void *)to, _mm512_unpacklo_pd(ab, cd));
    _mm512_storeu_pd((void *)(to + to_row), _mm512_unpackhi_pd(ab, cd));
    _mm512_storeu_pd((void *)(to + 2 * to_row), _mm512_unpacklo_pd(ef, gh));
    _mm512_storeu_pd((void *)(to + 3 * to_row), _mm512_unpackhi_pd(ef, gh));
  }
}
#else
#define TURN_SQUARE 0
static inline void turn_square(const char *from, int64_t from_row, char *to, int64_t to_row) {
  (void)from, (void)from_row, (void)to, (void)to_row;
}
#endif
/* Words of 32 bits, rows in bytes: word q of row p of `to` = word p of row q of `from`. */
static inline void turn_words(const void *from, int64_t from_row, void *to, int64_t to_row, int64_t rows, int64_t words) {
  enum { LINE_WORDS = 16 };
  const char *f = (const char *)from;
  char *t = (char *)to;
  for (int64_t q0 = 0; q0 < rows; q0 += LINE_WORDS)
    for (int64_t p0 = 0; p0 < words; p0 += LINE_WORDS) {
      const int64_t q1 = least(q0 + LINE_WORDS, rows), p1 = least(p0 + LINE_WORDS, words);
      /* the next rows: no stream tells the machine which */
      for (int64_t q = q0 + LINE_WORDS; q < q0 + 2 * LINE_WORDS; q++) FETCH((uintptr_t)f + (uintptr_t)(q * from_row + 4 * p0), 0);
      if (TURN_SQUARE && q1 - q0 == LINE_WORDS && p1 - p0 == LINE_WORDS) {
        turn_square(f + q0 * from_row + 4 * p0, from_row, t + p0 * to_row + 4 * q0, to_row);
        continue;
      }
      const int64_t whole = TURN_BLOCK ? q1 - (q1 - q0) % 4 : q0, even = p1 - (p1 - p0) % 4;
      for (int64_t q = q0; q < whole; q += 4) {
        for (int64_t p = p0; p < even; p += 4) turn_block(f + q * from_row + 4 * p, from_row, t + p * to_row + 4 * q, to_row);
        for (int64_t p = even; p < p1; p++)
          for (int64_t e = 0; e < 4; e++) memcpy(t + p * to_row + 4 * (q + e), f + (q + e) * from_row + 4 * p, 4);
      }
      for (int64_t q = whole; q < q1; q++)
        for (int64_t p = p0; p < p1; p++) memcpy(t + p * to_row + 4 * q, f + q * from_row + 4 * p, 4);
    }
}
#endif
