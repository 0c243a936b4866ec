/* Prints products that skip the zeros of a: the block product of its nonzero elements, or blocks of
 * them, each broadcast and multiplied by the row of b at its position; the nest; the panels of
 * these elements; and the test for arguments that have too many. */
#include <inttypes.h>

#include "codegen/backend/cpu/print/files.h"
#include "codegen/intrin/tile.h"

/* ---- the block product ---------------------------------------------------------------------- */

static void store(FILE *out, int rows, int across, bool part) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < across; j++) {
      char at[64];
      snprintf(at, sizeof at, "c + %d * c_m + %d * LANES", i, j);
      if (part)
        fprintf(out,
                "    if (n > %d * LANES) vec_store_part(%s, add ? vec_add(vec_load_part(%s, "
                "rest_%d), s%d_%d) : s%d_%d, rest_%d);\n",
                j, at, at, j, i, j, i, j, j);
      else
        fprintf(out, "    vec_store(%s, add ? vec_add(vec_load(%s), s%d_%d) : s%d_%d);\n", at, at,
                i, j, i, j);
    }
}

static void clear_sums(FILE *out, int rows, int across) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < across; j++)
      fprintf(out, "%ss%d_%d = vec_zero()%s", j ? ", " : "  vec ", i, j,
              j + 1 == across ? ";\n" : "");
}

static void store_sums(FILE *out, int rows, int across) {
  fprintf(out, "    }\n  }\n  if (n == %d * LANES) {\n", across);
  store(out, rows, across, false);
  fputs("  } else {\n", out);
  for (int j = 0; j < across; j++)
    fprintf(out, "    const int rest_%d = n < %d * LANES ? (int)(n - %d * LANES) : LANES;\n", j,
            j + 1, j);
  store(out, rows, across, true);
  fputs("  }\n}\n", out);
}

/* Rows of a's blocks, whose columns select the rows `at` of b, by `across` vectors of these. */
static void tile_of_blocks(FILE *out, const cpu_product *p, const char *name) {
  const int across = p->sparse.across, rows = p->sparse.rows;
  fprintf(out,
          "\n"
          "static APART void %s_tile(int64_t blocks, const float *v, const int32_t *at, const "
          "float *b, int64_t pitch, float *c, int64_t c_m, int64_t n, int add) {\n",
          name);
  clear_sums(out, rows, across);
  fprintf(out,
          "  for (int64_t g = 0; g < blocks; g++, v += %d) {\n"
          "    const float *y = b + at[g] * pitch;\n",
          p->sparse.block * p->sparse.block_length);
  fprintf(out, "    for (int e = 0; e < %d; e++, y += pitch) {\n", p->sparse.block_length);
  for (int j = 0; j < across; j++)
    fprintf(out, "      const vec y%d = vec_load(y + %d * LANES);\n", j, j);
  for (int i = 0; i < rows; i++) {
    fprintf(out, "      const vec x%d = vec_splat(v[e * %d + %d]);\n", i, p->sparse.block, i);
    for (int j = 0; j < across; j++)
      fprintf(out, "      s%d_%d = vec_fma(x%d, y%d, s%d_%d);\n", i, j, i, j, i, j);
  }
  store_sums(out, rows, across);
}

/* rows of a by `across` vectors of b, whose row pitch is `pitch`. */
static void tile(FILE *out, const cpu_product *p, const char *name, int rows) {
  const int across = p->sparse.across, n = p->sparse.nonzeros;
  fprintf(out,
          "\n"
          "static APART void %s_%d(int64_t blocks, const float *v, const uint8_t *at, const float "
          "*b, int64_t pitch, float *c, int64_t c_m, int64_t n, int add) {\n",
          name, rows);
  clear_sums(out, rows, across);
  fprintf(out, "  for (int64_t g = 0; g < blocks; g++, v += %d, at += %d, b += %d * pitch) {\n", n,
          n, p->sparse.block_length);
  fprintf(out, "    for (int e = 0; e < %d; e++) {\n", n);
  for (int i = 0; i < rows; i++) {
    fprintf(out,
            "      const vec x%d = vec_splat(v[%lld + e]);\n"
            "      const float *const y%d = b + at[%lld + e] * pitch;\n",
            i, (long long)(i * p->sparse.row_values), i, (long long)(i * p->sparse.row_values));
    for (int j = 0; j < across; j++)
      fprintf(out, "      s%d_%d = vec_fma(x%d, vec_load(y%d + %d * LANES), s%d_%d);\n", i, j, i, i,
              j, i, j);
  }
  store_sums(out, rows, across);
}

