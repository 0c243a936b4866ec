/* Product kernels: how operands of a type are loaded and multiplied, as text over an instruction set's vectors. */
#include <string.h>

#include "codegen/intrin/tile.h"

const char *tf_micro_type(ir_type t) {
  static const char *const name[] = {
      [IR_F32] = "float",  [IR_BF16] = "uint16_t", [IR_F16] = "uint16_t", [IR_F8] = "uint8_t", [IR_I8] = "int8_t",
      [IR_U8] = "uint8_t", [IR_I16] = "int16_t",   [IR_I32] = "int32_t",  [IR_I64] = "int64_t"};
  return name[t];
}

static const char portable_int8[] = "typedef int32_t int8s;\n"
                                    "typedef int32_t ivec;\n"
                                    "static inline ivec ivec_zero(void) { return 0; }\n"
                                    "static inline ivec ivec_add(ivec a, ivec b) { return a + b; }\n"
                                    "static inline ivec ivec_load(const int32_t *p) { return *p; }\n"
                                    "static inline void ivec_store(int32_t *p, ivec v) { *p = v; }\n"
                                    "static inline void int8_round(float *p, ivec v) { *p = (float)v; }\n"
                                    "static inline int8s int8_splat(const int8_t *p) { return *p; }\n"
                                    "static inline int8s int8_load(const int8_t *p) { return *p; }\n"
                                    "static inline ivec int8_add(int8s x, int8s b, ivec c) { return c + x * b; }\n";

/* A group of 32 bits as an integer; and a workaround for gcc 12, which otherwise moves integer sums to the stack and
 * back at every step. */
#define GROUP                                                                                                          \
  "#include <string.h>\n"                                                                                              \
  "#if defined(IN_REGISTER) /* a test's */\n"                                                                          \
  "#elif defined(__GNUC__) && !defined(__clang__)\n"                                                                   \
  "#define IN_REGISTER(v) __asm__(\"\" : \"+v\"(v))\n"                                                                 \
  "#else\n#define IN_REGISTER(v) ((void)0)\n#endif\n"                                                                  \
  "static inline int32_t group(const void *p) {\n"                                                                     \
  "  int32_t v;\n"                                                                                                     \
  "  memcpy(&v, p, sizeof v);\n"                                                                                       \
  "  return v;\n"                                                                                                      \
  "}\n"

/* Registers of int32: V their type, P the prefix of the intrinsics, N the suffix for whole registers. */
#define IVEC(V, P, N)                                                                                                  \
  "typedef " V " ivec;\n"                                                                                              \
  "static inline ivec ivec_zero(void) { return " P "_setzero_" N "(); }\n"                                             \
  "static inline ivec ivec_add(ivec a, ivec b) { return " P "_add_epi32(a, b); }\n"                                    \
  "static inline ivec ivec_load(const int32_t *p) { return " P "_loadu_" N "((const void *)p); }\n"                    \
  "static inline void ivec_store(int32_t *p, ivec v) { " P "_storeu_" N "((void *)p, v); }\n"                          \
  "static inline void int8_round(float *p, ivec v) { vec_store(p, " P "_cvtepi32_ps(v)); }\n"                          \
  "static inline void int8_round_part(float *p, ivec v, int n) { vec_store_part(p, " P "_cvtepi32_ps(v), n); }\n"

#define BY_LANE(LANES)                                                                                                 \
  "static inline ivec ivec_load_part(const int32_t *p, int n) {\n"                                                     \
  "  int32_t lane[" LANES "] = {0};\n"                                                                                 \
  "  memcpy(lane, p, (size_t)n * sizeof *p);\n"                                                                        \
  "  return ivec_load(lane);\n"                                                                                        \
  "}\n"                                                                                                                \
  "static inline void ivec_store_part(int32_t *p, ivec v, int n) {\n"                                                  \
  "  int32_t lane[" LANES "];\n"                                                                                       \
  "  ivec_store(lane, v);\n"                                                                                           \
  "  memcpy(p, lane, (size_t)n * sizeof *p);\n"                                                                        \
  "}\n"

#define IVEC_SSE GROUP IVEC("__m128i", "_mm", "si128") BY_LANE("4")
#define IVEC_AVX2                                                                                                      \
  GROUP IVEC("__m256i", "_mm256", "si256") "static inline ivec ivec_load_part(const int32_t *p, int n) { return "      \
                                           "_mm256_maskload_epi32(p, vec_first(n)); }\n"                               \
                                           "static inline void ivec_store_part(int32_t *p, ivec v, int n) { "          \
                                           "_mm256_maskstore_epi32(p, vec_first(n), v); }\n"
