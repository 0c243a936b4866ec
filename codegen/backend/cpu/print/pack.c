/* Packs operands of a product, in the layout that its kernel wants. */
#include <inttypes.h>

#include "codegen/backend/cpu/print/print.h"

/* Opens a block that is entered only if `buffer` does not hold the box yet; a and b: the lengths of
 * it that may vary. */
static void open_kept(c_printer *c, const tf_op *op, int read, int buffer, const char *a,
                      const char *b) {
  const char *const at = c->p->buffers[buffer].slots > 1 ? "[place]" : "";
  char name[96];
  snprintf(name, sizeof name, "%s_pack%d", c->p->buffers[buffer].id, buffer);
  c_indent(c);
  fprintf(c->out, "const %s *const from = &", c_type(c_buffer(c, op, read)->type));
  c_place(c, op, read);
  fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "if (from != %s_of%s || %s != %s_%s%s || %s != %s_%s%s) {\n", name, at, a, name,
          a + 2, at, b, name, b + 2, at);
  c->depth++;
  c_indent(c);
  fprintf(c->out, "%s_of%s = from, %s_%s%s = %s, %s_%s%s = %s;\n", name, at, name, a + 2, at, a,
          name, b + 2, at, b);
}

static void open_count(c_printer *c, const char *var, const char *text) {
  c_indent(c);
  fprintf(c->out, "for (int64_t %s = %s) {\n", var, text);
  c->depth++;
}

/* Whether groups of k are whole words that lie side by side along k in b, each n in a row of its
 * own, so that packing is a transposition of words. */
static bool transposes(const c_printer *c, const tf_op *op, const cpu_product *p) {
  const tf_ref *ref = &op->reads[p->b];
  const ir_buffer *b = c_buffer(c, op, p->b);
  if (b->type != p->kernel->b || ir_bytes(b->type) * p->kernel->group != 4 || b->rank < 2)
    return false;
  const tf_index *last = &ref->index[b->rank - 1];
  bool along =
      last->n_terms == 1 && last->terms[0].coef == 1 && last->terms[0].dim == op->dims[p->k];
  int n = 0;
  for (int r = 0; r < b->rank; r++) {
    along &= c->wl->tensors[ref->tensor].pad[r] == 0;
    for (int t = 0; t < ref->index[r].n_terms; t++) {
      n += ref->index[r].terms[t].dim == op->dims[p->n];
      along &= r == b->rank - 1 || ref->index[r].terms[t].dim != op->dims[p->k];
    }
  }
  return along && n == 1;
}

/* Transposes the whole groups; row: elements of a row of groups. */
static void transpose_panel(c_printer *c, const tf_op *op, const cpu_product *p, const char *row) {
  const int bytes = ir_bytes(p->kernel->b);
  c_line(c, "transpose_words(&"), c_place(c, op, p->b);
  fprintf(c->out, ", (int64_t)%d * (", bytes), c_step(c, op, p->b, op->dims[p->n]);
  fputs("), ", c->out), c_pack_name(c, p->pack);
  fprintf(c->out, ", 4 * %s, n_n, n_k / %d);\n", row, p->kernel->group);
}

/* One row of k, of b's box at the current setting of the outer dims, with rows of n side by
 * side. */
static void plain_panel(c_printer *c, const tf_op *op, const cpu_product *p) {
  if (transposes(c, op, p)) {
    transpose_panel(c, op, p, "n_wide");
    return;
  }
  const char *n = c_dim_name(c, op, p->n), *k = c_dim_name(c, op, p->k);
  open_count(c, "p", "0; p < n_k; p++");
  open_count(c, "q", "0; q < n_n; q++");
  c_indent(c);
  fprintf(c->out, "const int64_t d_%s = o_%s + q, d_%s = o_%s + p;\n", n, n, k, k);
  c_indent(c);
  c_pack_name(c, p->pack), fputs("[p * n_wide + q] = ", c->out),
      c_element_as(c, op, p->b, p->kernel->b), fputs(";\n", c->out);
  c_close(c, 2);
}