/* A part of k, d deep, of such columns by all rows. */
static void rows_of(FILE *out, const cpu_product *p, const char *name) {
  const int rows = p->sparse.rows;
  const long long deep = p->sparse.deep, each = p->sparse.row_values;
  fprintf(out,
          "      const int64_t blocks = (d + %d) / %d, first = p / %lld * part, whole = n_m - n_m "
          "%% %d;\n",
          p->sparse.block_length - 1, p->sparse.block_length, deep, rows);
  for (int by = rows; by > 0; by = by > 1 ? 1 : 0)
    fprintf(out,
            "      for (int64_t i = %s; i < %s; i += %d) %s_%d(blocks, v + first + i * %lld, at + "
            "first + i * %lld, from, pitch, c + i * c_m + j, c_m, n, add || p > 0);\n",
            by == rows ? "0" : "whole", by == rows ? "whole" : "n_m", by, name, by, each, each);
}

static void rows_of_blocks(FILE *out, const cpu_product *p, const char *name) {
  fprintf(out,
          "      for (int64_t i = 0; i < n_m; i += %d) {\n"
          "        const int32_t *const of = start + p / %lld * part + i / %d;\n"
          "        for (int64_t r = 0; r < %d; r += %d) %s_tile(of[1] - of[0], v + (int64_t)of[0] "
          "* %d + r, at + of[0], from, pitch, c + (i + r) * c_m + j, c_m, n, add || p > 0);\n"
          "      }\n",
          p->sparse.block, (long long)p->sparse.deep, p->sparse.block, p->sparse.block,
          p->sparse.rows, name, p->sparse.block * p->sparse.block_length);
}

/* Columns of a tile, part of k by part: if enough rows use them, or there are fewer than a tile
 * has, they are copied side by side first. */
static void block(FILE *out, const cpu_product *p, const char *name) {
  enum { FEW = 8 };
  const int across = p->sparse.across;
  const long long deep = p->sparse.deep;
  fprintf(out,
          "\n"
          "static APART void %s(int64_t n_m, int64_t n_n, int64_t n_k, const float *v, %s, int64_t "
          "part, const float *b, int64_t b_k, float *c, int64_t c_m, int add, float *room) {\n"
          "  for (int64_t j = 0; j < n_n; j += %d * LANES)\n"
          "    for (int64_t p = 0; p < n_k; p += %lld) {\n"
          "      const int64_t n = least(%d * LANES, n_n - j), d = least(%lld, n_k - p);\n"
          "      const int lays = n_m >= %d || n < %d * LANES;\n"
          "      for (int64_t i = 0; lays && i < d; i++) {\n"
          "        float *const to = room + i * %d * LANES;\n"
          "        memcpy(to, b + (p + i) * b_k + j, (size_t)n * sizeof *to);\n"
          "        for (int64_t x = n; x < %d * LANES; x++) to[x] = 0;\n      }\n",
          name, p->sparse.block ? "const int32_t *start, const int32_t *at" : "const uint8_t *at",
          across, deep, across, deep, FEW, across, across, across);
  fprintf(out,
          "      const float *const from = lays ? room : b + p * b_k + j;\n"
          "      const int64_t pitch = lays ? %d * LANES : b_k;\n",
          across);
  (p->sparse.block ? rows_of_blocks : rows_of)(out, p, name);
  fputs("    }\n}\n", out);
}

static const char *block_product(FILE *out, tf_micro *u, const cpu_product *p) {
  char text[96];
  bool anew;
  if (p->sparse.block)
    snprintf(text, sizeof text, "sparse_blocks%dx%d_deep%lld_tiles%dx%d", p->sparse.block,
             p->sparse.block_length, (long long)p->sparse.deep, p->sparse.rows, p->sparse.across);
  else
    snprintf(text, sizeof text, "sparse_%d_of_%d_deep%lld_tiles%dx%d", p->sparse.nonzeros,
             p->sparse.block_length, (long long)p->sparse.deep, p->sparse.rows, p->sparse.across);
  const char *name = tf_micro_name(u, text, &anew);
  if (!name || !anew) return name;
  if (p->sparse.block) tile_of_blocks(out, p, name);
  if (!p->sparse.block) tile(out, p, name, p->sparse.rows);
  if (!p->sparse.block && p->sparse.rows > 1) tile(out, p, name, 1);
  block(out, p, name);
  return name;
}

