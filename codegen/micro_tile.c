/* One tile: c += a b with all of c in registers, as C text over the operations of codegen/micro_isa.c. */
#include "codegen/micro_tile.h"

int tf_micro_rows(int registers, int across) {
  int rows = (registers - across - 1) / across;
  return rows > 14 ? 14 : rows < 1 ? 1 : rows;
}

void tf_micro_best(int registers, int *rows, int *across) {
  *rows = *across = 1;
  for (int n = 1; 3 * n + 2 <= registers; n++) {
    int m = (registers - n - 2) / n / 2 * 2;
    if ((long)m * n * (*rows + *across) > (long)*rows * *across * (m + n)) {
      *rows = m;
      *across = n;
    }
  }
}

enum { ROWS_A_POINTER = 4 };

static void declare(FILE *out, const tf_tile *t) {
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->across; j++)
      fprintf(out, "  vec c%d_%d = vec_zero();\n", i, j);
  for (int i = ROWS_A_POINTER; i < t->rows; i += ROWS_A_POINTER)
    fprintf(out, "  const float *a%d = a + %d * a_m;\n", i, i);
}

static void load(FILE *out, const tf_tile *t, const char *from, int j) {
  if (j == t->across - 1 && t->part)
    fprintf(out, "vec_load_part(%s + %d * LANES, %d)", from, j, t->part);
  else
    fprintf(out, "vec_load(%s + %d * LANES)", from, j);
}

static void step(FILE *out, const tf_tile *t) {
  fputs("  for (; k > 0; k--) {\n", out);
  for (int j = 0; j < t->across; j++)
    fprintf(out, "    const vec b%d = ", j), load(out, t, "b", j), fputs(";\n", out);
  for (int i = 0; i < t->rows; i++) {
    int base = i / ROWS_A_POINTER * ROWS_A_POINTER;
    if (base)
      fprintf(out, "    const vec x%d = vec_splat(a%d[%d * a_m]);\n", i, base, i - base);
    else
      fprintf(out, "    const vec x%d = vec_splat(a[%d * a_m]);\n", i, i);
    for (int j = 0; j < t->across; j++)
      fprintf(out, "    c%d_%d = vec_fma(x%d, b%d, c%d_%d);\n", i, j, i, j, i, j);
  }
  fputs("    a += a_k;\n    b += b_k;\n", out);
  for (int i = ROWS_A_POINTER; i < t->rows; i += ROWS_A_POINTER)
    fprintf(out, "    a%d += a_k;\n", i);
  fputs("  }\n", out);
}

static void finish(FILE *out, const tf_tile *t) {
  char row[32];
  fputs("  if (add) {\n", out);
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->across; j++) {
      snprintf(row, sizeof row, "c + %d * c_m", i);
      fprintf(out, "    c%d_%d = vec_add(", i, j), load(out, t, row, j), fprintf(out, ", c%d_%d);\n", i, j);
    }
  fputs("  }\n", out);
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->across; j++)
      if (j == t->across - 1 && t->part)
        fprintf(out, "  vec_store_part(c + %d * c_m + %d * LANES, c%d_%d, %d);\n", i, j, i, j, t->part);
      else
        fprintf(out, "  vec_store(c + %d * c_m + %d * LANES, c%d_%d);\n", i, j, i, j);
}

void tf_tile_print(FILE *out, const tf_tile *t) {
  fprintf(out, "\nstatic APART void " TF_TILE_NAME "(int64_t k, const float *a, int64_t a_m, int64_t a_k, const float *b,\n",
          t->rows, t->across, t->part);
  fputs("                        int64_t b_k, float *c, int64_t c_m, int add) {\n", out);
  declare(out, t);
  step(out, t);
  finish(out, t);
  fputs("}\n", out);
}

/* `lanes` and `rest`: how one more lane, and one more element, are taken in. */
static void row_text(FILE *out, const char *name, const char *op, const char *none, const char *lanes, const char *rest) {
  fprintf(out,
          "static inline float row_%s(const float *x, int64_t n) {\n"
          "  vec a = vec_splat(%s), b = a, c = a, d = a;\n"
          "  float lane[LANES], all = %s;\n"
          "  const int64_t whole = n / (4 * LANES) * (4 * LANES);\n"
          "  for (int64_t i = 0; i < whole; i += 4 * LANES) {\n"
          "    a = %s(a, vec_load(x + i));\n"
          "    b = %s(b, vec_load(x + i + LANES));\n"
          "    c = %s(c, vec_load(x + i + 2 * LANES));\n"
          "    d = %s(d, vec_load(x + i + 3 * LANES));\n"
          "  }\n"
          "  vec_store(lane, %s(%s(a, b), %s(c, d)));\n"
          "  for (int k = 0; k < LANES; k++) all = %s;\n",
          name, none, none, op, op, op, op, op, op, op, lanes);
  fprintf(out, "  for (int64_t i = whole; i < n; i++) all = %s;\n  return all;\n}\n", rest);
}

void tf_micro_rows_text(FILE *out) {
  row_text(out, "sum", "vec_add", "0.0f", "all + lane[k]", "all + x[i]");
  row_text(out, "max", "vec_max", "-INFINITY", "greater(all, lane[k])", "greater(all, x[i])");
  row_text(out, "min", "vec_min", "INFINITY", "smaller(all, lane[k])", "smaller(all, x[i])");
}
