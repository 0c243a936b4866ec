/* Instruction sets: their vectors, and the operations that tiles and rows are made of. */
#include <string.h>

#include "codegen/intrin/words.h"

/* Partial loads and stores (the first n lanes) for machines without masks. */
#define BY_LANE                                                                                    \
  "static inline vec vec_load_part(const float *p, int n) {\n"                                     \
  "  float lane[LANES] = {0};\n"                                                                   \
  "  memcpy(lane, p, (size_t)n * sizeof *p);\n"                                                    \
  "  return vec_load(lane);\n"                                                                     \
  "}\n"                                                                                            \
  "static inline void vec_store_part(float *p, vec v, int n) {\n"                                  \
  "  float lane[LANES];\n"                                                                         \
  "  vec_store(lane, v);\n"                                                                        \
  "  memcpy(p, lane, (size_t)n * sizeof *p);\n"                                                    \
  "}\n"

/* Differences, products, quotients.  vec_whole: from int32.  vec_scale_low: p 2^n for an integer n
 * in -126 .. 0, with n + 127 in the low bits of `bits`, and 0 where v < `least`.  vec_scale: the
 * same in two factors, so that what is too large becomes infinite. */
#define ARITHMETIC(P)                                                                              \
  "static inline vec vec_sub(vec a, vec b) { return " P "_sub_ps(a, b); }\n"                       \
  "static inline vec vec_mul(vec a, vec b) { return " P "_mul_ps(a, b); }\n"                       \
  "static inline vec vec_div(vec a, vec b) { return " P "_div_ps(a, b); }\n"
#define WHOLE(P, N)                                                                                \
  "static inline vec vec_whole(const int32_t *p) { return " P "_cvtepi32_ps(" P "_loadu_" N        \
  "((const void *)p)); }\n"
#define SCALE(P, I, N)                                                                             \
  "static inline vec vec_power(" I " n) {\n"                                                       \
  "  return " P "_cast" N "_ps(" P "_slli_epi32(" P "_add_epi32(n, " P                             \
  "_set1_epi32(127)), 23));\n"                                                                     \
  "}\n"                                                                                            \
  "static inline vec vec_scale(vec p, vec n, vec v, vec least) {\n"                                \
  "  const " I " all = " P "_cvtps_epi32(n), half = " P "_srai_epi32(all, 1);\n"                   \
  "  return vec_kept(vec_mul(vec_mul(p, vec_power(half)), vec_power(" P                            \
  "_sub_epi32(all, half))), v, least);\n"                                                          \
  "}\n"                                                                                            \
  "static inline vec vec_scale_low(vec p, vec bits, vec v, vec least) {\n"                         \
  "  return vec_kept(vec_mul(p, " P "_cast" N "_ps(" P "_slli_epi32(" P "_castps_" N               \
  "(bits), 23))), v, least);\n"                                                                    \
  "}\n"

/* Maximum and minimum: where the first operand is NaN, the second, a number, is the result; the
 * full versions follow fmax and fmin for any operands; limits keep a NaN.  Intel's instructions
 * return the second operand where one is NaN. */
#define LIMITS(P)                                                                                  \
  "static inline vec vec_max(vec a, vec b) { return " P "_max_ps(a, b); }\n"                       \
  "static inline vec vec_min(vec a, vec b) { return " P "_min_ps(a, b); }\n"                       \
  "static inline vec vec_floor(vec a, vec least) { return " P "_max_ps(least, a); }\n"             \
  "static inline vec vec_ceiling(vec a, vec most) { return " P "_min_ps(most, a); }\n"             \
  "static inline vec vec_max_of(vec a, vec b) { return number_or(b, vec_max(a, b), a); }\n"        \
  "static inline vec vec_min_of(vec a, vec b) { return number_or(b, vec_min(a, b), a); }\n"

/* Reduces the lanes of 128 bits to one, by halves. */
#define HALVES(NAME, OP)                                                                           \
  "static inline float lanes_" NAME "(__m128 v) {\n"                                               \
  "  v = _mm_" OP "_ps(v, _mm_movehl_ps(v, v));\n"                                                 \
  "  return _mm_cvtss_f32(_mm_" OP "_ss(v, _mm_shuffle_ps(v, v, 1)));\n"                           \
  "}\n"
