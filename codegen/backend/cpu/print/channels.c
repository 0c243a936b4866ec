/* Prints products with lanes along channels: a list of the offsets of a's elements, then each panel
 * of b goes over all rows. */
#include <inttypes.h>

#include "codegen/backend/cpu/print/print.h"
#include "model/input/dims.h"

static bool reduced(const tf_op *op, int k) { return k >= op->n_out_dims; }
/* Whether the nest has a loop over the dim outside the tile's, within a panel: it is neither the
 * tile's nor one of groups. */
static bool has_outer_loop(const c_printer *c, const tf_op *op, const cpu_product *p, int k) {
  return !reduced(op, k) && k != p->m && k != p->n && !(p->channels.joined && k == p->m - 1) &&
         !cpu_is_group(c->wl, op, p, k);
}

/* " + WORDS * (d_g * .. + d_h)": the offset of the group's panels; "" if there is one. */
static void group_offset(c_printer *c, const tf_op *op, const cpu_product *p) {
  int64_t step = p->channels.group;
  for (int k = op->n_out_dims - 1; k >= 0; k--) {
    if (!cpu_is_group(c->wl, op, p, k)) continue;
    fprintf(c->out, " + d_%s * %" PRId64, c_dim_name(c, op, k), step);
    step *= c->wl->dims[op->dims[k]].extent;
  }
}

/* Elements of a group along the op's k-th dim. */
static int group_along(const cpu_product *p, int k) {
  return k == p->channels.groups ? p->kernel->group : 1;
}

/* Settings of the reduced dims from the k-th on, in groups of elements. */
static int64_t settings(const c_printer *c, const tf_op *op, const cpu_product *p, int k) {
  int64_t n = 1;
  for (; k < op->n_dims; k++)
    n *= (c->wl->dims[op->dims[k]].extent + group_along(p, k) - 1) / group_along(p, k);
  return n;
}

/* Elements of panels between settings of the outermost reduced dim, for each column. */
static int64_t panel_step(const c_printer *c, const tf_op *op, const cpu_product *p) {
  return settings(c, op, p, op->n_out_dims + 1) * p->kernel->group / group_along(p, op->n_out_dims);
}

/* ---- panels --------------------------------------------------------------------------------- */

/* Opens the loops over groups; `g_` is the offset at which a group's panels begin. */
static void open_groups(c_printer *c, const tf_op *op, const cpu_product *p) {
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    const char *dim = c_dim_name(c, op, k), *of = k == p->channels.groups ? "g" : "d";
    c_indent(c);
    fprintf(c->out, "for (int64_t %s_%s = 0; %s_%s < %" PRId64 "; %s_%s += %d) {\n", of, dim, of,
            dim, c->wl->dims[op->dims[k]].extent, of, dim, group_along(p, k));
    c->depth++;
  }
}

static void each_element(c_printer *c, const tf_op *op, const cpu_product *p, const char *end) {
  const char *n = c_dim_name(c, op, p->n);
  open_groups(c, op, p);
  c_indent(c);
  fprintf(c->out, "for (int64_t d_%s = from; d_%s < %s; d_%s++) ", n, n, end, n);
  if (p->channels.groups) {
    const char *g = c_dim_name(c, op, p->channels.groups);
    fprintf(c->out, "for (int64_t d_%s = g_%s; d_%s < g_%s + %d; d_%s++) ", g, g, g, g,
            p->kernel->group, g);
    fprintf(c->out, "*to++ = d_%s >= %" PRId64 " ? 0 : ", g,
            c->wl->dims[op->dims[p->channels.groups]].extent);
  } else {
    fputs("*to++ = ", c->out);
  }
  c_element_as(c, op, p->b, p->kernel->b), fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "for (int64_t j = (%s) * %d; j < (from + columns) * %d; j++) *to++ = 0;\n", end,
          p->kernel->group, p->kernel->group);
  c_close(c, op->n_dims - op->n_out_dims);
}

/* Whether b consists of 32-bit words as the kernel reads them: float32, or groups that lie side by
 * side along the only reduced dim. */