#define IVEC_AVX512                                                                                                    \
  GROUP IVEC("__m512i", "_mm512", "si512") "static inline ivec ivec_load_part(const int32_t *p, int n) { return "      \
                                           "_mm512_maskz_loadu_epi32(vec_first(n), p); }\n"                            \
                                           "static inline void ivec_store_part(int32_t *p, ivec v, int n) { "          \
                                           "_mm512_mask_storeu_epi32(p, vec_first(n), v); }\n"

/* Groups of a broadcast over a register, those of b side by side; NAME the prefix, A and B the types. */
#define TAKE(NAME, V, A, B, P, N)                                                                                      \
  "typedef " V " " NAME "s;\n"                                                                                         \
  "static inline " NAME "s " NAME "_splat(const " A " *p) { return " P "_set1_epi32(group(p)); }\n"                    \
  "static inline " NAME "s " NAME "_load(const " B " *p) { return " P "_loadu_" N "((const void *)p); }\n"

#define SUM(VALUE)                                                                                                     \
  "static inline ivec int8_add(int8s x, int8s b, ivec c) {\n"                                                          \
  "  c = " VALUE ";\n"                                                                                                 \
  "  IN_REGISTER(c);\n"                                                                                                \
  "  return c;\n"                                                                                                      \
  "}\n"

static const char sse2_int8[] = IVEC_SSE TAKE("int8", "__m128i", "int16_t", "int16_t", "_mm", "si128")
    SUM("_mm_add_epi32(c, _mm_madd_epi16(x, b))");
static const char avx2_int8[] = IVEC_AVX2 TAKE("int8", "__m256i", "int16_t", "int16_t", "_mm256", "si256")
    SUM("_mm256_add_epi32(c, _mm256_madd_epi16(x, b))");
static const char avx512_int8[] = IVEC_AVX512 TAKE("int8", "__m512i", "int16_t", "int16_t", "_mm512", "si512")
    SUM("_mm512_add_epi32(c, _mm512_madd_epi16(x, b))");
static const char avxvnni_int8[] =
    IVEC_AVX2 TAKE("int8", "__m256i", "uint8_t", "int8_t", "_mm256", "si256") SUM("_mm256_dpbusd_avx_epi32(c, x, b)");
static const char vnni_int8[] =
    IVEC_AVX512 TAKE("int8", "__m512i", "uint8_t", "int8_t", "_mm512", "si512") SUM("_mm512_dpbusd_epi32(c, x, b)");
#define BF16_ROUND                                                                                                     \
  "static inline __m256i bf16_of(vec v) { return (__m256i)_mm512_cvtneps_pbh(v); }\n"                                  \
  "static inline void bf16_round(uint16_t *p, vec v) { _mm256_storeu_si256((void *)p, bf16_of(v)); }\n"                \
  "static inline void bf16_round_part(uint16_t *p, vec v, int n) { _mm256_mask_storeu_epi16(p, vec_first(n), "         \
  "bf16_of(v)); }\n"
/* Two rows as pairs of bfloat16: X and Y, k of them from the i-th on. */
#define PAIRS(FROM, T, X, Y)                                                                                           \
  "static inline void bf16_pairs_of_" FROM "(uint16_t *to, const " T " *x, const " T " *y, int64_t n) {\n"             \
  "  for (int64_t i = 0; i < n; i += 16) {\n"                                                                          \
  "    const int k = n - i < 16 ? (int)(n - i) : 16;\n"                                                                \
  "    const __m256i one = " X ", other = y ? " Y " : _mm256_setzero_si256();\n"                                       \
  "    _mm512_mask_storeu_epi32(to + 2 * i, vec_first(k),\n"                                                           \
  "        _mm512_or_si512(_mm512_cvtepu16_epi32(one), _mm512_slli_epi32(_mm512_cvtepu16_epi32(other), 16)));\n"       \
  "  }\n"                                                                                                              \
  "}\n"
static const char avx512_bf16[] = GROUP TAKE("bf16", "__m512i", "uint16_t", "uint16_t", "_mm512", "si512") BF16_ROUND
    "static inline vec bf16_add(bf16s x, bf16s b, vec c) { return _mm512_dpbf16_ps(c, (__m512bh)x, "
    "(__m512bh)b); }\n" PAIRS("f32", "float", "bf16_of(vec_load_part(x + i, k))", "bf16_of(vec_load_part(y + i, k))")
        PAIRS("bf16", "uint16_t", "_mm256_maskz_loadu_epi16(vec_first(k), x + i)",
              "_mm256_maskz_loadu_epi16(vec_first(k), y + i)");

