/* Product kernels: how operands of a type are loaded and multiplied, as text over an instruction
 * set's vectors. */
#include <string.h>

#include "codegen/intrin/tile.h"
#include "codegen/intrin/words.h"

static const char portable_int8[] =
    "typedef int32_t int8s;\n"
    "typedef int32_t ivec;\n"
    "static inline ivec ivec_zero(void) { return 0; }\n"
    "static inline ivec ivec_add(ivec a, ivec b) { return a + b; }\n"
    "static inline ivec ivec_load(const int32_t *p) { return *p; }\n"
    "static inline void ivec_store(int32_t *p, ivec v) { *p = v; }\n"
    "static inline void int8_round(float *p, ivec v) { *p = (float)v; }\n"
    "static inline int8s int8_splat(const int8_t *p) { return *p; }\n"
    "static inline int8s int8_load(const int8_t *p) { return *p; }\n"
    "static inline ivec int8_add(int8s x, int8s b, ivec c) { return c + x * b; }\n";

/* Of any computer; those with instructions of their own are described in arch-specs/instructions.
 */
static const tf_micro_kernel plain[] = {
    {{"f32", IR_F32, IR_F32, IR_F32, 1, 1, 1, 1, IR_F32, false}, .sums = "vec", .text = ""},
    {{"int8", IR_I8, IR_I8, IR_I32, 1, 1, 1, 1, IR_F32, false},
     1,
     .prefix = "int8",
     .sums = "ivec",
     .text = portable_int8},
};
enum { N_PLAIN = sizeof plain / sizeof *plain };

const tf_micro_kernel *tf_micro_kernel_find(const char *name) {
  for (int i = 0; i < N_PLAIN; i++)
    if (!strcmp(plain[i].kernel.name, name)) return &plain[i];
  for (int i = 0; i < tf_micro_n_described; i++)
    if (!strcmp(tf_micro_described[i].kernel.name, name)) return &tf_micro_described[i];
  return NULL;
}

/* Data that the kernel multiplies, narrowed to its own types or not. */
ir_type tf_micro_data_of(const tf_micro_kernel *k) {
  return k->kernel.c == IR_I32 ? IR_I8 : k->kernel.a;
}

static const tf_micro_kernel *described(const tf_micro_isa *isa, ir_type data) {
  for (int i = 0; i < tf_micro_n_described; i++)
    for (const char *const *s = tf_micro_described[i].isa; *s; s++)
      if (!strcmp(*s, isa->name) && tf_micro_data_of(&tf_micro_described[i]) == data)
        return &tf_micro_described[i];
  return NULL;
}

ir_machine tf_micro_machine(const tf_micro_isa *isa, ir_type data) {
  const tf_micro_kernel *own = isa->described && tf_micro_data_of(isa->described) == data
                                   ? isa->described
                                   : described(isa, data);
  const bool whole = data == IR_I8;
  return (ir_machine){.data = data,
                      .real = own && !whole ? &own->kernel : &plain[0].kernel,
                      .whole = !whole ? NULL
                               : own  ? &own->kernel
                                      : &plain[1].kernel,
                      .plain = &plain[0].kernel,
                      .lanes = isa->lanes,
                      .registers = isa->registers};
}

bool tf_micro_has_tiles(const ir_machine *t) {
  return (t->real && tf_micro_in_tiles(tf_micro_kernel_of(t->real))) ||
         (t->whole && tf_micro_in_tiles(tf_micro_kernel_of(t->whole)));
}

/* ---- text of a kernel that is described ----------------------------------------------------- */

/* Operands in registers: groups of a, broadcast or of two rows; those of b side by side. */
static void take_text(FILE *out, const tf_micro_kernel *k, const tf_micro_words *w) {
  const bool squares = k->form == TF_MICRO_SQUARES;
  const char *a = tf_micro_type(k->kernel.a), *x = k->prefix;
  fprintf(out, "typedef %s %ss;\nstatic inline %ss %s_splat(const %s *p", w->type, x, x, x, a);
  if (squares) fprintf(out, ", const %s *q", a);
  fprintf(out, ") { return %s; }\nstatic inline %ss %s_load(const %s *p) { return %s; }\n",
          squares ? w->pair : w->splat, x, x, tf_micro_type(k->kernel.b), w->load);
  if (k->kernel.lifts)
    fprintf(out, "static inline %ss %s_lift(const %s *p) { return %s; }\n", x, x, a, w->lifted);
}