#define ALL_HALVES HALVES("sum", "add") HALVES("most", "max") HALVES("least", "min")

static const char portable[] =
    "typedef float vec;\n"
    "static inline vec vec_zero(void) { return 0; }\n"
    "static inline vec vec_splat(float x) { return x; }\n"
    "static inline vec vec_load(const float *p) { return *p; }\n"
    "static inline void vec_store(float *p, vec v) { *p = v; }\n"
    "static inline vec vec_add(vec a, vec b) { return a + b; }\n"
    "static inline vec vec_fma(vec a, vec b, vec c) { return a * b + c; }\n"
    "static inline vec vec_max(vec a, vec b) { return a > b ? a : b; }\n"
    "static inline vec vec_min(vec a, vec b) { return a < b ? a : b; }\n"
    "static inline float vec_sum(vec v) { return v; }\n"
    "static inline float vec_most(vec v) { return v; }\n"
    "static inline float vec_least(vec v) { return v; }\n"
    "static inline vec vec_load_part(const float *p, int n) { return n ? *p : 0; }\n"
    "static inline void vec_store_part(float *p, vec v, int n) {\n"
    "  if (n) *p = v;\n"
    "}\n";

static const char sse2[] =
    "typedef __m128 vec;\n"
    "static inline vec vec_zero(void) { return _mm_setzero_ps(); }\n"
    "static inline vec vec_splat(float x) { return _mm_set1_ps(x); }\n"
    "static inline vec vec_load(const float *p) { return _mm_loadu_ps(p); }\n"
    "static inline void vec_store(float *p, vec v) { _mm_storeu_ps(p, v); }\n"
    "static inline vec vec_add(vec a, vec b) { return _mm_add_ps(a, b); }\n"
    "static inline vec vec_fma(vec a, vec b, vec c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }\n"
    "static inline vec number_or(vec of, vec yes, vec no) { /* where `of` is a number: yes */\n"
    "  const vec not = _mm_cmpunord_ps(of, of);\n"
    "  return _mm_or_ps(_mm_and_ps(not, no), _mm_andnot_ps(not, yes));\n"
    "}\n" LIMITS("_mm") ARITHMETIC("_mm")
        WHOLE("_mm", "si128") "static inline vec vec_kept(vec e, vec v, vec least) { return "
                              "_mm_and_ps(e, _mm_cmpnlt_ps(v, least)); }\n" SCALE(
                                  "_mm", "__m128i", "si128") BY_LANE ALL_HALVES
    "static inline float vec_sum(vec v) { return lanes_sum(v); }\n"
    "static inline float vec_most(vec v) { return lanes_most(v); }\n"
    "static inline float vec_least(vec v) { return lanes_least(v); }\n";

static const char avx2[] =
    "typedef __m256 vec;\n"
    "static inline vec vec_zero(void) { return _mm256_setzero_ps(); }\n"
    "static inline vec vec_splat(float x) { return _mm256_set1_ps(x); }\n"
    "static inline vec vec_load(const float *p) { return _mm256_loadu_ps(p); }\n"
    "static inline void vec_store(float *p, vec v) { _mm256_storeu_ps(p, v); }\n"
    "static inline vec vec_add(vec a, vec b) { return _mm256_add_ps(a, b); }\n"
    "static inline vec vec_fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); }\n"
    "static inline vec number_or(vec of, vec yes, vec no) { return _mm256_blendv_ps(yes, no, "
    "_mm256_cmp_ps(of, of, _CMP_UNORD_Q)); }\n" LIMITS("_mm256") ARITHMETIC("_mm256") WHOLE(
        "_mm256",
        "si256") "static inline vec vec_kept(vec e, vec v, vec least) { return _mm256_and_ps(e, "
                 "_mm256_cmp_ps(v, least, _CMP_NLT_UQ)); }\n" SCALE("_mm256", "__m256i", "si256")
                     ALL_HALVES
    "static inline float vec_sum(vec v) { return lanes_sum(_mm_add_ps(_mm256_castps256_ps128(v), "
    "_mm256_extractf128_ps(v, 1))); }\n"
    "static inline float vec_most(vec v) { return lanes_most(_mm_max_ps(_mm256_castps256_ps128(v), "
    "_mm256_extractf128_ps(v, 1))); }\n"
    "static inline float vec_least(vec v) { return "
    "lanes_least(_mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1))); }\n"
    "static inline __m256i vec_first(int n) {\n"
    "  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, "
    "7));\n"
    "}\n"
    "static inline vec vec_load_part(const float *p, int n) { return _mm256_maskload_ps(p, "
    "vec_first(n)); }\n"
    "static inline void vec_store_part(float *p, vec v, int n) { _mm256_maskstore_ps(p, "
    "vec_first(n), v); }\n";