static bool packs_words(const c_printer *c, const tf_op *op, const cpu_product *p) {
  const int group = p->kernel->group;
  return c_buffer(c, op, p->b)->type == p->kernel->b && ir_bytes(p->kernel->b) * group == 4 &&
         (group == 1 ||
          (op->n_dims == op->n_out_dims + 1 && c->wl->dims[op->dims[p->k]].extent % group == 0));
}

/* The rank of b that n alone moves, if its rows of words can be transposed where they have no gaps:
 * groups alone move the ranks before it, reduced dims, in their order, those after it. -1: no. */
static int rank_in_order(const c_printer *c, const tf_op *op, const cpu_product *p) {
  const tf_ref *ref = &op->reads[p->b];
  const int rank = c->wl->tensors[ref->tensor].rank, n = rank - 1 - (op->n_dims - op->n_out_dims);
  bool ordered = packs_words(c, op, p) && n >= 0 && n < rank - 1;
  for (int r = 0; ordered && r < rank; r++) {
    const tf_index *ix = &ref->index[r];
    ordered = r < n ? !tf_index_coef(ix, op->dims[p->n])
                    : ix->n_terms == 1 && ix->terms[0].coef == 1 && ix->c == 0 &&
                          ix->terms[0].dim == op->dims[r == n ? p->n : op->n_out_dims + r - n - 1];
    for (int k = op->n_out_dims; ordered && r < n && k < op->n_dims; k++)
      ordered = !tf_index_coef(ix, op->dims[k]);
  }
  return ordered ? n : -1;
}

/* "if (no gaps) transpose; else" */
static void transpose(c_printer *c, const tf_op *op, const cpu_product *p, int n) {
  const char *z = c_buffer(c, op, p->b)->id;
  const int rank = c->wl->tensors[op->reads[p->b].tensor].rank;
  c_line(c, "if (end == from + columns");
  for (int r = n + 1; r + 1 < rank; r++)
    fprintf(c->out, " && %s_s%d == %" PRId64, z, r, settings(c, op, p, op->n_out_dims + r - n));
  fputs(") {\n", c->out);
  c_indent(c);
  fprintf(c->out, "  const int64_t d_%s = from", c_dim_name(c, op, p->n));
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    fprintf(c->out, ", d_%s = 0", c_dim_name(c, op, k));
  fputs(";\n", c->out);
  c_indent(c);
  fputs("  transpose_words(&", c->out), c_place(c, op, p->b);
  fprintf(c->out, ", %d * %s_s%d, to, 4 * columns, columns, %" PRId64 ");\n",
          ir_bytes(p->kernel->b), z, n, settings(c, op, p, op->n_out_dims));
  c_line(c, "  continue;\n");
  c_line(c, "}\n");
}

/* Columns of the panel that begins at `from`. */
static void panel_columns(c_printer *c, const tf_op *op, const cpu_product *p, const char *from) {
  if (p->channels.last == p->channels.panel)
    fprintf(c->out, "%d", p->channels.panel);
  else
    fprintf(c->out, "%s + %d > %" PRId64 " ? %d : %d", from, p->channels.panel,
            c->wl->dims[op->dims[p->n]].extent, p->channels.last, p->channels.panel);
}

void c_pack_panels(c_printer *c, const cpu_pack *pack) {
  const cpu_product *p = pack->product;
  const tf_op *op = &c->wl->ops[pack->op];
  const int64_t n = c->wl->dims[op->dims[p->n]].extent,
                rows = settings(c, op, p, op->n_out_dims) * p->kernel->group;
  const char *const type = c_type(p->kernel->b);
  const int in_order = rank_in_order(c, op, p);
  int opened = 1;
  if (ir_has_parallel(&c->p->body)) /* with one core in the mapping, packing stays on one, too */
    fputs("#if defined(_OPENMP)\n#pragma omp parallel for schedule(static)\n#endif\n", c->out);
  for (int k = 0; k < op->n_out_dims; k++) {
    if (!cpu_is_group(c->wl, op, p, k)) continue;
    const char *dim = c_dim_name(c, op, k);
    c_indent(c);
    fprintf(c->out, "for (int64_t d_%s = 0; d_%s < %" PRId64 "; d_%s++) {\n", dim, dim,
            c->wl->dims[op->dims[k]].extent, dim);
    c->depth++, opened++;
  }
  c_indent(c);
  fprintf(c->out, "for (int64_t from = 0; from < %" PRId64 "; from += %d) {\n", n,
          p->channels.panel);
  c->depth++;
  c_indent(c);
  fprintf(c->out, "%s *to = (%s *)(void *)(packed + %" PRId64 ")", type, type,
          c->offset[p->channels.panels]);
  group_offset(c, op, p);
  fprintf(c->out, " + from * %" PRId64 ";\n", rows);
  c_indent(c);
  fprintf(c->out,
          "const int64_t end = least(from + %d, %" PRId64 "), columns = ", p->channels.panel, n),
      panel_columns(c, op, p, "from"), fputs(";\n", c->out);
  if (in_order >= 0) transpose(c, op, p, in_order);
  each_element(c, op, p, "end");
  c_close(c, opened);
}

