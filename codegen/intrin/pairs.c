/* Products with few rows, whose b is bfloat16 with neighbours along n, by an instruction that
 * multiplies pairs: two rows of b are interleaved in registers, 32 columns at once, and multiplied
 * by pairs of a's elements, which are rounded a part of k at a time. Sums stay in registers for all
 * of the part. b's rows are short, so that a part of them is one piece of memory, or nearly: strips
 * of long rows with a large stride would be slower than rows in four streams. */
#include "codegen/intrin/tile.h"

enum {
  PAIR_COLUMNS = 32, /* of two vectors of sums */
  MOST_SUMS = 24,    /* registers of sums: the others hold rows of b and elements of a */
  WIDEST = 8,        /* pairs of vectors */
  PART = 32          /* of k: even; so many rows of b stay in a cache while columns take turns */
};

bool tf_pairs_fit(const tf_micro_few *f) {
  return f->b == IR_BF16 && !f->along_k && f->columns && f->columns <= WIDEST * PAIR_COLUMNS &&
         f->rows <= MOST_SUMS / 2;
}

/* The text is for two vectors of 16 lanes in 32 registers. */
const tf_micro_kernel *tf_pairs_of(const tf_micro *u) {
  const tf_micro_isa *isa = tf_micro_of(u);
  if (2 * isa->lanes != PAIR_COLUMNS || isa->registers < MOST_SUMS + WIDEST) return NULL;
  const ir_machine t = tf_micro_machine(isa, IR_BF16);
  const tf_micro_kernel *k = t.real ? tf_micro_kernel_of(t.real) : NULL;
  return k && k->kernel.a == IR_BF16 && k->kernel.group == 2 && k->form == TF_MICRO_VECTORS &&
                 k->prefix
             ? k
             : NULL;
}

/* Two rows of b from row `p` on, the second only where `both`. */
static void step(FILE *out, const tf_micro_few *f, const char *x, int wide, bool both) {
  for (int v = 0; v < wide; v++) {
    const bool last = v == wide - 1;
    for (int q = 0; q < 2; q++) {
      fprintf(out, "    const %ss y%d_%d = %s_load%s(b + (p + %d) * b_step + %d", x, q, v, x,
              last || (q && !both) ? "_part" : "", q && both, v * PAIR_COLUMNS);
      fprintf(out, q && !both ? ", 0);\n" : last ? ", last);\n" : ");\n");
      if (both && f->rows > 1)
        fprintf(out, "    FETCH(b + (p + %d) * b_step + %d, 0);\n", q + PART, v * PAIR_COLUMNS);
    }
    fprintf(out, "    const %ss l%d = %s_low(y0_%d, y1_%d), h%d = %s_high(y0_%d, y1_%d);\n", x, v,
            x, v, v, v, x, v, v);
  }
  for (int i = 0; i < f->rows; i++) {
    fprintf(out, "    const %ss x%d = %s_splat(x + %d + p);\n", x, i, x, i * PART);
    for (int v = 0; v < wide; v++)
      fprintf(out, "    l%d_%d = %s_add(x%d, l%d, l%d_%d), h%d_%d = %s_add(x%d, h%d, h%d_%d);\n", i,
              v, x, i, v, i, v, i, v, x, i, v, i, v);
  }
}

/* All rows by `wide` pairs of vectors, of which the last has `last` columns. */
static void tile(FILE *out, const tf_micro_few *f, const char *name, const char *x, int wide) {
  fprintf(out,
          "static APART void %s_by_%d(int64_t k, const uint16_t *x, const uint16_t *b, int64_t "
          "b_step, float *c, int64_t c_m, int last, int add) {\n"
          "  int64_t p = 0;\n  (void)c_m;\n",
          name, wide);
  for (int i = 0; i < f->rows; i++)
    for (int v = 0; v < wide; v++)
      fprintf(out, "  vec l%d_%d = vec_zero(), h%d_%d = vec_zero();\n", i, v, i, v);
  fputs("  for (; p + 2 <= k; p += 2) {\n", out);
  step(out, f, x, wide, true);
  fputs("  }\n  if (p < k) {\n", out);
  step(out, f, x, wide, false);
  fputs("  }\n", out);
  for (int i = 0; i < f->rows; i++)
    for (int v = 0; v < wide; v++) {
      fprintf(out, "  %s_leave(c + %d * c_m + %d, l%d_%d, h%d_%d, ", x, i, v * PAIR_COLUMNS, i, v,
              i, v);
      fprintf(out, v == wide - 1 ? "last, add);\n" : "%d, add);\n", PAIR_COLUMNS);
    }
  fputs("}\n", out);
}

/* Elements of a as pairs, a part of k, the last pair filled up with a zero. */
static void pairs_of_a(FILE *out, const tf_micro_few *f, const char *x) {
  fprintf(out,
          "    for (int i = 0; i < %d; i++) {\n      const %s *from = a + i * a_m + p * a_k;\n"
          "      uint16_t *to = x + i * %d;\n      if (steps %% 2) to[steps] = 0;\n",
          f->rows, tf_micro_type(f->a), PART);
  if (f->a == IR_BF16)
    fputs("      for (int64_t q = 0; q < steps; q++) to[q] = from[q * a_k];\n", out);
  else
    fprintf(out,
            "      if (a_k == 1) %s_round_row(to, from, steps);\n"
            "      else for (int64_t q = 0; q < steps; q++) to[q] = narrow(from[q * a_k]);\n",
            x);
  fputs("    }\n", out);
}

void tf_pairs_print(FILE *out, const tf_micro_few *f, const tf_micro_kernel *k, const char *name) {
  const int fit = MOST_SUMS / 2 / f->rows, most = fit > WIDEST ? WIDEST : fit,
            all = (int)((f->columns + PAIR_COLUMNS - 1) / PAIR_COLUMNS),
            tiles = (all + most - 1) / most, wide = (all + tiles - 1) / tiles;
  tile(out, f, name, k->prefix, wide);
  if (all % wide) tile(out, f, name, k->prefix, 1);
  fprintf(out,
          "static APART void %s(int64_t k, const %s *a, int64_t a_m, int64_t a_k, const uint16_t "
          "*b, int64_t b_step, float *c, int64_t c_m, int64_t n, int add) {\n"
          "  uint16_t x[%d];\n  (void)a_m;\n"
          "  for (int64_t p = 0; p < k; p += %d) {\n"
          "    const int64_t steps = k - p < %d ? k - p : %d;\n",
          name, tf_micro_type(f->a), f->rows * PART, PART, PART, PART);
  pairs_of_a(out, f, k->prefix);
  fputs("    int64_t j = 0;\n", out);
  for (int w = wide; w > 0; w = all % w ? 1 : 0)
    fprintf(out,
            "    for (; n - j > %d; j += %d)\n"
            "      %s_by_%d(steps, x, b + p * b_step + j, b_step, c + j, c_m, n - j < %d ? (int)(n "
            "- j) - %d : %d, add || p > 0);\n",
            (w - 1) * PAIR_COLUMNS, w * PAIR_COLUMNS, name, w, w * PAIR_COLUMNS,
            (w - 1) * PAIR_COLUMNS, PAIR_COLUMNS);
  fputs("  }\n}\n", out);
}