/* Groups of k for each n; `most` elements of a group exist, the others are zero. */
static void group_row(c_printer *c, const tf_op *op, const cpu_product *p, bool whole) {
  const char *n = c_dim_name(c, op, p->n), *k = c_dim_name(c, op, p->k);
  int g = p->kernel->group;
  open_count(c, "q", "0; q < n_n; q++");
  c_indent(c);
  fprintf(c->out, "const int64_t d_%s = o_%s + q;\n", n, n);
  for (int e = 0; e < g; e++) {
    c_line(c, "{\n");
    c->depth++;
    c_indent(c);
    fprintf(c->out, "const int64_t d_%s = o_%s + p + %d;\n", k, k, e);
    c_indent(c);
    fprintf(c->out, "row[q * %d + %d] = ", g, e);
    if (!whole && e) fprintf(c->out, "p + %d >= n_k ? 0 : ", e);
    c_element_as(c, op, p->b, p->kernel->b), fputs(";\n", c->out);
    c_close(c, 1);
  }
  c_close(c, 1);
}

/* Whether the kernel's functions can interleave rows of b: these have the kernel's type and are
 * contiguous along n. */
static bool can_interleave_rows(const c_printer *c, const tf_op *op, const cpu_product *p) {
  const tf_ref *ref = &op->reads[p->b];
  const ir_buffer *b = c_buffer(c, op, p->b);
  const bool type = p->kernel->c == IR_I32 ? ir_is_byte(b->type) : b->type == IR_BF16;
  if (tf_micro_kernel_of(p->kernel)->form != TF_MICRO_VECTORS || !type || p->stride != 1)
    return false;
  bool plain = b->block.length == 0;
  for (int r = 0; r < b->rank; r++)
    plain &= c->wl->tensors[ref->tensor].pad[r] == 0;
  return plain;
}

static void interleaved_group_row(c_printer *c, const tf_op *op, const cpu_product *p) {
  const bool ints = p->kernel->c == IR_I32;
  const ir_type type = c_buffer(c, op, p->b)->type;
  const char *n = c_dim_name(c, op, p->n), *k = c_dim_name(c, op, p->k);
  c_indent(c);
  fprintf(c->out, "const int64_t d_%s = o_%s, d_%s = o_%s + p;\n", n, n, k, k);
  c_line(c, "const "), fprintf(c->out, "%s *const from = &", c_type(type)), c_place(c, op, p->b);
  fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "%s(row", ints ? tf_micro_beside(p->kernel, type) : "bf16_pairs_of_bf16");
  for (int e = 0; e < p->kernel->group; e++)
    fprintf(c->out, ", from + %d * (", e), c_step(c, op, p->b, op->dims[p->k]), fputc(')', c->out);
  fputs(ints ? ", n_n, 0);\n" : ", n_n);\n", c->out);
}

/* fills: the groups themselves are printed, too, not only the zeros after them. */
static void row_of_groups(c_printer *c, const tf_op *op, const cpu_product *p, bool whole,
                          bool fills) {
  const char *type = c_type(p->kernel->b);
  c_indent(c);
  fprintf(c->out, "%s *const row = ", type), c_pack_name(c, p->pack),
      fputs(" + p * n_wide;\n", c->out);
  if (fills && whole && can_interleave_rows(c, op, p))
    interleaved_group_row(c, op, p);
  else if (fills)
    group_row(c, op, p, whole);
  c_indent(c);
  fprintf(c->out, "for (int64_t q = n_n * %d; q < n_wide * %d; q++) row[q] = 0;\n",
          p->kernel->group, p->kernel->group);
}

const char *c_excess(c_printer *c, const cpu_product *p) {
  const char *name = tf_micro_excess(c->blocks, c->micro, p->kernel);
  c->failed |= !name;
  return name ? name : "";
}

static void grouped_panel(c_printer *c, const tf_op *op, const cpu_product *p) {
  c_line(c, "int64_t p = 0;\n");
  const bool transposed = transposes(c, op, p);
  if (transposed) transpose_panel(c, op, p, "n_wide");
  c_indent(c);
  fprintf(c->out, "for (; p + %d <= n_k; p += %d) {\n", p->kernel->group, p->kernel->group);
  c->depth++;
  row_of_groups(c, op, p, true, !transposed);
  c_close(c, 1);
  c_indent(c);
  fprintf(c->out, "for (; p < n_k; p += %d) {\n", p->kernel->group);
  c->depth++;
  row_of_groups(c, op, p, false, true);
  c_close(c, 1);
  c_line(c, "for (int64_t q = p * n_wide; q < k_wide * n_wide; q++) ");
  c_pack_name(c, p->pack), fputs("[q] = 0;\n", c->out);
  if (!p->kernel->lifts) return;
  c_indent(c);
  fprintf(c->out, "%s(k_wide / %d, ", c_excess(c, p), p->kernel->group);
  c_pack_name(c, p->pack), fputs(", n_wide, (int32_t *)(void *)(", c->out);
  c_pack_name(c, p->pack), fputs(" + k_wide * n_wide));\n", c->out);
}