/* ---- the nest and its panels ---------------------------------------------------------------- */

/* Values from one part of k to the next; of blocks: their rows. */
static int64_t part_of(const c_printer *c, const tf_op *op, const cpu_product *p) {
  const int64_t rows = c->wl->dims[op->dims[p->m]].extent;
  return p->sparse.block ? rows / p->sparse.block : rows * p->sparse.row_values;
}

/* Packs the nonzero blocks one after the other, without a branch: a zero block is overwritten by
 * the next one. */
static void pack_blocks(c_printer *c, const tf_op *op, const cpu_product *p) {
  const char *m = c_dim_name(c, op, p->m), *k = c_dim_name(c, op, p->k);
  const int64_t rows = c->wl->dims[op->dims[p->m]].extent, all = c->wl->dims[op->dims[p->k]].extent,
                at = c->offset[p->sparse.panels];
  const int block = p->sparse.block, of = p->sparse.block_length;
  fprintf(c->out,
          "  {\n    int32_t *const start = (int32_t *)(void *)(packed + %" PRId64
          "), *const column = start + %" PRId64 ";\n    int32_t many = 0, next = 0;\n",
          at + p->sparse.values, p->sparse.starts);
  fprintf(c->out,
          "    for (int64_t part = 0; part < %" PRId64 "; part += %" PRId64
          ")\n      for (int64_t row = 0; row < %" PRId64
          "; row += %d) {\n        start[next++] = many;\n",
          all, p->sparse.deep, rows, block);
  fprintf(c->out,
          "        for (int64_t from = part; from < least(part + %" PRId64 ", %" PRId64
          "); from += %d) {\n"
          "          float *const v = packed + %" PRId64
          " + (int64_t)many * %d;\n          int any = 0;\n",
          p->sparse.deep, all, of, at, block * of);
  fprintf(c->out,
          "          for (int64_t d_%s = row; d_%s < row + %d; d_%s++)\n"
          "            for (int64_t d_%s = from; d_%s < from + %d; d_%s++) {\n"
          "              const float x = ",
          m, m, block, m, k, k, of, k);
  c_element_as(c, op, p->a, IR_F32);
  fprintf(c->out,
          ";\n              v[(d_%s - from) * %d + d_%s - row] = x;\n"
          "              any |= x != 0.0f;\n            }\n"
          "          column[many] = (int32_t)(from - part);\n          many += any;\n"
          "        }\n      }\n"
          "    start[next] = many;\n  }\n",
          k, block, m);
}

void c_pack_sparse(c_printer *c, const cpu_pack *pack) {
  if (pack->product->sparse.block) {
    pack_blocks(c, &c->wl->ops[pack->op], pack->product);
    return;
  }
  const cpu_product *p = pack->product;
  const tf_op *op = &c->wl->ops[pack->op];
  const char *m = c_dim_name(c, op, p->m), *k = c_dim_name(c, op, p->k);
  const int64_t rows = c->wl->dims[op->dims[p->m]].extent, all = c->wl->dims[op->dims[p->k]].extent,
                deep = p->sparse.deep, at = c->offset[p->sparse.panels];
  const int n = p->sparse.nonzeros, of = p->sparse.block_length;
  if (ir_has_parallel(&c->p->body))
    fputs("#if defined(_OPENMP)\n"
          "#pragma omp parallel for schedule(static) reduction(| : broken)\n#endif\n",
          c->out);
  c_indent(c);
  fprintf(c->out, "for (int64_t d_%s = 0; d_%s < %" PRId64 "; d_%s++)\n", m, m, rows, m);
  c->depth++;
  c_indent(c);
  fprintf(c->out, "for (int64_t part = 0; part < %" PRId64 "; part += %" PRId64 ") {\n", all, deep);
  c->depth++;
  c_indent(c);
  fprintf(c->out, "const int64_t first = part / %" PRId64 " * %" PRId64 " + d_%s * %" PRId64 ";\n",
          deep, part_of(c, op, p), m, p->sparse.row_values);
  c_indent(c);
  fprintf(c->out,
          "float *v = packed + %" PRId64
          " + first;\n    uint8_t *at = (uint8_t *)(void *)(packed + %" PRId64 ") + first;\n",
          at, at + p->sparse.values);
  c_indent(c);
  fprintf(c->out,
          "for (int64_t from = part; from < least(part + %" PRId64 ", %" PRId64
          "); from += %d, v += %d, at += %d) {\n",
          deep, all, of, n, n);
  c->depth++;
  c_indent(c);
  fprintf(c->out, "const int64_t end = least(from + %d, %" PRId64 ");\n", of, all);
  c_indent(c);
  fprintf(c->out, "float value[%d];\n", of);
  c_indent(c);
  fprintf(c->out, "uint8_t place[%d];\n", of);
  c_line(c, "int count = 0;\n");
  c_indent(c);
  fprintf(c->out, "for (int64_t d_%s = from; d_%s < end; d_%s++) { /* without a branch */\n", k, k,
          k);
  c_line(c, "  value[count] = "), c_element_as(c, op, p->a, IR_F32), fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "  place[count] = (uint8_t)(d_%s - from);\n", k);
  c_line(c, "  count += value[count] != 0.0f;\n");
  c_line(c, "}\n");
  c_indent(c);
  fprintf(c->out, "broken |= count > %d;\n", n);
  c_indent(c);
  fprintf(c->out,
          "for (int e = 0; e < %d; e++) v[e] = e < count ? value[e] : 0.0f, at[e] = e < count ? "
          "place[e] : 0;\n",
          n);
  c_close(c, 2);
  c->depth--;
}

