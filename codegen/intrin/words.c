/* Registers as kernels of products see them: of 32-bit words, whatever these hold; and bfloat16
 * that leaves them. */
#include "codegen/intrin/words.h"

#include <string.h>

#include "codegen/intrin/micro.h"

/* A group of 32 bits as an integer; and a workaround for gcc 12, which otherwise moves integer sums
 * to the stack and back at every step.  CLASS: of registers, as constraints of asm call it. */
#define GROUP(CLASS)                                                                               \
  "#include <string.h>\n"                                                                          \
  "#if defined(IN_REGISTER) /* a test's */\n"                                                      \
  "#elif defined(__GNUC__) && !defined(__clang__)\n"                                               \
  "#define IN_REGISTER(v) __asm__(\"\" : \"+" CLASS "\"(v))\n"                                     \
  "#else\n#define IN_REGISTER(v) ((void)0)\n#endif\n"                                              \
  "static inline int32_t group(const void *p) {\n"                                                 \
  "  int32_t v;\n"                                                                                 \
  "  memcpy(&v, p, sizeof v);\n"                                                                   \
  "  return v;\n"                                                                                  \
  "}\n"

/* Registers of int32: V their type, P the prefix of the intrinsics, N the suffix for whole
 * registers. */
#define IVEC(V, P, N)                                                                              \
  "typedef " V " ivec;\n"                                                                          \
  "static inline ivec ivec_zero(void) { return " P "_setzero_" N "(); }\n"                         \
  "static inline ivec ivec_add(ivec a, ivec b) { return " P "_add_epi32(a, b); }\n"                \
  "static inline ivec ivec_load(const int32_t *p) { return " P "_loadu_" N                         \
  "((const void *)p); }\n"                                                                         \
  "static inline void ivec_store(int32_t *p, ivec v) { " P "_storeu_" N "((void *)p, v); }\n"      \
  "static inline vec ivec_as_vec(ivec v) { return " P "_cast" N "_ps(v); }\n"                      \
  "static inline ivec ivec_of_vec(vec v) { return " P "_castps_" N "(v); }\n"                      \
  "static inline void int8_round(float *p, ivec v) { vec_store(p, " P "_cvtepi32_ps(v)); }\n"      \
  "static inline void int8_round_part(float *p, ivec v, int n) { vec_store_part(p, " P             \
  "_cvtepi32_ps(v), n); }\n"

#define BY_LANE(LANES)                                                                             \
  "static inline ivec ivec_load_part(const int32_t *p, int n) {\n"                                 \
  "  int32_t lane[" LANES "] = {0};\n"                                                             \
  "  memcpy(lane, p, (size_t)n * sizeof *p);\n"                                                    \
  "  return ivec_load(lane);\n"                                                                    \
  "}\n"                                                                                            \
  "static inline void ivec_store_part(int32_t *p, ivec v, int n) {\n"                              \
  "  int32_t lane[" LANES "];\n"                                                                   \
  "  ivec_store(lane, v);\n"                                                                       \
  "  memcpy(p, lane, (size_t)n * sizeof *p);\n"                                                    \
  "}\n"

#define IVEC_SSE IVEC("__m128i", "_mm", "si128") BY_LANE("4")
#define IVEC_AVX2                                                                                  \
  IVEC("__m256i", "_mm256", "si256")                                                               \
  "static inline ivec ivec_load_part(const int32_t *p, int n) { return "                           \
  "_mm256_maskload_epi32(p, vec_first(n)); }\n"                                                    \
  "static inline void ivec_store_part(int32_t *p, ivec v, int n) { "                               \
  "_mm256_maskstore_epi32(p, vec_first(n), v); }\n"
#define IVEC_AVX512                                                                                \
  IVEC("__m512i", "_mm512", "si512")                                                               \
  "static inline ivec ivec_load_part(const int32_t *p, int n) { return "                           \
  "_mm512_maskz_loadu_epi32(vec_first(n), p); }\n"                                                 \
  "static inline void ivec_store_part(int32_t *p, ivec v, int n) { "                               \
  "_mm512_mask_storeu_epi32(p, vec_first(n), v); }\n"

#define X86(TYPE, P, N, INTS)                                                                      \
  .group = GROUP("v"), .type = TYPE, .splat = P "_set1_epi32(group(p))",                           \
  .load = P "_loadu_" N "((const void *)p)",                                                       \
  .lifted = P "_xor_" N "(" P "_set1_epi32(group(p)), " P "_set1_epi8((char)0x80))",               \
  .ints = (INTS)