void c_pack_panel(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  c_line(c, "{\n");
  c->depth++;
  if (p->pairs.keep_pack) open_kept(c, op, p->b, p->pack, "n_k", "n_n");
  if (p->kernel->group == 1)
    plain_panel(c, op, p);
  else
    grouped_panel(c, op, p);
  c_close(c, 1 + p->pairs.keep_pack);
}

/* ---- panels that a caller may have ---------------------------------------------------------- */

bool c_offers(const c_printer *c, const cpu_product *p) {
  return c->offers && p->kind == CPU_PAIRS && p->pairs.panels >= 0;
}

/* Numbers of panels along n and k. */
static int64_t panels_across(const c_printer *c, const tf_op *op, const cpu_product *p) {
  return (c->wl->dims[op->dims[p->n]].extent + p->pairs.columns - 1) / p->pairs.columns;
}
static int64_t panels_down(const c_printer *c, const tf_op *op, const cpu_product *p) {
  return c->wl->dims[op->dims[p->k]].extent / p->pairs.deep;
}

/* The position among the op's dims of the one that moves rank r of b. */
static int dim_of(const tf_op *op, const cpu_product *p, int r) {
  int k = 0;
  while (op->dims[k] != op->reads[p->b].index[r].terms[0].dim)
    k++;
  return k;
}

static void print_moved_dim(c_printer *c, const tf_op *op, int k, const int64_t *shift) {
  const char *dim = c_dim_name(c, op, k);
  if (shift && shift[k])
    fprintf(c->out, " + (d_%s + %" PRId64 ")", dim, shift[k]);
  else
    fprintf(c->out, " + d_%s", dim);
}

void c_offered_at(c_printer *c, const tf_op *op, const cpu_product *p, const int64_t *shift) {
  const int64_t words = cpu_panel_words(p, p->pairs.deep), parts = panels_down(c, op, p);
  int64_t step = words * parts * panels_across(c, op, p);
  c_pack_name(c, p->pairs.panels);
  for (int r = c_buffer(c, op, p->b)->rank - 1; r >= 0; r--) {
    const int k = dim_of(op, p, r);
    if (cpu_is_matrix(p, k)) continue;
    print_moved_dim(c, op, k, shift);
    fprintf(c->out, " * %" PRId64, step);
    step *= c->wl->dims[op->dims[k]].extent;
  }
  print_moved_dim(c, op, p->n, shift);
  fprintf(c->out, " / %" PRId64 " * %" PRId64, p->pairs.columns, words * parts);
  print_moved_dim(c, op, p->k, shift);
  if (parts > 1)
    fprintf(c->out, " / %" PRId64 " * %" PRId64, p->pairs.deep, words);
  else
    fprintf(c->out, " * %" PRId64, p->pairs.pitch);
}

/* Prints the place in b at which panel `block` begins. */
static void place_of_block(c_printer *c, const tf_op *op, const cpu_product *p) {
  const char *n = c_dim_name(c, op, p->n), *k = c_dim_name(c, op, p->k);
  int64_t blocks = panels_down(c, op, p);
  c_indent(c);
  fprintf(c->out, "const int64_t o_%s = block %% %" PRId64 " * %" PRId64 ", d_%s = o_%s", k, blocks,
          p->pairs.deep, k, k);
  fprintf(c->out, ", o_%s = block / %" PRId64 " %% %" PRId64 " * %" PRId64 ", d_%s = o_%s", n,
          blocks, panels_across(c, op, p), p->pairs.columns, n, n);
  blocks *= panels_across(c, op, p);
  for (int r = c_buffer(c, op, p->b)->rank - 1; r >= 0; r--) {
    const int64_t extent = c->wl->dims[op->dims[dim_of(op, p, r)]].extent;
    if (cpu_is_matrix(p, dim_of(op, p, r))) continue;
    fprintf(c->out, ", d_%s = block / %" PRId64 " %% %" PRId64, c_dim_name(c, op, dim_of(op, p, r)),
            blocks, extent);
    blocks *= extent;
  }
  fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "(void)d_%s, (void)d_%s, (void)o_%s, (void)o_%s;\n", n, k, n, k);
}