static void add_text(FILE *out, const tf_micro_kernel *k) {
  static const char *const with[3] = {"x", "b", "c"};
  const bool ints = k->kernel.c == IR_I32;
  fprintf(out, "static inline %s %s_add(%ss x, %ss b, %s c) {%s", k->sums, k->prefix, k->prefix,
          k->prefix, k->sums, ints ? "\n  c = " : " return ");
  tf_micro_call(out, k, with);
  fputs(ints ? ";\n  IN_REGISTER(c);\n  return c;\n}\n" : "; }\n", out);
}

/* Rows of bytes interleaved as groups: element by element, unless the instruction set has a way of
 * its own. */
static void beside_text(FILE *out, const tf_micro_kernel *k, const tf_micro_words *w) {
  const int group = k->kernel.group;
  if (w->fours && k->kernel.a == IR_I8 && group == 4) {
    fputs(w->fours, out);
    return;
  }
  for (int sign = 1; sign >= 0; sign--) {
    fprintf(out, "static inline void %sint8_beside(%s *to", sign ? "" : "u",
            tf_micro_type(k->kernel.a));
    for (int e = 0; e < group; e++)
      fprintf(out, ", const %sint8_t *x%d", sign ? "" : "u", e);
    fputs(", int64_t n, int8_t lift) {\n", out);
    if (w->twos && group == 2)
      fprintf(out, w->twos, sign ? "i8" : "u8");
    else
      fputs("  int64_t i = 0;\n", out);
    fputs("  for (; i < n; i++) {\n", out);
    for (int e = 0; e < group; e++)
      fprintf(out, "    to[%d * (size_t)i + %d] = (%s)(x%d[i] ^ lift);\n", group, e,
              tf_micro_type(k->kernel.a), e);
    fputs("  }\n}\n", out);
  }
}

/* Of pairs of words of 16 bits, which hold bytes with a sign and without. */
static const tf_micro_kernel *of_pairs(const tf_micro_isa *isa) {
  for (int i = 0; i < tf_micro_n_described; i++)
    for (const char *const *s = tf_micro_described[i].isa;
         *s && tf_micro_described[i].kernel.a == IR_I16; s++)
      if (isa->words && !strcmp(tf_micro_isa_find(*s)->words->type, isa->words->type))
        return &tf_micro_described[i];
  return NULL;
}

void tf_micro_no_sign(const tf_micro_isa *isa, ir_machine *machine) {
  const tf_micro_kernel *pairs = of_pairs(isa);
  if (machine->whole && machine->whole->a != IR_I16) machine->whole = pairs ? &pairs->kernel : NULL;
}

/* ---- fours of bytes, one operand without a sign --------------------------------------------- */

/* VNNI's vpdpbusd is always exact.  Without it, AVX2 has vpmaddubsw, which adds two products as
 * int16 and saturates, and vpmaddwd by ones: that is no instruction for arch-specs/instructions, as
 * it computes c += x b only while no two products leave an int16.  x: of a, which is broadcast. */
#define TWICE(PLUS, OTHER)                                                                         \
  "_mm256_add_epi32(c, _mm256_madd_epi16(_mm256_maddubs_epi16(" PLUS ", " OTHER                    \
  "), _mm256_set1_epi16(1)))"
#define AVX_VNNI(PLUS, OTHER) "_mm256_dpbusd_avx_epi32(c, " PLUS ", " OTHER ")"
#define AVX512_VNNI(PLUS, OTHER) "_mm512_dpbusd_epi32(c, " PLUS ", " OTHER ")"
#define ROW(NAME, A, B, LIFTS, LANES, CALL)                                                        \
  {                                                                                                \
    {NAME, A, B, IR_I32, 4, 1, LANES, 4, IR_F32, LIFTS}, LANES,                                    \
        .form = TF_MICRO_VECTORS, .prefix = NAME, .sums = "ivec", .call = CALL, .operand = {       \
          "x",                                                                                     \
          "b",                                                                                     \
          "c"                                                                                      \
        }                                                                                          \
  }
/* In turns the operand that the instruction takes as one without a sign is a, and the other.  ui,
 * iu: it has none; pi, ip: it is never below 0; li: 128 is added to it. */
#define ROWS(LANES, CALL)                                                                          \
  {                                                                                                \
    ROW("fours_ui", IR_U8, IR_I8, false, LANES, CALL("x", "b")),                                   \
        ROW("fours_iu", IR_I8, IR_U8, false, LANES, CALL("b", "x")),                               \
        ROW("fours_pi", IR_I8, IR_I8, false, LANES, CALL("x", "b")),                               \
        ROW("fours_ip", IR_I8, IR_I8, false, LANES, CALL("b", "x")),                               \
        ROW("fours_li", IR_I8, IR_I8, true, LANES, CALL("x", "b")),                                \
  }