static const char avx512[] =
    "typedef __m512 vec;\n"
    "static inline vec vec_zero(void) { return _mm512_setzero_ps(); }\n"
    "static inline vec vec_splat(float x) { return _mm512_set1_ps(x); }\n"
    "static inline vec vec_load(const float *p) { return _mm512_loadu_ps(p); }\n"
    "static inline void vec_store(float *p, vec v) { _mm512_storeu_ps(p, v); }\n"
    "static inline vec vec_add(vec a, vec b) { return _mm512_add_ps(a, b); }\n"
    "static inline vec vec_fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }\n"
    "/* In c's own register.  Left to choose, gcc 12 has sums change registers from step to step, "
    "and makes up for that by\n"
    " * storing and loading a third of them in each round of the loops over a window. */\n"
    "#if defined(__GNUC__)\n"
    "#define FMA_TO(c, x, b) __asm__(\"vfmadd231ps {%2, %1, %0|%0, %1, %2}\" : \"+v\"(c) : "
    "\"v\"(x), \"v\"(b))\n"
    "/* Sums of a loop, by another name behind it: else gcc 12 keeps those in memory within the "
    "loop that have to be there behind it. */\n"
    "#define LEAVE(d, c) vec d = (c); __asm__(\"\" : \"+v\"(d))\n"
    "#endif\n"
    "static inline vec number_or(vec of, vec yes, vec no) { return _mm512_mask_mov_ps(no, "
    "_mm512_cmp_ps_mask(of, of, _CMP_ORD_Q), yes); }\n" LIMITS("_mm512") ARITHMETIC("_mm512") WHOLE(
        "_mm512",
        "si512") "static inline vec vec_scale(vec p, vec n, vec v, vec least) { return "
                 "_mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(v, least, _CMP_NLT_UQ), p, n); }\n"
                 "/* One of 16, by the low four bits of each lane. */\n"
                 "static inline vec vec_pick(const float *of, vec bits) { return "
                 "_mm512_permutexvar_ps(_mm512_castps_si512(bits), vec_load(of)); }\n"
                 "static inline float vec_sum(vec v) { return _mm512_reduce_add_ps(v); }\n"
                 "static inline float vec_most(vec v) { return _mm512_reduce_max_ps(v); }\n"
                 "static inline float vec_least(vec v) { return _mm512_reduce_min_ps(v); }\n"
                 "static inline __mmask16 vec_first(int n) { return (__mmask16)((1U << n) - 1U); "
                 "}\n"
                 "static inline vec vec_load_part(const float *p, int n) { return "
                 "_mm512_maskz_loadu_ps(vec_first(n), p); }\n"
                 "static inline void vec_store_part(float *p, vec v, int n) { "
                 "_mm512_mask_storeu_ps(p, vec_first(n), v); }\n";