/* Packs each panel as the nest would. */
void c_pack_offered(c_printer *c, const cpu_pack *pack) {
  const tf_op *op = &c->wl->ops[pack->op];
  cpu_product p = *pack->product;
  p.pack = p.pairs.panels;
  const char *n = c_dim_name(c, op, p.n), *k = c_dim_name(c, op, p.k), *type = c_type(p.kernel->b);
  const int64_t words = cpu_panel_words(&p, p.pairs.deep), round = p.kernel->k_round;
  if (ir_has_parallel(&c->p->body)) /* with one core in the mapping, packing stays on one, too */
    fputs("#if defined(_OPENMP)\n#pragma omp parallel for schedule(static)\n#endif\n", c->out);
  c_indent(c);
  fprintf(c->out, "for (int64_t block = 0; block < %" PRId64 "; block++) {\n",
          c->p->buffers[p.pack].words / words);
  c->depth++;
  place_of_block(c, op, &p);
  c_indent(c);
  fprintf(c->out,
          "const int64_t n_n = least(%" PRId64 ", %" PRId64 " - o_%s), n_k = least(%" PRId64
          ", %" PRId64 " - o_%s), n_wide = %" PRId64 ", k_wide = %" PRId64 ";\n",
          p.pairs.columns, c->wl->dims[op->dims[p.n]].extent, n, p.pairs.deep,
          c->wl->dims[op->dims[p.k]].extent, k, p.pairs.pitch,
          (p.pairs.deep + round - 1) / round * round);
  c_indent(c);
  fprintf(c->out, "%s *const ", type), c_pack_name(c, p.pack);
  fprintf(c->out, " = (%s *)(void *)(packed + %" PRId64 ") + block * %" PRId64 ";\n", type,
          c->offset[p.pack], words);
  c_line(c, "(void)k_wide, (void)n_wide;\n");
  if (p.kernel->group == 1)
    plain_panel(c, op, &p);
  else
    grouped_panel(c, op, &p);
  c_close(c, 1);
}

bool c_keeps_copy(const cpu_product *p) { return p->pairs.keep_copy || p->pairs.copy_in; }

/* Whether rows of a are bytes that are the kernel's words without conversion. */
static bool are_bytes(const c_printer *c, const tf_op *op, const cpu_product *p) {
  const ir_buffer *b = c_buffer(c, op, p->a);
  bool plain = ir_is_byte(b->type) && p->kernel->c == IR_I32 && b->block.length == 0;
  for (int r = 0; r < b->rank; r++)
    plain &= c->wl->tensors[op->reads[p->a].tensor].pad[r] == 0;
  return plain;
}

/* Copies n of them along k, from the point on, to `row`; whether they are contiguous is known at
 * run time. */
static void row_of_bytes(c_printer *c, const tf_op *op, const cpu_product *p, const char *n) {
  c_indent(c);
  fprintf(c->out, "const %s *const of = &", c_type(c_buffer(c, op, p->a)->type)),
      c_place(c, op, p->a);
  fputs(";\n", c->out);
  c_line(c, "const int64_t step = "), c_step(c, op, p->a, op->dims[p->k]), fputs(";\n", c->out);
  c_line(c, "if (step == 1) {\n");
  c_line(c, "  #pragma omp simd\n");
  c_indent(c);
  fprintf(c->out, "  for (int64_t i = 0; i < %s; i++) row[i] = of[i];\n", n);
  c_line(c, "} else {\n");
  c_indent(c);
  fprintf(c->out, "  for (int64_t i = 0; i < %s; i++) row[i] = of[i * step];\n", n);
  c_line(c, "}\n");
}

void c_copy_rows(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const char *m = c_dim_name(c, op, p->m), *k = c_dim_name(c, op, p->k);
  c_line(c, "{\n");
  c->depth++;
  const bool kept = c_keeps_copy(p);
  if (kept) open_kept(c, op, p->a, p->pairs.copy, "n_k", "n_m");
  open_count(c, "i", "0; i < n_m; i++");
  c_indent(c);
  fprintf(c->out, "const int64_t d_%s = o_%s + i;\n", m, m);
  c_indent(c);
  fprintf(c->out, "%s *const row = ", c_type(p->kernel->a)), c_pack_name(c, p->pairs.copy),
      fputs(" + i * k_wide;\n", c->out);
  if (are_bytes(c, op, p)) {
    c_indent(c);
    fprintf(c->out, "const int64_t d_%s = o_%s;\n", k, k);
    row_of_bytes(c, op, p, "n_k");
  } else {
    open_count(c, "p", "0; p < n_k; p++");
    c_indent(c);
    fprintf(c->out, "const int64_t d_%s = o_%s + p;\n", k, k);
    c_line(c, "row[p] = "), c_element_as(c, op, p->a, p->kernel->a), fputs(";\n", c->out);
    c_close(c, 1);
  }
  if (p->kernel->k_round > 1) c_line(c, "for (int64_t p = n_k; p < k_wide; p++) row[p] = 0;\n");
  c_close(c, 1);
  if (p->kernel->m_round > 1) {
    c_line(c, "for (int64_t i = n_m * k_wide; i < m_wide * k_wide; i++) ");
    c_pack_name(c, p->pairs.copy), fputs("[i] = 0;\n", c->out);
  }
  c_close(c, 1 + kept);
}