enum { N_FOURS = 5 };
static const struct {
  bool exact;        /* whatever the bytes are */
  double group_time; /* relative to the kernels for which the costs of a core are given */
  tf_micro_kernel row[N_FOURS];
} fours[] = {
    /* three instructions in place of two */
    [TF_FOURS_TWICE] = {false, 1.58, ROWS(8, TWICE)},
    [TF_FOURS_AVX_VNNI] = {true, 1, ROWS(8, AVX_VNNI)},
    [TF_FOURS_AVX512_VNNI] = {true, 1, ROWS(16, AVX512_VNNI)},
};
enum { N_WAYS = sizeof fours / sizeof *fours };

/* Of which way to multiply fours the kernel is; TF_FOURS_NONE: of none. */
static tf_micro_fours_way way_of(const ir_kernel *k) {
  tf_micro_fours_way way = TF_FOURS_NONE;
  for (int w = TF_FOURS_NONE + 1; w < N_WAYS; w++)
    for (int i = 0; i < N_FOURS; i++)
      if (k == &fours[w].row[i].kernel) way = (tf_micro_fours_way)w;
  return way;
}

/* Whether the kernel is for such operands: the one is without a sign, and where the instruction
 * asks for it, any two products, of numbers from 0 to the most of the one, lifted or not, by those
 * of the other, add up to an int16.  All of the sum is an int32 as ir_fits_whole says, for the
 * types as they are; what lifting adds may wrap around, and is taken off again. */
static bool suits(tf_micro_fours_way way, const ir_kernel *k, const ir_operand *plus,
                  const ir_operand *other) {
  const int64_t most = plus->most + (k->lifts ? -INT8_MIN : 0);
  if (!k->lifts && plus->least < 0) return false;
  return fours[way].exact ||
         (2 * most * other->most <= INT16_MAX && 2 * most * other->least >= INT16_MIN);
}

const ir_kernel *tf_micro_fours(const ir_machine *m, const ir_operand *a, const ir_operand *b) {
  const ir_kernel *found = NULL;
  for (int i = 0; i < N_FOURS && m->fours && !found; i++) {
    const ir_kernel *k = &fours[m->fours].row[i].kernel;
    const bool second = i % 2;
    if (k->a == a->type && k->b == b->type &&
        suits((tf_micro_fours_way)m->fours, k, second ? b : a, second ? a : b))
      found = k;
  }
  return found;
}

void tf_micro_in_fours(const tf_micro_isa *isa, bool ranged, ir_machine *machine) {
  const bool pairs = machine->whole && machine->whole->a == IR_I16;
  if (pairs && isa->fours && (ranged || fours[isa->fours].exact)) machine->fours = (int)isa->fours;
}

double tf_micro_group_time(const ir_kernel *kernel) {
  const tf_micro_fours_way way = way_of(kernel);
  return way ? fours[way].group_time : 1;
}

const char *tf_micro_beside(const ir_kernel *kernel, ir_type from) {
  return way_of(kernel) ? "fours_beside" : from == IR_U8 ? "uint8_beside" : "int8_beside";
}

/* Four neighbours from each of LANES places on, `step` apart: bytes that are not there are 0.
 * bytes_within: which of those from column x on are there, in columns 0 .. n - 1. */
static const char neighbours_avx512[] =
    "typedef __mmask64 bytes;\n"
    "static inline bytes bytes_within(int64_t x, int64_t n) {\n"
    "  const int64_t from = x < 0 ? -x : 0, to = n - x;\n"
    "  if (from >= 64 || to <= from) return 0;\n"
    "  return (to >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << to) - 1) & (~UINT64_C(0) << from);\n"
    "}\n"
    "static inline fours_uis neighbours(const uint8_t *p, bytes b) {\n"
    "  const __m512i words = _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 1, 0, 0, 1, 2, 0, 0, 2, "
    "3, 0, 0, 3, 4, 0, 0), _mm512_maskz_loadu_epi8(b, p));\n"
    "  return _mm512_shuffle_epi8(words, _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 3, 1, 2, 3, "
    "4, 2, 3, 4, 5, 3, 4, 5, 6)));\n"
    "}\n"
    "static inline fours_uis neighbours_2(const uint8_t *p, bytes b) {\n"
    "  const __m512i words = _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 1, 2, 0, 2, 3, 4, 0, 4, "
    "5, 6, 0, 6, 7, 8, 0), _mm512_maskz_loadu_epi8(b, p));\n"
    "  return _mm512_shuffle_epi8(words, _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 3, 2, 3, 4, "
    "5, 4, 5, 6, 7, 6, 7, 8, 9)));\n"
    "}\n"
    "static inline fours_uis four(int a, int b, int c, int d) {\n"
    "  return _mm512_set1_epi32((int32_t)((uint32_t)(a & 255) | (uint32_t)(b & 255) << 8 | "
    "(uint32_t)(c & 255) << 16 | (uint32_t)(d & 255) << 24));\n"
    "}\n"
    "static inline vec ivec_as_float(ivec v) { return _mm512_cvtepi32_ps(v); }\n";