/* ---- the nest ------------------------------------------------------------------------------- */

/* How many neighbours along a dim lie side by side in a (the block of its layout); 0: the layout
 * has no blocks along it. */
static int64_t block_along(const c_printer *c, const tf_op *op, const cpu_product *p, int dim) {
  const ir_buffer *b = c_buffer(c, op, p->a);
  return b->block.length && op->reads[p->a].index[b->block.rank].terms[0].dim == dim
             ? b->block.length
             : 0;
}

/* Prints the list of offsets of a's elements, for each setting of the reduced dims. */
static void list_offsets(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const bool once = cpu_lists_once(op, s);
  c_indent(c);
  fprintf(c->out, "int64_t *const at = "), c_pack_name(c, p->channels.offsets),
      fputs(";\n", c->out);
  c_line(c, "int64_t n_at = ");
  if (once) {
    c_pack_name(c, p->channels.offsets), fputs("_n;\n", c->out);
    c_line(c, "if (!n_at) {\n");
    c->depth++;
  } else {
    fputs("0;\n", c->out);
  }
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    c_loop_by(c, op, s, k, group_along(p, k));
  c_line(c, "at[n_at++] = ");
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    const int64_t block = p->slab ? 0 : block_along(c, op, p, op->dims[k]);
    fprintf(c->out, "%s%sd_%s - (", k > op->n_out_dims ? " + " : "", block ? "in_block(" : "(",
            c_dim_name(c, op, k));
    c_atom(c->out, c->p, s->range[k].lo);
    fputs(block ? "), " : ")) * (", c->out);
    if (block) fprintf(c->out, "%" PRId64 ", ", block);
    if (p->slab)
      fprintf(c->out, "%" PRId64, c_slab_step(c, op, p, op->dims[k]));
    else
      c_step(c, op, p->a, op->dims[k]);
    fputc(')', c->out);
  }
  fputs(";\n", c->out);
  c_close(c, op->n_dims - op->n_out_dims);
  if (once) {
    c_indent(c);
    c_pack_name(c, p->channels.offsets), fputs("_n = n_at;\n", c->out);
    c_close(c, 1);
  }
  const int window = p->channels.window[0] * p->channels.window[1];
  c_line(c, "const int64_t n_part = ");
  if (window > 1)
    fprintf(c->out, "equal_part(n_at / %d, %d) * %d;\n", window, TF_MICRO_PART / window, window);
  else
    fprintf(c->out, "equal_part(n_at, %d);\n", TF_MICRO_PART);
}

/* The most steps of k in one part. */
static int64_t steps_of_k(const tf_op *op, const ir_stmt *s) {
  int64_t n = 1;
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    const int64_t by = group_along(cpu_of(s)->product, k);
    n *= (s->range[k].most + by - 1) / by;
  }
  return n;
}

static void add_flag(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const ir_atom lo = c_fresh_of(op, s, op->n_out_dims);
  c_line(c, "const int begun = ");
  if (lo.var < 0)
    fputs(lo.off ? "1;\n" : "0;\n", c->out);
  else
    c_atom(c->out, c->p, lo), fputs(" != 0;\n", c->out);
}

/* The step of a along a dim: in the slab, or in the buffer of an intermediate that is read in
 * place. */