/* ---- the box of b with its borders ---------------------------------------------------------- */

/* Elements of one phase of a row: all of it where n does not stride. */
static int64_t phase_words(const cpu_product *p, int rank) {
  return (cpu_slab_extent(p, rank - 1) + p->stride - 1) / p->stride;
}

/* Whether rank r of the slab is stored just outside its rows: with lanes along channels a rank that
 * only reduced dims move, so that a row of the output reads one piece for each row of its windows.
 * Ranks that rows move are stored outside these. */
static bool is_outside_rows(const tf_op *op, const cpu_product *p, int r) {
  const tf_index *ix = &op->reads[cpu_slab_of(p)].index[r];
  for (int t = 0; t < ix->n_terms; t++)
    for (int k = 0; k < op->n_out_dims; k++)
      if (op->dims[k] == ix->terms[t].dim) return false;
  return p->kind == CPU_CHANNELS;
}

/* The distance between neighbours along rank r: ranks are stored in order, those of is_outside_rows
 * last before the last; elements of a group lie side by side (the step along its rank is that of a
 * group, divided by its elements). */
static int64_t slab_step(const tf_op *op, const cpu_product *p, int rank, int r) {
  const int groups = cpu_slab_groups(p), group = groups >= 0 ? p->kernel->group : 1;
  const int64_t side = r == groups ? 1 : group;
  if (r == rank - 1) return side;
  const bool within = is_outside_rows(op, p, r);
  int64_t step = phase_words(p, rank) * p->stride * side;
  for (int k = 0; k < rank - 1; k++)
    if (is_outside_rows(op, p, k) == within ? k > r : !within)
      step *= k == groups ? (cpu_slab_extent(p, k) + group - 1) / group : cpu_slab_extent(p, k);
  return step;
}

static void open_rank(c_printer *c, const cpu_product *p, int r) {
  const ir_range *v = &p->slab[r];
  c_indent(c);
  fprintf(c->out, "for (int64_t x%d = ", r), c_atom(c->out, c->p, v->lo);
  fprintf(c->out, "; x%d < ", r), c_atom(c->out, c->p, v->hi);
  const int64_t by = r == cpu_slab_groups(p) ? p->kernel->group : p->slab_by[r];
  if (by > 1)
    fprintf(c->out, "; x%d += %" PRId64 ") {\n", r, by);
  else
    fprintf(c->out, "; x%d++) {\n", r);
  c->depth++;
}

/* Prefetches the same row one step further along the rank before the last two (of an image: the
 * next channel): rows are too short for the hardware prefetcher to follow. */
static void prefetch_rows(c_printer *c, const ir_buffer *b, int last) {
  if (b->role != IR_ARGUMENT || last < 2) return;
  c_line(c, "if (there) {\n");
  c_line(c, "  const int64_t x = from;\n");
  c_line(c, "  fetch_rows((uintptr_t)&"), c_at(c, b, last, b->type);
  fprintf(c->out, " + (uintptr_t)(%d * %s_s%d), 0, 1, %d * (to - from));\n", ir_bytes(b->type),
          b->id, last - 2, ir_bytes(b->type));
  c_line(c, "}\n");
}

static void fill_row(c_printer *c, const ir_buffer *b, const cpu_product *p, int last) {
  for (int64_t phase = 0; phase < p->stride; phase++) {
    c_line(c, "{\n");
    c->depth++;
    c_indent(c);
    fprintf(c->out, "%s *to_row = row + %" PRId64 ";\n", c_type(p->kernel->b),
            phase * phase_words(p, last + 1));
    c_indent(c);
    fprintf(c->out, "int64_t x = first + %" PRId64 ";\n", phase);
    c_indent(c);
    fprintf(c->out, "for (; x < from; x += %" PRId64 ") *to_row++ = 0;\n", p->stride);
    c_indent(c);
    fprintf(c->out, "for (; x < to; x += %" PRId64 ") *to_row++ = ", p->stride);
    c_at(c, b, last, p->kernel->b);
    fputs(";\n", c->out);
    c_indent(c);
    fprintf(c->out, "for (; x < end; x += %" PRId64 ") *to_row++ = 0;\n", p->stride);
    c_close(c, 1);
  }
}