static const char round_avx512[] =
    "static inline __m256i bf16_of(vec v) { return (__m256i)_mm512_cvtneps_pbh(v); }\n"
    "static inline void bf16_round(uint16_t *p, vec v) { _mm256_storeu_si256((void *)p, "
    "bf16_of(v)); }\n"
    "static inline void bf16_round_part(uint16_t *p, vec v, int n) { _mm256_mask_storeu_epi16(p, "
    "vec_first(n), bf16_of(v)); }\n"
    "static inline void bf16_round_row(uint16_t *to, const float *from, int64_t n) {\n"
    "  int64_t i = 0;\n"
    "  for (; i + 16 <= n; i += 16) bf16_round(to + i, vec_load(from + i));\n"
    "  if (i < n) bf16_round_part(to + i, vec_load_part(from + i, (int)(n - i)), (int)(n - i));\n"
    "}\n";
/* Two rows as pairs of bfloat16: X and Y, k of them from the i-th on. */
#define PAIRS(FROM, T, X, Y)                                                                       \
  "static inline void bf16_pairs_of_" FROM "(uint16_t *to, const " T " *x, const " T               \
  " *y, int64_t n) {\n"                                                                            \
  "  for (int64_t i = 0; i < n; i += 16) {\n"                                                      \
  "    const int k = n - i < 16 ? (int)(n - i) : 16;\n"                                            \
  "    const __m256i one = " X ", other = y ? " Y " : _mm256_setzero_si256();\n"                   \
  "    _mm512_mask_storeu_epi32(to + 2 * i, vec_first(k),\n"                                       \
  "        _mm512_or_si512(_mm512_cvtepu16_epi32(one), "                                           \
  "_mm512_slli_epi32(_mm512_cvtepu16_epi32(other), 16)));\n"                                       \
  "  }\n"                                                                                          \
  "}\n"
/* Two rows as pairs: of the first four columns of each eight, and of the others; and sums of these,
 * n columns, added to c or stored there. */
#define PAIRS_IN_PLACE                                                                             \
  "static inline __m512i bf16_load_part(const uint16_t *p, int n) {\n"                             \
  "  return _mm512_maskz_loadu_epi16((__mmask32)((UINT64_C(1) << n) - 1), p);\n"                   \
  "}\n"                                                                                            \
  "static inline __m512i bf16_low(__m512i x, __m512i y) { return _mm512_unpacklo_epi16(x, y); }\n" \
  "static inline __m512i bf16_high(__m512i x, __m512i y) { return _mm512_unpackhi_epi16(x, y); "   \
  "}\n"                                                                                            \
  "static inline void bf16_leave_half(float *c, vec v, int n, int add) {\n"                        \
  "  v = _mm512_shuffle_f32x4(v, v, 0xd8);\n"                                                      \
  "  vec_store_part(c, add ? vec_add(vec_load_part(c, n), v) : v, n);\n"                           \
  "}\n"                                                                                            \
  "static inline void bf16_leave(float *c, vec low, vec high, int n, int add) {\n"                 \
  "  bf16_leave_half(c, _mm512_shuffle_f32x4(low, high, 0x44), n < LANES ? n : LANES, add);\n"     \
  "  if (n > LANES) bf16_leave_half(c + LANES, _mm512_shuffle_f32x4(low, high, 0xee), n - LANES, " \
  "add);\n"                                                                                        \
  "}\n"
static const char beside_avx512[] = PAIRS_IN_PLACE PAIRS(
    "f32", "float", "bf16_of(vec_load_part(x + i, k))", "bf16_of(vec_load_part(y + i, k))")
    PAIRS("bf16", "uint16_t", "_mm256_maskz_loadu_epi16(vec_first(k), x + i)",
          "_mm256_maskz_loadu_epi16(vec_first(k), y + i)");

/* Sixteen columns of four rows at a time, and 64. */
#define FOURS_LOADS                                                                                \
  "static inline __m512i int8_part(const int8_t *x, __mmask16 m) { return "                        \
  "_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(m, x)); }\n"                                          \
  "static inline __m512i lifted_int8(const int8_t *x, __m512i by) { return "                       \
  "_mm512_xor_si512(_mm512_loadu_si512((const "                                                    \
  "void *)x), by); }\n"