static int64_t step_of_a(const c_printer *c, const tf_op *op, const cpu_product *p, int dim) {
  if (p->slab) return c_slab_step(c, op, p, dim);
  const tf_ref *a = &op->reads[p->a];
  const ir_buffer *b = c_buffer(c, op, p->a);
  int64_t step = 0;
  for (int r = 0; r < b->rank; r++)
    for (int t = 0; t < a->index[r].n_terms; t++)
      if (a->index[r].terms[t].dim == dim) step += a->index[r].terms[t].coef * c_rank_step(b, r);
  return step;
}

/* The buffer that receives the sums: the op's output, the output of a map that is fused, or,
 * rounded, the destination of a SAVE. */
static int sums_buffer(const c_printer *c, const tf_op *op, const ir_stmt *s) {
  if (cpu_of(s)->map) op = &c->wl->ops[cpu_of(s)->map->op];
  return cpu_of(s)->rounded_for ? cpu_of(s)->rounded_for->save.to : c->p->buffer_of[op->out];
}

/* Whether calls pass the range of the window's rows that are inside. */
static bool passes_row_range(const cpu_product *p) {
  return p->channels.row.size > 0 && !p->channels.joined;
}

/* Prints that range at the current point, from the image's first and last row. */
static void rows_inside(c_printer *c, const tf_op *op, const cpu_product *p) {
  const ir_border *b = &p->channels.row;
  const int rows = p->channels.window[0];
  const tf_ref *a = &op->reads[p->a];
  const int64_t lo = c->wl->tensors[a->tensor].lo[p->channels.row_rank];
  c_line(c, "const int64_t row = "), c_index(c, &a->index[p->channels.row_rank]);
  fprintf(c->out, " - %" PRId64 ",\n", lo);
  c_line(c, "              from = ");
  fprintf(c->out, "least(%d, most(0, (%" PRId64 " - row) / %" PRId64 ")),\n", rows, b->dilation - 1,
          b->dilation);
  c_line(c, "              to = ");
  fprintf(c->out, "most(from, least(%d, (%" PRId64 " - row) / %" PRId64 "));\n", rows,
          b->size + b->dilation - 1, b->dilation);
}

/* name(k, a, at, b, c, c_n, c_p, n, add) */
static void call(c_printer *c, const tf_op *op, const ir_stmt *s, int64_t m, int wide) {
  const cpu_product *p = cpu_of(s)->product;
  const int to = sums_buffer(c, op, s);
  const ir_stmt *map = cpu_of(s)->map;
  char as[16];
  const ir_buffer *a = c_buffer(c, op, p->a);
  tf_micro_rows_of rows = {
      .m = m,
      .step = p->slab ? p->channels.row_step /
                            p->slab_by[c->wl->tensors[op->reads[p->a].tensor].rank - 1]
                      : p->channels.row_step * (a->block.length ? a->block.length : 1),
      .joined = 1,
      .k = steps_of_k(op, s) < TF_MICRO_PART ? steps_of_k(op, s) : TF_MICRO_PART,
      .in_memory = !p->slab && a->role == IR_ARGUMENT,
      .block = c->p->buffers[to].block.length,
      .prefetches = p->channels.next != CPU_NEXT_NONE,
      .rounds = cpu_of(s)->rounded_for != NULL,
      .map = map ? c_map_of_sums(c, map, as) : (tf_micro_map){NULL, IR_F32},
      .kernel = p->kernel,
      .window = {p->channels.window[0], p->channels.window[1]},
      .column = p->channels.column,
      .row = p->channels.row};
  if (p->channels.joined)
    rows.joined = s->range[p->m - 1].most, rows.row_pitch = step_of_a(c, op, p, op->dims[p->m - 1]);
  const char *name = tf_micro_channels(c->blocks, c->micro, &rows, wide);
  if (!name) {
    c->failed = true;
    return;
  }
  fprintf(c->out, "%s(n_k, ", name);
  if (p->slab)
    c_slab_at(c, op, p);
  else
    fputc('&', c->out), c_place(c, op, p->a);
  fprintf(c->out, ", at + part, panel + part * %d, &", wide * p->kernel->group),
      c_element_of(c, to);
  fputs(", ", c->out), c_step_of(c, to, op->dims[p->n]);
  fputs(", ", c->out);
  if (p->channels.joined)
    c_step_of(c, to, op->dims[p->m - 1]);
  else
    fputc('0', c->out);
  fprintf(c->out, ", n_n, (begun || part > 0)%s%s%s%s%s);\n",
          c->p->buffers[to].role == IR_ARGUMENT ? " | FAR_C" : "",
          p->kernel->lifts ? ", excess" : "", rows.prefetches ? ", ahead, by" : "",
          passes_row_range(p) ? ", from, to" : "", map ? ", &map" : "");
}