/* A row of pairs of bfloat16: zeros, what exists of one row and of the next along the groups' rank,
 * zeros. */
static void fill_pairs(c_printer *c, const ir_buffer *b, const cpu_product *p, int last) {
  const int r = p->channels.groups_rank;
  c_line(c, "for (int64_t x = 2 * first; x < 2 * from; x++) row[x - 2 * first] = 0;\n");
  c_line(c, "for (int64_t x = 2 * to; x < 2 * end; x++) row[x - 2 * first] = 0;\n");
  c_line(c, "if (from < to) {\n");
  c->depth++;
  c_line(c, "const int64_t x = from;\n");
  c_indent(c);
  fprintf(c->out, "const %s *const one = &", c_type(b->type)), c_at(c, b, last, b->type),
      fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "bf16_pairs_of_%s(row + 2 * (from - first), one, ",
          b->type == IR_F32 ? "f32" : "bf16");
  fprintf(c->out, "x%d + 1 < ", r), c_atom(c->out, c->p, p->slab[r].hi), fputs(" ? one + ", c->out);
  c_stride(c, b, r), fputs(" : NULL, to - from);\n", c->out);
  c_close(c, 1);
}

/* A row of groups of integers, lifted if the kernel wants that: zeros, what exists of some rows
 * along the groups' rank, zeros. Rows after the last are multiplied by zeros, so that the first one
 * may stand for them. */
static void fill_groups(c_printer *c, const ir_buffer *b, const cpu_product *p, int last) {
  const int r = p->channels.groups_rank, group = p->kernel->group,
            zero = p->kernel->lifts ? -128 : 0;
  c_indent(c);
  fprintf(c->out, "for (int64_t i = 0; i < %d * (from - first); i++) row[i] = %d;\n", group, zero);
  c_indent(c);
  fprintf(c->out, "for (int64_t i = %d * (to - first); i < %d * (end - first); i++) row[i] = %d;\n",
          group, group, zero);
  c_line(c, "if (from < to) {\n");
  c->depth++;
  c_line(c, "const int64_t x = from;\n");
  for (int e = 0; e < group; e++) {
    c_indent(c);
    fprintf(c->out, "const %s *const x_%d = ", c_type(b->type), e);
    if (e == 0) {
      fputc('&', c->out), c_at(c, b, last, b->type);
    } else {
      fprintf(c->out, "x%d + %d < ", r, e), c_atom(c->out, c->p, p->slab[r].hi);
      fprintf(c->out, " ? x_0 + %d * ", e), c_stride(c, b, r), fputs(" : x_0", c->out);
    }
    fputs(";\n", c->out);
  }
  if (p->slab_by[last] > 1) {
    c_indent(c);
    fprintf(c->out, "for (int64_t i = 0; %" PRId64 " * i < to - from; i++) {\n", p->slab_by[last]);
    for (int e = 0; e < group; e++) {
      c_indent(c);
      fprintf(c->out, "  row[%d * i + %d] = (%s)(x_%d[%" PRId64 " * i] ^ %d);\n", group, e,
              c_type(p->kernel->a), e, p->slab_by[last], zero);
    }
    c_line(c, "}\n");
    c_close(c, 1);
    return;
  }
  c_indent(c);
  fprintf(c->out, "%s(row + %d * (from - first)", tf_micro_beside(p->kernel, b->type), group);
  for (int e = 0; e < group; e++)
    fprintf(c->out, ", x_%d", e);
  fprintf(c->out, ", to - from, %d);\n", zero);
  c_close(c, 1);
}

/* Opens a block that is entered only if the slab does not hold the box yet. */
static void open_kept_slab(c_printer *c, const cpu_product *p, int rank) {
  c_line(c, "{\n");
  c->depth++;
  c_indent(c);
  fputs("const int64_t box[] = {", c->out);
  for (int r = 0; r < rank; r++) {
    fputs(r ? ", " : "", c->out), c_atom(c->out, c->p, p->slab[r].lo);
    fputs(", ", c->out), c_atom(c->out, c->p, p->slab[r].hi);
  }
  fputs("};\n", c->out);
  c_indent(c);
  fputs("if (!same_box(", c->out), c_pack_name(c, p->pack),
      fprintf(c->out, "_box, box, %d)) {\n", 2 * rank);
  c->depth++;
}