#define FOURS_BESIDE                                                                               \
  "  const __m512i by = _mm512_set1_epi8(lift);\n"                                                 \
  "  int64_t i = 0;\n"                                                                             \
  "  for (; i + 64 <= n; i += 64) {\n"                                                             \
  "    const __m512i a = lifted_int8(x0 + i, by), b = lifted_int8(x1 + i, by), c = "               \
  "lifted_int8(x2 + i, by), d = "                                                                  \
  "lifted_int8(x3 + i, by);\n"                                                                     \
  "    const __m512i low = _mm512_unpacklo_epi8(a, b), more = _mm512_unpacklo_epi8(c, d), high = " \
  "_mm512_unpackhi_epi8(a, b), most = _mm512_unpackhi_epi8(c, d);\n"                               \
  "    /* columns 4 q .. 4 q + 3 of each 16 */\n"                                                  \
  "    const __m512i q0 = _mm512_unpacklo_epi16(low, more), q1 = _mm512_unpackhi_epi16(low, "      \
  "more), q2 = "                                                                                   \
  "_mm512_unpacklo_epi16(high, most), q3 = _mm512_unpackhi_epi16(high, most);\n"                   \
  "    const __m512i r0 = _mm512_shuffle_i32x4(q0, q1, 0x44), r1 = _mm512_shuffle_i32x4(q2, q3, "  \
  "0x44), r2 = "                                                                                   \
  "_mm512_shuffle_i32x4(q0, q1, 0xee), r3 = _mm512_shuffle_i32x4(q2, q3, 0xee);\n"                 \
  "    _mm512_storeu_si512((void *)(to + 4 * i), _mm512_shuffle_i32x4(r0, r1, 0x88));\n"           \
  "    _mm512_storeu_si512((void *)(to + 4 * i + 64), _mm512_shuffle_i32x4(r0, r1, 0xdd));\n"      \
  "    _mm512_storeu_si512((void *)(to + 4 * i + 128), _mm512_shuffle_i32x4(r2, r3, 0x88));\n"     \
  "    _mm512_storeu_si512((void *)(to + 4 * i + 192), _mm512_shuffle_i32x4(r2, r3, 0xdd));\n"     \
  "  }\n"                                                                                          \
  "  for (; i < n; i += 16) {\n"                                                                   \
  "    const __mmask16 m = vec_first(n - i < 16 ? (int)(n - i) : 16);\n"                           \
  "    const __m512i low = _mm512_or_si512(int8_part(x0 + i, m), _mm512_slli_epi32(int8_part(x1 "  \
  "+ i, m), 8)),\n"                                                                                \
  "        high = _mm512_or_si512(int8_part(x2 + i, m), _mm512_slli_epi32(int8_part(x3 + i, m), "  \
  "8));\n"                                                                                         \
  "    _mm512_mask_storeu_epi32(to + 4 * i, m, _mm512_xor_si512(_mm512_or_si512(low, "             \
  "_mm512_slli_epi32(high, 16)), "                                                                 \
  "by));\n"                                                                                        \
  "  }\n"                                                                                          \
  "}\n"
static const char fours_avx512[] =
    FOURS_LOADS "static inline void int8_beside(int8_t *to, const int8_t *x0, const int8_t *x1, "
                "const int8_t *x2, const int8_t *x3, int64_t n, int8_t lift) {\n" FOURS_BESIDE;
static const char fours_of_bytes_avx512[] = FOURS_LOADS
    "static inline void fours_beside(void *into, const void *r0, const void *r1, const void *r2, "
    "const void *r3, int64_t n, int8_t lift) {\n"
    "  int8_t *const to = into;\n"
    "  const int8_t *const x0 = r0, *const x1 = r1, *const x2 = r2, *const x3 = r3;\n" FOURS_BESIDE;

/* For AMX.  bf16_leave: rows `first` ... `end` - 1 of the 32 x 32 buffer of sums are rounded and
 * stored in c; `columns` of each row, then zeros up to `writes`. */