/* A call for each length that rows can have, for whole panels and for the last one. */
static void calls(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const ir_range *m = &s->range[p->m];
  int64_t v[C_MOST_LENGTHS];
  const int n = c_lengths(m, v), widths = p->channels.last == p->channels.panel ? 1 : 2;
  for (int i = 0; i < n * widths; i++) {
    c_indent(c);
    if (!m->exact) fprintf(c->out, "if (n_m == %" PRId64 ") ", v[i / widths]);
    if (widths > 1)
      fprintf(c->out, "if (columns == %d) ", i % widths ? p->channels.last : p->channels.panel);
    call(c, op, s, v[i / widths], i % widths ? p->channels.last : p->channels.panel);
  }
}

/* Tiles of one panel and one part of k: those of each row, times the rows outside. */
static int64_t tiles_of_row(const c_printer *c, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const int64_t m = s->range[p->m].most * (p->channels.joined ? s->range[p->m - 1].most : 1);
  const int most = tf_micro_rows(c->p->machine.registers, p->channels.panel / c->p->machine.lanes);
  return (m + most - 1) / most;
}

static int64_t tiles(const c_printer *c, const tf_op *op, const ir_stmt *s) {
  int64_t n = tiles_of_row(c, s);
  for (int k = 0; k < op->n_dims; k++)
    if (has_outer_loop(c, op, cpu_of(s)->product, k)) n *= s->range[k].most;
  return n;
}

/* How many calls the nest has for a row, at most. */
static int64_t calls_of(const c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  int64_t n = (s->range[p->n].most + p->channels.panel - 1) / p->channels.panel *
              ((steps_of_k(op, s) + TF_MICRO_PART - 1) / TF_MICRO_PART);
  for (int k = 0; k < op->n_dims; k++)
    if (has_outer_loop(c, op, p, k) || (!reduced(op, k) && cpu_is_group(c->wl, op, p, k)))
      n *= s->range[k].most;
  return n;
}

/* Prints what is prefetched, which is what the loops reach next: the next part of the panel, the
 * next panel, or the first one of the next nest; and the share of it that each tile prefetches in a
 * step of the reduction, so that all of it is there in time. */
static void prefetch(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const ir_range *n = &s->range[p->n], *k = &s->range[op->n_out_dims];
  const char *dim = c_dim_name(c, op, p->n), *first = c_dim_name(c, op, op->n_out_dims);
  const int64_t rows = settings(c, op, p, op->n_out_dims) * p->kernel->group,
                row = panel_step(c, op, p) * p->channels.panel;
  c_line(c, "const int64_t next = ");
  fprintf(c->out,
          "part + n_part < n_at ? d_%s * %" PRId64 " + d_%s * %" PRId64
          " + (part + n_part) * %d :\n",
          dim, rows, first, row, p->channels.panel * p->kernel->group);
  c_line(c, "  ");
  fprintf(c->out, "d_%s + %d < ", dim, p->channels.panel), c_atom(c->out, c->p, n->hi);
  fprintf(c->out, " ? (d_%s + %d) * %" PRId64 " + d_%s * %" PRId64 " : (", dim, p->channels.panel,
          rows, first, row);
  c_atom(c->out, c->p, p->channels.next == CPU_NEXT_LANES ? n->hi : n->lo);
  fprintf(c->out, ") * %" PRId64 " + (", rows);
  if (p->channels.next == CPU_NEXT_SUMS)
    c_atom(c->out, c->p, k->hi);
  else
    fprintf(c->out, "d_%s", first);
  fprintf(c->out, ") * %" PRId64 ";\n", row);
  c_line(c, "uintptr_t ahead = (uintptr_t)("), c_pack_name(c, p->channels.panels),
      group_offset(c, op, p);
  fprintf(c->out, ") + (uintptr_t)next * sizeof(%s);\n", c_type(p->kernel->b));
  const int64_t bytes = (int64_t)p->channels.panel * p->kernel->group * ir_bytes(p->kernel->b),
                all = tiles(c, op, s);
  c_indent(c);
  fprintf(c->out, "const int64_t by = %" PRId64 ";\n", (bytes + all - 1) / all);
}