static const char neon[] =
    "typedef float32x4_t vec;\n"
    "static inline vec vec_zero(void) { return vdupq_n_f32(0); }\n"
    "static inline vec vec_splat(float x) { return vdupq_n_f32(x); }\n"
    "static inline vec vec_load(const float *p) { return vld1q_f32(p); }\n"
    "static inline void vec_store(float *p, vec v) { vst1q_f32(p, v); }\n"
    "static inline vec vec_add(vec a, vec b) { return vaddq_f32(a, b); }\n"
    "static inline vec vec_fma(vec a, vec b, vec c) { return vfmaq_f32(c, a, b); }\n"
    "static inline vec vec_max(vec a, vec b) { return vmaxnmq_f32(a, b); }\n"
    "static inline vec vec_min(vec a, vec b) { return vminnmq_f32(a, b); }\n"
    "static inline vec vec_floor(vec a, vec least) { return vmaxq_f32(a, least); }\n"
    "static inline vec vec_ceiling(vec a, vec most) { return vminq_f32(a, most); }\n"
    "static inline vec vec_max_of(vec a, vec b) { return vmaxnmq_f32(a, b); }\n"
    "static inline vec vec_min_of(vec a, vec b) { return vminnmq_f32(a, b); }\n"
    "static inline vec vec_sub(vec a, vec b) { return vsubq_f32(a, b); }\n"
    "static inline vec vec_mul(vec a, vec b) { return vmulq_f32(a, b); }\n"
    "static inline vec vec_div(vec a, vec b) { return vdivq_f32(a, b); }\n"
    "static inline vec vec_whole(const int32_t *p) { return vcvtq_f32_s32(vld1q_s32(p)); }\n"
    "static inline vec vec_power(int32x4_t n) { return "
    "vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23)); }\n"
    "static inline vec vec_kept(vec e, vec v, vec least) { return "
    "vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(e), vcltq_f32(v, least))); }\n"
    "static inline vec vec_scale(vec p, vec n, vec v, vec least) {\n"
    "  const int32x4_t all = vcvtq_s32_f32(n), half = vshrq_n_s32(all, 1);\n"
    "  return vec_kept(vec_mul(vec_mul(p, vec_power(half)), vec_power(vsubq_s32(all, half))), v, "
    "least);\n"
    "}\n"
    "static inline vec vec_scale_low(vec p, vec bits, vec v, vec least) {\n"
    "  return vec_kept(vec_mul(p, vreinterpretq_f32_s32(vshlq_n_s32(vreinterpretq_s32_f32(bits), "
    "23))), v, least);\n"
    "}\n" BY_LANE "static inline float vec_sum(vec v) { return vaddvq_f32(v); }\n"
    "static inline float vec_most(vec v) { return vmaxvq_f32(v); }\n"
    "static inline float vec_least(vec v) { return vminvq_f32(v); }\n";

/* ISO C does not allow products and sums to be fused across expressions unasked, and gcc complies.
 */
#define FUSE " -ffp-contract=fast"
#define V3 "-march=x86-64-v3" FUSE
#define V4 "-march=x86-64-v4 -mprefer-vector-width=512" FUSE
#define HAS_V4 "defined(__AVX512F__) && defined(__AVX512VL__)"

#define CPU(what) "__builtin_cpu_supports(\"" what "\")"
#define CPU_V3 CPU("avx2") " && " CPU("fma") " && " CPU("bmi2")
#define CPU_V4                                                                                     \
  CPU_V3 " && " CPU("avx512f") " && " CPU("avx512vl") " && " CPU("avx512bw") " && " CPU(           \
      "avx512dq") " && " CPU("avx512cd")
#define CPU_VNNI CPU_V4 " && " CPU("avx512vnni")
#define CPU_BF16 CPU_VNNI " && " CPU("avx512bf16")
/* All features that come with these sets and that compilers would use unasked. */
#define PLAIN "no-avx,no-bmi,no-bmi2,no-lzcnt,no-movbe"
#define ALL "f32 bf16 int8"

/* What rows of a family have in common. */
#define SSE                                                                                        \
  .lanes = 4, .registers = 16, .headers = INTEL STRING, .text = sse2, .shuffle = "_mm",            \
  .words = &tf_words_sse
#define AVX2                                                                                       \
  .lanes = 8, .registers = 16, .headers = INTEL, .text = avx2, .shuffle = "_mm256",                \
  .words = &tf_words_avx2, .plain = PLAIN
#define AVX512                                                                                     \
  .lanes = 16, .registers = 32, .headers = INTEL, .text = avx512, .shuffle = "_mm512",             \
  .plain = PLAIN, .picks = true