static const char leave_avx512[] =
    "typedef struct {\n"
    "  const float *sums;\n"
    "  uint16_t *to;\n"
    "  int64_t step, rows, columns, writes;\n"
    "} bf16_left;\n"
    "static inline void bf16_leave(const bf16_left *l, int64_t first, int64_t end) {\n"
    "  const __mmask32 keeps = (__mmask32)((UINT64_C(1) << l->columns) - 1), writes = "
    "(__mmask32)((UINT64_C(1) << l->writes) - 1);\n"
    "  for (int64_t i = first; i < end && i < l->rows; i++) {\n"
    "    const float *row = l->sums + i * 32;\n"
    "    const __m512i v = (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(row + 16), "
    "_mm512_loadu_ps(row));\n"
    "    _mm512_mask_storeu_epi16(l->to + i * l->step, writes, _mm512_maskz_mov_epi16(keeps, v));\n"
    "  }\n"
    "}\n";

static const char ints_neon[] =
    "typedef int32x4_t ivec;\n"
    "static inline ivec ivec_zero(void) { return vdupq_n_s32(0); }\n"
    "static inline ivec ivec_add(ivec a, ivec b) { return vaddq_s32(a, b); }\n"
    "static inline ivec ivec_load(const int32_t *p) { return vld1q_s32(p); }\n"
    "static inline void ivec_store(int32_t *p, ivec v) { vst1q_s32(p, v); }\n"
    "static inline void int8_round(float *p, ivec v) { vec_store(p, vcvtq_f32_s32(v)); }\n"
    "static inline void int8_round_part(float *p, ivec v, int n) { vec_store_part(p, "
    "vcvtq_f32_s32(v), n); }\n" BY_LANE("4");

/* 2 x 2 sums in a register, row by row; of the last ones some may be outside of c, which are 0. */
static const char squares_neon[] =
    "static inline ivec ivec_load_square(const int32_t *p, int64_t step, int rows, int n) {\n"
    "  if (rows == 2 && n == 2) return vcombine_s32(vld1_s32(p), vld1_s32(p + step));\n"
    "  int32_t lane[4] = {0};\n"
    "  for (int i = 0; i < rows; i++) memcpy(lane + 2 * i, p + i * step, (size_t)n * sizeof *p);\n"
    "  return ivec_load(lane);\n"
    "}\n"
    "static inline void ivec_store_square(int32_t *p, int64_t step, ivec v, int rows, int n) {\n"
    "  int32_t lane[4];\n"
    "  ivec_store(lane, v);\n"
    "  for (int i = 0; i < rows; i++) memcpy(p + i * step, lane + 2 * i, (size_t)n * sizeof *p);\n"
    "}\n"
    "static inline void int8_round_square(float *p, int64_t step, ivec v, int rows, int n) {\n"
    "  float lane[4];\n"
    "  vec_store(lane, vcvtq_f32_s32(v));\n"
    "  for (int i = 0; i < rows; i++) memcpy(p + i * step, lane + 2 * i, (size_t)n * sizeof *p);\n"
    "}\n";

/* Sixteen elements of two rows at a time.  Their end has a name: else gcc at -O2 takes the loop for
 * the rest, where it is inlined and nothing is left, for one that does not end
 * (-Waggressive-loop-optimizations). */
static const char twos_avx2[] =
    "  const int64_t whole = lift ? 0 : n / 16 * 16;\n"
    "  int64_t i = 0;\n"
    "  for (; i < whole; i += 16) {\n"
    "    const __m256i a = _mm256_cvtep%1$s_epi16(_mm_loadu_si128((const void *)(x0 + i))),\n"
    "        b = _mm256_cvtep%1$s_epi16(_mm_loadu_si128((const void *)(x1 + i))), low = "
    "_mm256_unpacklo_epi16(a, b),\n"
    "        high = _mm256_unpackhi_epi16(a, b);\n"
    "    _mm256_storeu_si256((void *)(to + 2 * i), _mm256_permute2x128_si256(low, high, 0x20));\n"
    "    _mm256_storeu_si256((void *)(to + 2 * i + 16), _mm256_permute2x128_si256(low, high, "
    "0x31));\n"
    "  }\n";

