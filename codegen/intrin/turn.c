/* Rows that become columns: for panels whose neighbours run along k. */
#include "codegen/intrin/micro.h"

/* Squares of a cache line's 16 words: whole ones in registers of 512 bits; in them squares of 4 in registers of 128. */
static const char blocks[] =
  "#include <string.h>\n"
  "#if defined(__SSE2__)\n"
  "#include <immintrin.h>\n"
  "#define TURN_BLOCK 1\n"
  "static inline void turn_block(const char *from, int64_t from_row, char *to, int64_t to_row) {\n"
  "  __m128 a = _mm_castsi128_ps(_mm_loadu_si128((const void *)from));\n"
  "  __m128 b = _mm_castsi128_ps(_mm_loadu_si128((const void *)(from + from_row)));\n"
  "  __m128 c = _mm_castsi128_ps(_mm_loadu_si128((const void *)(from + 2 * from_row)));\n"
  "  __m128 d = _mm_castsi128_ps(_mm_loadu_si128((const void *)(from + 3 * from_row)));\n"
  "  _MM_TRANSPOSE4_PS(a, b, c, d);\n"
  "  _mm_storeu_si128((void *)to, _mm_castps_si128(a));\n"
  "  _mm_storeu_si128((void *)(to + to_row), _mm_castps_si128(b));\n"
  "  _mm_storeu_si128((void *)(to + 2 * to_row), _mm_castps_si128(c));\n"
  "  _mm_storeu_si128((void *)(to + 3 * to_row), _mm_castps_si128(d));\n"
  "}\n"
  "#else\n"
  "#define TURN_BLOCK 0\n"
  "static inline void turn_block(const char *from, int64_t from_row, char *to, int64_t to_row) {\n"
  "  (void)from, (void)from_row, (void)to, (void)to_row;\n"
  "}\n"
  "#endif\n";

static const char squares[] =
  "#if defined(__AVX512F__)\n"
  "#define TURN_SQUARE 1\n"
  "/* Rows i, i + 4, i + 8 and i + 12, four words of each. */\n"
  "static inline __m512 turn_lanes(const char *from, int64_t from_row) {\n"
  "  __m512 v = _mm512_castps128_ps512(_mm_loadu_ps((const float *)(const void *)from));\n"
  "  v = _mm512_mask_broadcast_f32x4(v, 0xf0, _mm_loadu_ps((const float *)(const void *)(from + 4 * from_row)));\n"
  "  v = _mm512_mask_broadcast_f32x4(v, 0xf00, _mm_loadu_ps((const float *)(const void *)(from + 8 * from_row)));\n"
  "  return _mm512_mask_broadcast_f32x4(v, 0xf000, _mm_loadu_ps((const float *)(const void *)(from + 12 * from_row)));\n"
  "}\n"
  "static inline void turn_square(const char *from, int64_t from_row, char *to, int64_t to_row) {\n"
  "  for (int64_t p = 0; p < 16; p += 4, from += 16, to += 4 * to_row) {\n"
  "    const __m512 a = turn_lanes(from, from_row), b = turn_lanes(from + from_row, from_row);\n"
  "    const __m512 c = turn_lanes(from + 2 * from_row, from_row), d = turn_lanes(from + 3 * from_row, from_row);\n"
  "    const __m512d ab = _mm512_castps_pd(_mm512_unpacklo_ps(a, b)), cd = _mm512_castps_pd(_mm512_unpacklo_ps(c, d));\n"
  "    const __m512d ef = _mm512_castps_pd(_mm512_unpackhi_ps(a, b)), gh = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));\n"
  "    _mm512_storeu_pd((void *)to, _mm512_unpacklo_pd(ab, cd));\n"
  "    _mm512_storeu_pd((void *)(to + to_row), _mm512_unpackhi_pd(ab, cd));\n"
  "    _mm512_storeu_pd((void *)(to + 2 * to_row), _mm512_unpacklo_pd(ef, gh));\n"
  "    _mm512_storeu_pd((void *)(to + 3 * to_row), _mm512_unpackhi_pd(ef, gh));\n"
  "  }\n"
  "}\n"
  "#else\n"
  "#define TURN_SQUARE 0\n"
  "static inline void turn_square(const char *from, int64_t from_row, char *to, int64_t to_row) {\n"
  "  (void)from, (void)from_row, (void)to, (void)to_row;\n"
  "}\n"
  "#endif\n";

static const char text[] =
  "/* Words of 32 bits, rows in bytes: word q of row p of `to` = word p of row q of `from`. */\n"
  "static inline void turn_words(const void *from, int64_t from_row, void *to, int64_t to_row, int64_t rows, int64_t words) {\n"
  "  enum { LINE_WORDS = 16 };\n"
  "  const char *f = (const char *)from;\n"
  "  char *t = (char *)to;\n"
  "  /* columns outside: what is written goes on in few rows, which may stand in few sets of a cache */\n"
  "  for (int64_t p0 = 0; p0 < words; p0 += LINE_WORDS)\n"
  "    for (int64_t q0 = 0; q0 < rows; q0 += LINE_WORDS) {\n"
  "      const int64_t q1 = least(q0 + LINE_WORDS, rows), p1 = least(p0 + LINE_WORDS, words);\n"
  "      /* the next rows: no stream tells the machine which */\n"
  "      for (int64_t q = q0 + LINE_WORDS; q < q0 + 2 * LINE_WORDS; q++) FETCH((uintptr_t)f + (uintptr_t)(q * from_row + 4 * p0), 0);\n"
  "      if (TURN_SQUARE && q1 - q0 == LINE_WORDS && p1 - p0 == LINE_WORDS) {\n"
  "        turn_square(f + q0 * from_row + 4 * p0, from_row, t + p0 * to_row + 4 * q0, to_row);\n"
  "        continue;\n"
  "      }\n"
  "      const int64_t whole = TURN_BLOCK ? q1 - (q1 - q0) % 4 : q0, even = p1 - (p1 - p0) % 4;\n"
  "      for (int64_t q = q0; q < whole; q += 4) {\n"
  "        for (int64_t p = p0; p < even; p += 4) turn_block(f + q * from_row + 4 * p, from_row, t + p * to_row + 4 * q, to_row);\n"
  "        for (int64_t p = even; p < p1; p++)\n"
  "          for (int64_t e = 0; e < 4; e++) memcpy(t + p * to_row + 4 * (q + e), f + (q + e) * from_row + 4 * p, 4);\n"
  "      }\n"
  "      for (int64_t q = whole; q < q1; q++)\n"
  "        for (int64_t p = p0; p < p1; p++) memcpy(t + p * to_row + 4 * q, f + q * from_row + 4 * p, 4);\n"
  "    }\n"
  "}\n";

void tf_micro_turn_text(FILE *out) {
  fputs(blocks, out);
  fputs(squares, out);
  fputs(text, out);
}