/* Behind the text of pairs, which has the registers. */
static void fours_text(FILE *out, int way, const tf_micro_words *w) {
  for (int i = 0; i < N_FOURS; i++) {
    take_text(out, &fours[way].row[i], w);
    add_text(out, &fours[way].row[i]);
  }
  fputs(w->fours_of_bytes, out);
  if (way == TF_FOURS_AVX512_VNNI) fputs(neighbours_avx512, out);
}

static void kernel_text(FILE *out, const tf_micro_kernel *k, const tf_micro_words *w) {
  const bool tiles = tf_micro_in_tiles(k), ints = k->kernel.c == IR_I32,
             rounds = k->kernel.leaves == IR_BF16;
  if (k->text) {
    fputs(k->text, out);
    return;
  }
  if (ints || !tiles) fputs(w->group, out);
  if (ints) fputs(w->ints, out);
  if (k->form == TF_MICRO_SQUARES) fputs(w->square, out);
  if (!tiles) take_text(out, k, w);
  if (rounds) fputs(w->round, out);
  if (!tiles) add_text(out, k);
  if (ints && k->form == TF_MICRO_VECTORS) beside_text(out, k, w);
  if (rounds) fputs(tiles ? w->leave : w->interleave, out);
}

void tf_micro_kernel_text(FILE *out, const tf_micro_isa *isa, const ir_machine *t) {
  const ir_kernel *const both[] = {t->real, t->whole};
  const tf_micro_kernel *in_tiles = NULL;
  for (int i = 0; i < 2; i++)
    if (both[i] && tf_micro_in_tiles(tf_micro_kernel_of(both[i])))
      in_tiles = tf_micro_kernel_of(both[i]);
  if (in_tiles) in_tiles->form == TF_MICRO_OUTER ? tf_sme_text(out, in_tiles) : tf_amx_text(out);
  for (int i = 0; i < 2; i++)
    if (both[i]) kernel_text(out, tf_micro_kernel_of(both[i]), isa->words);
  if (t->fours) fours_text(out, t->fours, isa->words);
}

/* Steps alternate between some registers, so that they do not wait for each other. */
const char *tf_micro_excess(FILE *out, tf_micro *u, const ir_kernel *kernel) {
  enum { TURNS = 4 };
  const tf_micro_kernel *k = tf_micro_kernel_of(kernel);
  const char *of = k->prefix, *b = tf_micro_type(kernel->b);
  char name[64];
  bool anew;
  snprintf(name, sizeof name, "%.40s_excess", of);
  const char *kept = tf_micro_name(u, name, &anew);
  if (!kept || !anew) return kept;
  fprintf(
      out,
      "\nstatic APART void %s(int64_t k, const %s *b, int64_t n, int32_t *to) {\n"
      "  static const %s none[%d] = {0};\n  const %ss x = %s_lift(none);\n"
      "  for (int64_t j = 0; j < n; j += %d) {\n    const %s *at = b + %d * j;\n    ivec s[%d];\n"
      "    for (int t = 0; t < %d; t++) s[t] = ivec_zero();\n    int64_t p = k;\n"
      "    for (; p >= %d; p -= %d)\n"
      "      for (int t = 0; t < %d; t++, at += %d * n) s[t] = %s_add(x, %s_load(at), s[t]);\n"
      "    for (; p > 0; p--, at += %d * n) s[0] = %s_add(x, %s_load(at), s[0]);\n"
      "    ivec_store(to + j, ivec_add(ivec_add(s[0], s[1]), ivec_add(s[2], s[3])));\n  }\n"
      "  for (int64_t j = 0; j < n; j++) to[j] = -to[j];\n}\n",
      kept, b, tf_micro_type(kernel->a), kernel->group, of, of, k->lanes, b, kernel->group, TURNS,
      TURNS, TURNS, TURNS, TURNS, kernel->group, of, of, kernel->group, of, of);
  return kept;
}
