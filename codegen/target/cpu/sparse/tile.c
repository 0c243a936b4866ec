/* The block product of a's elements that are not zero: each, broadcast, times the row of b at its place. */
#include "codegen/intrin/tile.h"
#include "codegen/intrin/micro.h"
#include "codegen/target/cpu/sparse/sparse.h"

static void store(FILE *out, int rows, int across, bool part) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < across; j++) {
      char at[64];
      snprintf(at, sizeof at, "c + %d * c_m + %d * LANES", i, j);
      if (part)
        fprintf(out,
                "    if (n > %d * LANES) vec_store_part(%s, add ? vec_add(vec_load_part(%s, rest_%d), s%d_%d) : "
                "s%d_%d, rest_%d);\n",
                j, at, at, j, i, j, i, j, j);
      else
        fprintf(out, "    vec_store(%s, add ? vec_add(vec_load(%s), s%d_%d) : s%d_%d);\n", at, at, i, j, i, j);
    }
}

/* rows of a by `across` vectors of b, whose rows are `pitch` apart. */
static void tile(FILE *out, const cpu_product *p, const char *name, int rows) {
  const int across = p->sparse.across, n = p->sparse.n;
  fprintf(out,
          "\nstatic APART void %s_%d(int64_t blocks, const float *v, const uint8_t *at, const float *b, int64_t pitch, "
          "float *c, int64_t c_m, int64_t n, int add) {\n",
          name, rows);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < across; j++)
      fprintf(out, "%ss%d_%d = vec_zero()%s", j ? ", " : "  vec ", i, j, j + 1 == across ? ";\n" : "");
  fprintf(out, "  for (int64_t g = 0; g < blocks; g++, v += %d, at += %d, b += %d * pitch) {\n", n, n, p->sparse.of);
  fprintf(out, "    for (int e = 0; e < %d; e++) {\n", n);
  for (int i = 0; i < rows; i++) {
    fprintf(out,
            "      const vec x%d = vec_splat(v[%lld + e]);\n      const float *const y%d = b + at[%lld + e] * pitch;\n",
            i, (long long)(i * p->sparse.each), i, (long long)(i * p->sparse.each));
    for (int j = 0; j < across; j++)
      fprintf(out, "      s%d_%d = vec_fma(x%d, vec_load(y%d + %d * LANES), s%d_%d);\n", i, j, i, i, j, i, j);
  }
  fprintf(out, "    }\n  }\n  if (n == %d * LANES) {\n", across);
  store(out, rows, across, false);
  fputs("  } else {\n", out);
  for (int j = 0; j < across; j++)
    fprintf(out, "    const int rest_%d = n < %d * LANES ? (int)(n - %d * LANES) : LANES;\n", j, j + 1, j);
  store(out, rows, across, true);
  fputs("  }\n}\n", out);
}

/* Columns of a tile, part of k by part: where enough rows use them, or there are fewer than a tile has, they are laid
 * side by side before. */
static void block(FILE *out, const cpu_product *p, const char *name) {
  enum { FEW = 8 };
  const int across = p->sparse.across, rows = p->sparse.rows;
  const long long deep = p->sparse.deep, each = p->sparse.each;
  fprintf(out,
          "\nstatic APART void %s(int64_t n_m, int64_t n_n, int64_t n_k, const float *v, const uint8_t *at, int64_t "
          "part, const float *b, int64_t b_k, float *c, int64_t c_m, int add, float *room) {\n"
          "  for (int64_t j = 0; j < n_n; j += %d * LANES)\n    for (int64_t p = 0; p < n_k; p += %lld) {\n"
          "      const int64_t n = least(%d * LANES, n_n - j), d = least(%lld, n_k - p), blocks = (d + %d) / %d;\n"
          "      const int lays = n_m >= %d || n < %d * LANES;\n"
          "      for (int64_t i = 0; lays && i < d; i++) {\n"
          "        float *const to = room + i * %d * LANES;\n"
          "        memcpy(to, b + (p + i) * b_k + j, (size_t)n * sizeof *to);\n"
          "        for (int64_t x = n; x < %d * LANES; x++) to[x] = 0;\n      }\n",
          name, across, deep, across, deep, p->sparse.of - 1, p->sparse.of, FEW, across, across, across);
  fprintf(out,
          "      const float *const from = lays ? room : b + p * b_k + j;\n"
          "      const int64_t pitch = lays ? %d * LANES : b_k, first = p / %lld * part, whole = n_m - n_m %% %d;\n",
          across, deep, rows);
  for (int by = rows; by > 0; by = by > 1 ? 1 : 0)
    fprintf(
        out,
        "      for (int64_t i = %s; i < %s; i += %d) %s_%d(blocks, v + first + i * %lld, at + first + i * %lld, from, "
        "pitch, c + i * c_m + j, c_m, n, add || p > 0);\n",
        by == rows ? "0" : "whole", by == rows ? "whole" : "n_m", by, name, by, each, each);
  fputs("    }\n}\n", out);
}

const char *c_sparse_block(FILE *out, tf_micro *u, const cpu_product *p) {
  char text[96];
  bool anew;
  snprintf(text, sizeof text, "sparse_%d_of_%d_deep%lld_tiles%dx%d", p->sparse.n, p->sparse.of,
           (long long)p->sparse.deep, p->sparse.rows, p->sparse.across);
  const char *name = tf_micro_name(u, text, &anew);
  if (!name || !anew) return name;
  tile(out, p, name, p->sparse.rows);
  if (p->sparse.rows > 1) tile(out, p, name, 1);
  block(out, p, name);
  return name;
}