#define NEON                                                                                       \
  .lanes = 4, .registers = 32, .headers = ARM STRING, .text = neon, .words = &tf_words_neon
#define INTEL "#include <immintrin.h>\n"
#define ARM "#include <arm_neon.h>\n"
#define STRING "#include <string.h>\n"

static const tf_micro_isa isas[] = {
    {.name = "portable",
     .lanes = 1,
     .registers = 16,
     .flags = "",
     .machine = "1",
     .data = ALL,
     .text = portable},
    {.name = "sse2",
     SSE,
     .flags = "-msse2",
     .machine = "defined(__SSE2__)",
     .data = ALL,
     .has = "1"},
    {.name = "avx2",
     AVX2,
     .flags = V3,
     .machine = "defined(__AVX2__) && defined(__FMA__)",
     .data = ALL,
     .has = CPU_V3,
     .fours = TF_FOURS_TWICE},
    {.name = "avxvnni",
     AVX2,
     .flags = V3 " -mavxvnni",
     .machine = "defined(__AVX2__) && defined(__AVXVNNI__)",
     .data = "int8",
     .has = CPU_V3 " && leaf7(1, 0, 4)",
     .fours = TF_FOURS_AVX_VNNI},
    {.name = "avx512",
     AVX512,
     .words = &tf_words_avx512,
     .flags = V4,
     .machine = HAS_V4,
     .data = ALL,
     .has = CPU_V4},
    {.name = "avx512_vnni",
     AVX512,
     .words = &tf_words_avx512,
     .flags = V4 " -mavx512vnni",
     .machine = HAS_V4 " && defined(__AVX512VNNI__)",
     .data = "int8",
     .has = CPU_VNNI,
     .fours = TF_FOURS_AVX512_VNNI},
    {.name = "avx512_bf16",
     AVX512,
     .words = &tf_words_bf16,
     .flags = V4 " -mavx512vnni -mavx512bf16",
     .machine = HAS_V4 " && defined(__AVX512VNNI__) && defined(__AVX512BF16__)",
     .data = "bf16",
     .has = CPU_BF16,
     .fours = TF_FOURS_AVX512_VNNI},
    {.name = "amx",
     AVX512,
     .words = &tf_words_bf16,
     .flags = V4 " -mavx512vnni -mavx512bf16 -mamx-tile -mamx-bf16 -mamx-int8",
     .machine = HAS_V4 /* clang 14 spells these macros without an underscore */
     " && (defined(__AMX_TILE__) || defined(__AMXTILE__)) && (defined(__AMX_BF16__) || "
     "defined(__AMXBF16__)) && (defined(__AMX_INT8__) || defined(__AMXINT8__))",
     .data = "bf16 int8",
     .has = CPU_BF16 " && TILES_ALLOWED()",
     .tiles = TF_MICRO_TILES,
     .fours = TF_FOURS_AVX512_VNNI},
    {.name = "neon",
     NEON,
     .flags = "-ffp-contract=fast",
     .machine = "defined(__aarch64__)",
     .data = ALL},
    {.name = "neon_dot",
     NEON,
     .flags = "-march=armv8.2-a+dotprod -ffp-contract=fast",
     .machine = "defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)",
     .data = "int8"},
    {.name = "neon_i8mm",
     NEON,
     .flags = "-march=armv8.2-a+dotprod+i8mm -ffp-contract=fast",
     .machine = "defined(__aarch64__) && defined(__ARM_FEATURE_MATMUL_INT8)",
     .data = "int8"},
    {.name = "sme",
     NEON,
     .flags = "-ffp-contract=fast",
     .machine = "defined(__aarch64__) && defined(__GNUC__) && defined(__linux__)",
     .data = "f32 bf16 int8",
     .tiles = TF_MICRO_OUTER},
};

const tf_micro_isa *tf_micro_isa_at(int i) {
  return i >= 0 && i < (int)(sizeof isas / sizeof *isas) ? &isas[i] : NULL;
}

const tf_micro_isa *tf_micro_isa_find(const char *name) {
  for (int i = 0; tf_micro_isa_at(i); i++)
    if (strcmp(isas[i].name, name) == 0) return &isas[i];
  return NULL;
}