/* Sixteen columns of four rows at a time. */
static const char fours_avx2[] =
    "static inline void fours_beside(void *to, const void *r0, const void *r1, const void *r2, "
    "const void *r3, int64_t n, int8_t lift) {\n"
    "  uint8_t *at = to;\n"
    "  const uint8_t *x0 = r0, *x1 = r1, *x2 = r2, *x3 = r3;\n"
    "  const __m128i by = _mm_set1_epi8(lift);\n"
    "  const int64_t whole = n / 16 * 16;\n"
    "  int64_t i = 0;\n"
    "  for (; i < whole; i += 16) {\n"
    "    const __m128i a = _mm_loadu_si128((const void *)(x0 + i)), b = _mm_loadu_si128((const "
    "void *)(x1 + i)),\n"
    "        c = _mm_loadu_si128((const void *)(x2 + i)), d = _mm_loadu_si128((const void *)(x3 + "
    "i));\n"
    "    const __m128i low = _mm_xor_si128(_mm_unpacklo_epi8(a, b), by), more = "
    "_mm_xor_si128(_mm_unpacklo_epi8(c, d), by),\n"
    "        high = _mm_xor_si128(_mm_unpackhi_epi8(a, b), by), most = "
    "_mm_xor_si128(_mm_unpackhi_epi8(c, d), by);\n"
    "    _mm_storeu_si128((void *)(at + 4 * i), _mm_unpacklo_epi16(low, more));\n"
    "    _mm_storeu_si128((void *)(at + 4 * i + 16), _mm_unpackhi_epi16(low, more));\n"
    "    _mm_storeu_si128((void *)(at + 4 * i + 32), _mm_unpacklo_epi16(high, most));\n"
    "    _mm_storeu_si128((void *)(at + 4 * i + 48), _mm_unpackhi_epi16(high, most));\n"
    "  }\n"
    "  for (; i < n; i++) {\n"
    "    at[4 * i] = (uint8_t)(x0[i] ^ (uint8_t)lift);\n"
    "    at[4 * i + 1] = (uint8_t)(x1[i] ^ (uint8_t)lift);\n"
    "    at[4 * i + 2] = (uint8_t)(x2[i] ^ (uint8_t)lift);\n"
    "    at[4 * i + 3] = (uint8_t)(x3[i] ^ (uint8_t)lift);\n"
    "  }\n"
    "}\n";

const tf_micro_words tf_words_sse = {X86("__m128i", "_mm", "si128", IVEC_SSE)};
const tf_micro_words tf_words_avx2 = {X86("__m256i", "_mm256", "si256", IVEC_AVX2),
                                      .twos = twos_avx2, .fours_of_bytes = fours_avx2};
const tf_micro_words tf_words_avx512 = {X86("__m512i", "_mm512", "si512", IVEC_AVX512),
                                        .twos = twos_avx2, .fours = fours_avx512,
                                        .fours_of_bytes = fours_of_bytes_avx512};
const tf_micro_words tf_words_bf16 = {X86("__m512i", "_mm512", "si512", IVEC_AVX512),
                                      .round = round_avx512,
                                      .twos = twos_avx2,
                                      .fours = fours_avx512,
                                      .fours_of_bytes = fours_of_bytes_avx512,
                                      .interleave = beside_avx512,
                                      .leave = leave_avx512};
const tf_micro_words tf_words_neon = {
    .group = GROUP("w"),
    .type = "int32x4_t",
    .splat = "vdupq_n_s32(group(p))",
    .lifted = "vreinterpretq_s32_u8(veorq_u8(vreinterpretq_u8_s32(vdupq_n_s32(group(p))), "
              "vdupq_n_u8(128)))",
    .load = "vreinterpretq_s32_s8(vld1q_s8((const void *)p))",
    .ints = ints_neon,
    .pair = "vreinterpretq_s32_s8(vcombine_s8(vld1_s8((const void *)p), vld1_s8((const void *)q)))",
    .square = squares_neon,
};

const char *tf_micro_type(ir_type t) {
  static const char *const name[] = {
      [IR_F32] = "float",   [IR_BF16] = "uint16_t", [IR_F16] = "uint16_t",
      [IR_F8] = "uint8_t",  [IR_I8] = "int8_t",     [IR_U8] = "uint8_t",
      [IR_I16] = "int16_t", [IR_I32] = "int32_t",   [IR_I64] = "int64_t"};
  return name[t];
}

const tf_micro_kernel *tf_micro_kernel_of(const ir_kernel *kernel) { return (const void *)kernel; }

void tf_micro_call(FILE *out, const tf_micro_kernel *k, const char *const with[3]) {
  for (const char *p = k->call; *p;) {
    const size_t n = strspn(p, "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    const char *put = NULL;
    for (int m = 0; m < 3 && n; m++)
      if (strlen(k->operand[m]) == n && !strncmp(p, k->operand[m], n)) put = with[m];
    if (put)
      fputs(put, out);
    else
      fprintf(out, "%.*s", n ? (int)n : 1, p);
    p += n ? n : 1;
  }
}