static void open_panels(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const ir_range *n = &s->range[p->n];
  const char *dim = c_dim_name(c, op, p->n);
  const int64_t rows = settings(c, op, p, op->n_out_dims) * p->kernel->group;
  c_indent(c);
  fprintf(c->out, "for (int64_t d_%s = ", dim), c_atom(c->out, c->p, n->lo);
  fprintf(c->out, "; d_%s < ", dim), c_atom(c->out, c->p, n->hi),
      fprintf(c->out, "; d_%s += %d) {\n", dim, p->channels.panel);
  c->depth++;
  c_indent(c);
  fprintf(c->out, "const int64_t n_n = least(%d, ", p->channels.panel), c_atom(c->out, c->p, n->hi),
      fprintf(c->out, " - d_%s);\n", dim);
  char from[96];
  snprintf(from, sizeof from, "d_%s", dim);
  c_line(c, "const int64_t columns = "), panel_columns(c, op, p, from), fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "const %s *const panel = ", c_type(p->kernel->b)),
      c_pack_name(c, p->channels.panels), group_offset(c, op, p);
  fprintf(c->out, " + d_%s * %" PRId64 " + d_%s * %" PRId64 " * columns;\n", dim, rows,
          c_dim_name(c, op, op->n_out_dims), panel_step(c, op, p));
  c_indent(c);
  fputs("for (int64_t part = 0; part < n_at; part += n_part) {\n", c->out);
  c->depth++;
  c_line(c, "const int64_t n_k = least(n_part, n_at - part);\n");
  if (p->kernel->lifts) {
    c_indent(c);
    fprintf(c->out, "int32_t excess[%d];\n", p->channels.panel);
    c_indent(c);
    fprintf(c->out, "%s(n_k, panel + part * columns * %d, columns, excess);\n", c_excess(c, p),
            p->kernel->group);
  }
  if (p->channels.next != CPU_NEXT_NONE) prefetch(c, op, s);
}

void c_channels(c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  const cpu_product *p = cpu_of(s)->product;
  int opened = 0;
  c_line(c, "{ /* ");
  fprintf(c->out, "%s: a product over %s, %s in lanes, and all that is reduced */\n", op->name,
          c_dim_name(c, op, p->m), c_dim_name(c, op, p->n));
  c->depth++;
  c_origin(c, op, s, p->m);
  if (p->channels.joined) c_origin(c, op, s, p->m - 1);
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    c_origin(c, op, s, k);
  const int boxes = c_far_boxes(c, s);
  if (boxes) {
    c_prefetch(c, s);
    c_line(c, "fetching fetch = fetch_from(far, ");
    fprintf(c->out, "%d, INT64_MAX, %" PRId64 ");\n", boxes, calls_of(c, op, s));
  }
  if (!s->range[p->m].exact) {
    c_line(c, "const int64_t n_m = ");
    c_atom(c->out, c->p, s->range[p->m].hi), fprintf(c->out, " - d_%s;\n", c_dim_name(c, op, p->m));
  }
  if (p->slab) c_fill_slab(c, op, p);
  list_offsets(c, op, s);
  add_flag(c, op, s);
  for (int k = 0; k < op->n_out_dims; k++)
    if (cpu_is_group(c->wl, op, p, k)) c_loop(c, op, s, k), opened++;
  open_panels(c, op, s);
  for (int k = 0; k < op->n_dims; k++)
    if (has_outer_loop(c, op, p, k)) c_loop(c, op, s, k), opened++;
  if (passes_row_range(p)) rows_inside(c, op, p);
  if (boxes) c_line(c, "if (fetch.several) fetch_some(&fetch);\n");
  if (cpu_of(s)->map) c_map_places(c, s, op->dims[p->n]);
  calls(c, op, s);
  if (p->channels.next != CPU_NEXT_NONE) {
    c_indent(c);
    fprintf(c->out, "ahead += (uintptr_t)(%" PRId64 " * n_k * by);\n", tiles_of_row(c, s));
  }
  c_close(c, opened + 3);
}