/* Each row: zeros, what exists, zeros. */
void c_fill_slab(c_printer *c, const tf_op *op, const cpu_product *p) {
  const tf_tensor *z = &c->wl->tensors[op->reads[cpu_slab_of(p)].tensor];
  const ir_buffer *b = c_buffer(c, op, cpu_slab_of(p));
  int last = z->rank - 1;
  if (p->keep_slab) open_kept_slab(c, p, z->rank);
  for (int r = 0; r < last; r++)
    open_rank(c, p, r);
  c_indent(c);
  fprintf(c->out, "%s *const row = ", c_type(cpu_slab_type(p))), c_pack_name(c, p->pack);
  for (int r = 0; r < last; r++) {
    fprintf(c->out, " + (x%d - (", r), c_atom(c->out, c->p, p->slab[r].lo);
    fputs("))", c->out);
    if (p->slab_by[r] > 1) fprintf(c->out, " / %" PRId64, p->slab_by[r]);
    fprintf(c->out, " * %" PRId64, slab_step(op, p, z->rank, r));
  }
  fputs(";\n", c->out);
  c_indent(c);
  fputs("const int64_t first = ", c->out), c_atom(c->out, c->p, p->slab[last].lo);
  fputs(", end = ", c->out), c_atom(c->out, c->p, p->slab[last].hi);
  bool any = false;
  fputs(";\n", c->out);
  c_indent(c);
  fputs("const int there = ", c->out);
  for (int r = 0; r < last; r++)
    if (z->pad[r]) {
      fprintf(c->out, "%sx%d >= %" PRId64 " && x%d < %" PRId64, any ? " && " : "", r, z->lo[r], r,
              z->lo[r] + z->extent[r]);
      any = true;
    }
  fputs(any ? ";\n" : "1;\n", c->out);
  c_indent(c);
  fprintf(c->out,
          "const int64_t from = there ? most(first, %" PRId64
          ") : end, to = there ? most(from, least(end, %" PRId64 ")) : end;\n",
          z->lo[last], z->lo[last] + z->extent[last]);
  prefetch_rows(c, b, last);
  if (cpu_slab_groups(p) >= 0 && p->kernel->c == IR_I32)
    fill_groups(c, b, p, last);
  else if (cpu_slab_groups(p) >= 0)
    fill_pairs(c, b, p, last);
  else
    fill_row(c, b, p, last);
  c_close(c, last + 2 * p->keep_slab);
}