static void call(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const char *name = block_product(c->blocks, c->micro, p), *m = c_dim_name(c, op, p->m),
             *k = c_dim_name(c, op, p->k);
  if (!name) {
    c->failed = true;
    return;
  }
  c_indent(c);
  fprintf(c->out, "const int64_t first = d_%s / %" PRId64 " * %" PRId64 " + d_%s %s %" PRId64 ";\n",
          k, p->sparse.deep, part_of(c, op, p), m, p->sparse.block ? "/" : "*",
          p->sparse.block ? p->sparse.block : p->sparse.row_values);
  c_indent(c);
  fprintf(c->out, "%s(n_m, n_n, n_k, ", name), c_pack_name(c, p->sparse.panels);
  if (p->sparse.block) {
    fputs(", (const int32_t *)(const void *)(", c->out), c_pack_name(c, p->sparse.panels);
    fprintf(c->out, " + %" PRId64 ") + first, (const int32_t *)(const void *)(", p->sparse.values);
    c_pack_name(c, p->sparse.panels);
    fprintf(c->out, " + %" PRId64 "), %" PRId64 ", &", p->sparse.values + p->sparse.starts,
            part_of(c, op, p));
  } else {
    fputs(" + first, (const uint8_t *)(const void *)(", c->out), c_pack_name(c, p->sparse.panels);
    fprintf(c->out, " + %" PRId64 ") + first, %" PRId64 ", &", p->sparse.values, part_of(c, op, p));
  }
  c_place(c, op, p->b), fputs(", ", c->out), c_step(c, op, p->b, op->dims[p->k]);
  fputs(", &", c->out), c_place(c, op, -1);
  fputs(", ", c->out), c_step(c, op, -1, op->dims[p->m]);
  fputs(", add, ", c->out), c_pack_name(c, p->sparse.part_buffer), fputs(");\n", c->out);
}

void c_sparse(c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  const cpu_product *p = cpu_of(s)->product;
  c_line(c, "{ /* ");
  fprintf(c->out, "%s: elements of %s that are not zero by rows of %s */\n", op->name,
          c->wl->tensors[op->reads[p->a].tensor].name, c->wl->tensors[op->reads[p->b].tensor].name);
  c->depth++;
  c_origin(c, op, s, p->m);
  c_origin(c, op, s, p->n);
  c_origin(c, op, s, p->k);
  c_line(c, "const int64_t n_m = "), c_length(c, &s->range[p->m]);
  fputs(", n_n = ", c->out), c_length(c, &s->range[p->n]);
  fputs(", n_k = ", c->out), c_length(c, &s->range[p->k]), fputs(";\n", c->out);
  for (int k = 0; k < op->n_dims; k++)
    if (!cpu_is_matrix(p, k)) c_loop(c, op, s, k);
  c_line(c, "if (n_k > 0) {\n");
  c->depth++;
  c_add_flag(c, op, s);
  call(c, op, s);
  c_close(c, 1);
  for (int k = 0; k < op->n_dims; k++)
    if (!cpu_is_matrix(p, k)) c_close(c, 1);
  c_close(c, 1);
}