/* For AMX.  bf16_leave: rows `first` ... `end` - 1 of the 32 x 32 buffer of sums are rounded and stored in c;
 * `columns` of each row, then zeros up to `writes`. */
static const char amx_bf16[] = BF16_ROUND
    "typedef struct {\n"
    "  const float *sums;\n"
    "  uint16_t *to;\n"
    "  int64_t step, rows, columns, writes;\n"
    "} bf16_left;\n"
    "static inline void bf16_leave(const bf16_left *l, int64_t first, int64_t end) {\n"
    "  const __mmask32 keeps = (__mmask32)((UINT64_C(1) << l->columns) - 1), writes = (__mmask32)((UINT64_C(1) << "
    "l->writes) - 1);\n"
    "  for (int64_t i = first; i < end && i < l->rows; i++) {\n"
    "    const float *row = l->sums + i * 32;\n"
    "    const __m512i v = (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(row + 16), _mm512_loadu_ps(row));\n"
    "    _mm512_mask_storeu_epi16(l->to + i * l->step, writes, _mm512_maskz_mov_epi16(keeps, v));\n"
    "  }\n"
    "}\n";

static const tf_micro_kernel kernels[] = {
    {{"f32", IR_F32, IR_F32, IR_F32, 1, 1, 1, 1, IR_F32}, 0, false, NULL, "vec", ""},
    {{"int8", IR_I8, IR_I8, IR_I32, 1, 1, 1, 1, IR_F32}, 1, false, "int8", "ivec", portable_int8},
    {{"int8_sse2", IR_I16, IR_I16, IR_I32, 2, 1, 4, 2, IR_F32}, 4, false, "int8", "ivec", sse2_int8},
    {{"int8_avx2", IR_I16, IR_I16, IR_I32, 2, 1, 8, 2, IR_F32}, 8, false, "int8", "ivec", avx2_int8},
    {{"int8_avx512", IR_I16, IR_I16, IR_I32, 2, 1, 16, 2, IR_F32}, 16, false, "int8", "ivec", avx512_int8},
    {{"int8_avxvnni", IR_U8, IR_I8, IR_I32, 4, 1, 8, 4, IR_F32}, 8, false, "int8", "ivec", avxvnni_int8},
    {{"int8_vnni", IR_U8, IR_I8, IR_I32, 4, 1, 16, 4, IR_F32}, 16, false, "int8", "ivec", vnni_int8},
    {{"int8_amx", IR_I8, IR_I8, IR_I32, 4, 16, 16, 64, IR_I32}, 16, true, "int8", "ivec", IVEC_AVX512},
    {{"bf16_avx512", IR_BF16, IR_BF16, IR_F32, 2, 1, 16, 2, IR_BF16}, 16, false, "bf16", "vec", avx512_bf16},
    {{"bf16_amx", IR_BF16, IR_BF16, IR_F32, 2, 16, 16, 32, IR_BF16}, 16, true, "bf16", "vec", amx_bf16},
};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

const tf_micro_kernel *tf_micro_kernel_find(const char *name) {
  for (int i = 0; i < N_KERNELS; i++)
    if (!strcmp(kernels[i].kernel.name, name)) return &kernels[i];
  return NULL;
}

const tf_micro_kernel *tf_micro_kernel_of(const ir_kernel *kernel) { return (const void *)kernel; }

ir_machine tf_micro_machine(const tf_micro_isa *isa, ir_type data) {
  const char *real = data == IR_BF16 && isa->bf16 ? isa->bf16 : "f32", *whole = isa->int8 ? isa->int8 : "int8";
  return (ir_machine){.data = data,
                      .real = &tf_micro_kernel_find(real)->kernel,
                      .whole = data == IR_I8 ? &tf_micro_kernel_find(whole)->kernel : NULL,
                      .lanes = isa->lanes,
                      .registers = isa->registers};
}

bool tf_micro_has_tiles(const ir_machine *t) {
  return (t->real && tf_micro_kernel_of(t->real)->tiles) || (t->whole && tf_micro_kernel_of(t->whole)->tiles);
}

void tf_micro_kernel_text(FILE *out, const ir_machine *t) {
  if (tf_micro_has_tiles(t)) tf_amx_text(out);
  if (t->real) fputs(tf_micro_kernel_of(t->real)->text, out);
  if (t->whole) fputs(tf_micro_kernel_of(t->whole)->text, out);
}