int64_t c_slab_step(const c_printer *c, const tf_op *op, const cpu_product *p, int dim) {
  const tf_ref *ref = &op->reads[cpu_slab_of(p)];
  int rank = c->wl->tensors[ref->tensor].rank;
  int64_t step = 0;
  for (int r = 0; r < rank; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      if (ref->index[r].terms[t].dim == dim)
        step += ref->index[r].terms[t].coef / p->slab_by[r] * slab_step(op, p, rank, r);
  return step;
}

void c_slab_at(c_printer *c, const tf_op *op, const cpu_product *p) {
  const tf_ref *ref = &op->reads[cpu_slab_of(p)];
  int rank = c->wl->tensors[ref->tensor].rank;
  c_pack_name(c, p->pack);
  for (int r = 0; r < rank; r++) {
    const bool phases = r == rank - 1 && p->stride > 1;
    fputs(phases ? " + phase(" : " + (", c->out), c_index(c, &ref->index[r]), fputs(" - (", c->out);
    c_atom(c->out, c->p, p->slab[r].lo);
    if (phases) {
      fprintf(c->out, "), %" PRId64 ", %" PRId64 ")", p->stride, phase_words(p, rank));
      continue;
    }
    fputs("))", c->out);
    if (p->slab_by[r] > 1) fprintf(c->out, " / %" PRId64, p->slab_by[r]);
    fprintf(c->out, " * %" PRId64, slab_step(op, p, rank, r));
  }
}

/* &slab[...] at the current point of the nest, and the step along k. */
void c_slab_argument(c_printer *c, const tf_op *op, const cpu_product *p) {
  c_slab_at(c, op, p);
  fprintf(c->out, ", %" PRId64, c_slab_step(c, op, p, op->dims[p->k]));
}

/* ---- rows of a for all settings of the dims outside ----------------------------------------- */

static bool moves_a(const c_printer *c, const tf_op *op, const cpu_product *p, int k) {
  const tf_ref *ref = &op->reads[p->a];
  for (int r = 0; r < c->wl->tensors[ref->tensor].rank; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      if (ref->index[r].terms[t].dim == op->dims[k]) return true;
  return false;
}

static int64_t rounded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

int64_t c_transposed_rows(const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  return rounded(s->range[p->m].most, p->kernel->m_round);
}

/* The step of the op's k-th dim in the box of a that is packed transposed (m innermost, then k; for
 * kernels of groups k innermost, then m); 0: it does not move a. */
static int64_t transposed_step(const c_printer *c, const tf_op *op, const ir_stmt *s, int k) {
  const cpu_product *p = cpu_of(s)->product;
  bool rows = p->kernel->group > 1;
  int64_t m = c_transposed_rows(s), n = rounded(s->range[p->k].most, p->kernel->k_round),
          step = m * n;
  if (k == p->m) return rows ? n : 1;
  if (k == p->k) return rows ? 1 : m;
  for (int i = op->n_dims - 1; i > k; i--)
    if (i != p->m && i != p->k && moves_a(c, op, p, i)) step *= s->range[i].most;
  return moves_a(c, op, p, k) ? step : 0;
}

/* The offset of the point in it, `with` m and k or without. */
void c_transposed_at(c_printer *c, const tf_op *op, const ir_stmt *s, bool with) {
  const cpu_product *p = cpu_of(s)->product;
  c_pack_name(c, p->pairs.transposed);
  for (int k = 0; k < op->n_dims; k++) {
    int64_t step = transposed_step(c, op, s, k);
    if (!step || (!with && (k == p->m || k == p->k))) continue;
    fprintf(c->out, " + (d_%s - (", c_dim_name(c, op, k)), c_atom(c->out, c->p, s->range[k].lo);
    fprintf(c->out, ")) * %" PRId64, step);
  }
}

void c_transpose_rows(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const ir_buffer *to = &c->p->buffers[p->pairs.transposed];
  const bool rows = p->kernel->group > 1;
  int opened = 0;
  c_line(c, "{\n");
  c->depth++;
  for (int k = 0; k < op->n_dims; k++)
    if (moves_a(c, op, p, k)) c_origin(c, op, s, k);
  c_indent(c);
  fprintf(c->out, "const %s *const from = &", c_type(c_buffer(c, op, p->a)->type)),
      c_place(c, op, p->a), fputs(";\n", c->out);
  c_indent(c);
  fputs("if (from != ", c->out), c_pack_name(c, p->pairs.transposed), fputs("_of) {\n", c->out);
  c->depth++;
  c_indent(c);
  c_pack_name(c, p->pairs.transposed), fputs("_of = from;\n", c->out);
  if (s->range[p->m].most % p->kernel->m_round || s->range[p->k].most % p->kernel->k_round) {
    c_indent(c);
    fprintf(c->out, "for (int64_t i = 0; i < %" PRId64 "; i++) ", to->words),
        c_pack_name(c, p->pairs.transposed), fputs("[i] = 0;\n", c->out);
  }
  const bool bytes = rows && are_bytes(c, op, p);
  for (int pass = 0; pass < (bytes ? 2 : 3);
       pass++) /* outer dims first, then those around the innermost */
    for (int k = 0; k < op->n_dims; k++) {
      int outer = rows ? p->m : p->k, inner = rows ? p->k : p->m;
      bool now = pass == 0 ? k != outer && k != inner : pass == 1 ? k == outer : k == inner;
      if (now && moves_a(c, op, p, k)) c_loop(c, op, s, k), opened++;
    }
  c_indent(c);
  if (bytes) {
    fprintf(c->out, "%s *const row = ", c_type(p->kernel->a)), c_transposed_at(c, op, s, true),
        fputs(";\n", c->out);
    c_indent(c);
    fputs("const int64_t n_row = ", c->out), c_length(c, &s->range[p->k]), fputs(";\n", c->out);
    row_of_bytes(c, op, p, "n_row");
  } else {
    fputs("*(", c->out), c_transposed_at(c, op, s, true), fputs(") = ", c->out);
    c_element_as(c, op, p->a, p->kernel->a), fputs(";\n", c->out);
  }
  c_close(c, opened + 2);
}