/* ---- arguments with too many nonzero elements ------------------------------------------------ */

static const cpu_product *product_at(const ir_program *p, int i) {
  const bool ours = p->notes[i]->owner == &cpu_no_note; /* another target has packs of its own */
  return ours && cpu_pack_at(p, i)->product->kind == CPU_SPARSE ? cpu_pack_at(p, i)->product : NULL;
}

bool c_has_sparse(const ir_program *p) {
  bool any = false;
  for (int i = 0; i < p->n_notes; i++)
    any |= product_at(p, i) && !product_at(p, i)->sparse.block;
  return any;
}

bool c_has_blocks(const ir_program *p) {
  bool any = false;
  for (int i = 0; i < p->n_notes; i++)
    any |= product_at(p, i) && product_at(p, i)->sparse.block;
  return any;
}

/* The tensor of the i-th pack, if that is of such a product, and the first one of the tensor; else
 * NULL. */
static const tf_tensor *tensor_at(const c_package *k, int i) {
  const tf_tensor *z =
      product_at(k->p, i) && !product_at(k->p, i)->sparse.block ? c_packed_tensor(k, i) : NULL;
  for (int e = 0; e < i && z; e++)
    if (product_at(k->p, e) && c_packed_tensor(k, e) == z) return NULL;
  return z;
}

void c_misfit_h(FILE *out, const c_package *k) {
  const tf_workload *wl = k->p->tree->workload;
  fputs("/* Multiplies what is not zero alone of", out);
  for (int i = 0; i < k->p->n_notes; i++) {
    const tf_tensor *z = tensor_at(k, i);
    const cpu_product *p = product_at(k->p, i);
    if (z)
      fprintf(out, " %s (at most %d of every %d along %s)", z->name, p->sparse.nonzeros,
              p->sparse.block_length, wl->dims[wl->ops[cpu_pack_at(k->p, i)->op].dims[p->k]].name);
  }
  fprintf(out,
          ".  A call with more returns\n"
          " * %s_bad_pattern, as does one that packs; %s_misfit then returns the argument's name, "
          "and in `at` the coordinates of the\n"
          " * first element too many; NULL: there is none.  What a zero would have been multiplied "
          "by is not read: it may be infinite,\n"
          " * or no number. */\n"
          "const char *%s_misfit(const %s_args *args, int64_t at[2]);\n\n",
          k->name, k->name, k->name, k->name);
}

static void find(FILE *out, const tf_tensor *z) {
  const int r = z->density.rank;
  fprintf(out,
          "  for (int64_t row = 0; row < %" PRId64 "; row++)\n"
          "    for (int64_t from = 0; from < %" PRId64 "; from += %" PRId64
          ") {\n      int count = 0;\n"
          "      for (int64_t x = from; x < from + %" PRId64 " && x < %" PRId64
          "; x++)\n        if (args->",
          z->extent[1 - r], z->extent[r], z->density.m, z->density.m, z->extent[r]);
  c_field(out, z->name), fprintf(out, "[%s * args->", r ? "row" : "x"),
      c_stride_field(out, z->name);
  fprintf(out,
          "[0] + %s] != 0.0f && ++count > %" PRId64
          ") {\n          at[%d] = x, at[%d] = row;\n          return \"%s\";\n        }\n    }\n",
          r ? "x" : "row", z->density.n, r, 1 - r, z->name);
}

void c_misfit(FILE *out, const c_package *k) {
  fprintf(out, "\nconst char *%s_misfit(const %s_args *args, int64_t at[2]) {\n", k->name, k->name);
  for (int i = 0; i < k->p->n_notes; i++)
    if (tensor_at(k, i)) find(out, tensor_at(k, i));
  fputs("  return NULL;\n}\n", out);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static const char drawn[] =
    "static unsigned long long drawn(unsigned long long i) {\n"
    "  unsigned long long u = (i + 1) * 0x9e3779b97f4a7c15ULL;\n"
    "  u = (u ^ u >> 31) * 0x9e3779b97f4a7c15ULL;\n  return u ^ u >> 29;\n}\n\n";
static const char kept[] =
    "/* Whether element i is one of the n of every m along a rank that are not zero: those of the "
    "n least numbers drawn. */\n"
    "static int kept(unsigned long long i, unsigned long long step, unsigned long long extent, "
    "unsigned n, unsigned m) {\n"
    "  const unsigned long long at = i / step % extent % m, first = i - at * step;\n"
    "  unsigned before = 0;\n"
    "  for (unsigned e = 0; e < m; e++) before += drawn(first + e * step) < drawn(i);\n"
    "  return before < n;\n}\n\n";
static const char kept_block[] =
    "/* Whether element i is in a block, high by across, of which the number drawn is less than "
    "`least` of 2^24. */\n"
    "static int kept_block(unsigned long long i, unsigned long long wide, unsigned high, unsigned "
    "across, unsigned least) {\n"
    "  return drawn(i / wide / high * (wide / across) + i % wide / across) >> 40 < least;\n}\n\n";

void c_kept_text(FILE *out, const c_package *k) {
  if (c_has_sparse(k->p) || c_has_blocks(k->p)) fputs(drawn, out);
  if (c_has_sparse(k->p)) fputs(kept, out);
  if (c_has_blocks(k->p)) fputs(kept_block, out);
}

bool c_is_thinned(const c_package *k, const tf_tensor *z) {
  if (!c_is_input(z)) return false;
  return z->density.fall == TF_FALL_TILES ? z->rank == 2 && c_has_blocks(k->p)
                                          : z->density.fall == TF_FALL_BLOCKS && c_has_sparse(k->p);
}

void c_kept(FILE *out, const tf_tensor *z) {
  int64_t step = 1;
  if (z->density.fall == TF_FALL_TILES) {
    fprintf(out, "kept_block((unsigned long long)i, %" PRId64 ", %" PRId64 ", %" PRId64 ", %d)",
            z->extent[1], z->density.tile[0], z->density.tile[1],
            (int)(z->density.share * (1 << 24)));
    return;
  }
  for (int r = z->rank - 1; r > z->density.rank; r--)
    step *= z->extent[r];
  fprintf(out, "kept((unsigned long long)i, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ")",
          step, z->extent[z->density.rank], z->density.n, z->density.m);
}

/* Makes elements 0 .. n of the last row nonzero, if they are in one block. */
static void spoil(FILE *out, const c_package *k, const tf_tensor *z) {
  const int r = z->density.rank;
  const int64_t n = z->density.n, row = z->extent[1 - r] - 1;
  const char *at = r ? "row * s + x" : "x * s + row", *name = k->name;
  if (n >= z->density.m || n >= z->extent[r]) return;
  fputs("  {\n    const int64_t s = args.", out), c_stride_field(out, z->name);
  fprintf(out,
          "[0], row = %" PRId64 ";\n    int64_t at[2] = {-1, -1};\n"
          "    if (%s_misfit(&args, at)) puts(\"%s: an element too many is found where there is "
          "none\"), bad = 1;\n"
          "    for (int64_t x = 0; x <= %" PRId64 "; x++) k_%s[%s] = 1;\n"
          "    const char *const of = %s_misfit(&args, at);\n"
          "    if (!of || strcmp(of, \"%s\") || at[%d] != %" PRId64
          " || at[%d] != row || %s(&args, workspace, bytes) != %s_bad_pattern)\n"
          "      puts(\"%s: an element too many is not found\"), bad = 1;\n",
          row, name, z->name, n, z->name, at, name, z->name, r, n, 1 - r, name, name, z->name);
  if (c_packs(k))
    fprintf(out,
            "    void *room_for_it = room(%s_packed(), 1);\n"
            "    if (%s_pack(&args, room_for_it, %s_packed()) != %s_bad_pattern) puts(\"%s: an "
            "element too many is packed\"), bad = 1;\n"
            "    free(room_for_it);\n",
            name, name, name, name, z->name);
  fprintf(out, "    for (int64_t x = 0; x <= %" PRId64 "; x++) k_%s[%s] = 0;\n  }\n", n, z->name,
          at);
}

void c_misfit_test(FILE *out, const c_package *k) {
  for (int i = 0; i < k->p->n_notes; i++)
    if (tensor_at(k, i)) spoil(out, k, tensor_at(k, i));
}
