/* Prints the loops of sums and maxima over small windows. A tile is a few rows along the output's
 * dim before the last, whose sums stay in registers while each element that their windows share is
 * loaded once. Columns beyond a border are masked lanes; rows beyond it are tested only in tiles
 * that reach the border. */
#include <inttypes.h>

#include "codegen/backend/cpu/print/window.h"

static cpu_window_read kind_of(const c_printer *c, const c_window *w, int i) {
  return cpu_window_kind(c->wl, w->s, i);
}

/* Whether the loop over the op's k-th dim stands outside: values hoisted out of the rows depend on
 * it, or the reads come from an outer memory, image by image. */
static bool stands_outside(const c_printer *c, const c_window *w, int k) {
  bool any = cpu_of(w->s)->n_prefetches > 0;
  for (int i = 0; i < w->op->n_reads; i++)
    any |= c_window_before(c, w, i) && cpu_read_moves(c->wl, w->op, i, k);
  return any;
}

static int open_others(c_printer *c, const c_window *w, bool outside) {
  int n = 0;
  for (int k = 0; k < w->op->n_out_dims; k++)
    if (k != w->lane && k != w->row && stands_outside(c, w, k) == outside)
      c_loop(c, w->op, w->s, k), n++;
  return n;
}

/* Computes the lanes that are inside, for each position along a padded last rank. */
static void hoist_lanes(c_printer *c, const c_window *w, int i) {
  const tf_ref *ref = &w->op->reads[i];
  const tf_tensor *z = &c->wl->tensors[ref->tensor];
  const int last = z->rank - 1;
  for (int j = 0; kind_of(c, w, i) == CPU_LANES && z->pad[last] && j < w->taps && w->fours != i;
       j++) {
    bool before = false;
    for (int k = 0; k < j; k++)
      before |= cpu_window_offset(c->wl, w->s, i, last, (cpu_at){0, k}) ==
                cpu_window_offset(c->wl, w->s, i, last, (cpu_at){0, j});
    if (before) continue;
    c_indent(c);
    fprintf(c->out, "lanes l%d_%d;\n", i, j);
    c_window_open_at(c, w, (cpu_at){-1, j});
    c_indent(c);
    fprintf(c->out, "l%d_%d = lanes_within(", i, j), c_index(c, &ref->index[last]);
    fprintf(c->out, ", %" PRId64 ", %" PRId64 ", %" PRId64 ", n_lanes);\n",
            cpu_window_step(c->wl, w->s, i), z->lo[last], z->lo[last] + z->extent[last]);
    c_close(c, 1);
  }
}

/* Hoists values that are the same for all rows. */
static void hoist_steady(c_printer *c, const c_window *w, int i) {
  for (int j = 0; c_window_before(c, w, i) && j < w->taps; j++) {
    if (w->fours >= 0) {
      c_window_four(c, w, i, j);
      continue;
    }
    if (cpu_window_first(c->wl, w->s, i, (cpu_at){0, j}).tap < j) continue;
    c_indent(c);
    fprintf(c->out, "vec x%d_0_%d;\n", i, j);
    c_window_open_at(c, w, (cpu_at){-1, j});
    c_indent(c);
    fprintf(c->out, "x%d_0_%d = ", i, j);
    c_window_take(c, w, i, j, true);
    c_close(c, 1);
  }
}

/* Least and greatest offset that rows and taps add along rank r of read i. */
static void reach(const c_printer *c, const c_window *w, int i, int r, int64_t *least,
                  int64_t *most) {
  *least = *most = 0;
  for (int t = 0; t < w->rows; t++)
    for (int j = 0; j < w->taps; j++) {
      const int64_t off = cpu_window_offset(c->wl, w->s, i, r, (cpu_at){t, j});
      if (off < *least) *least = off;
      if (off > *most) *most = off;
    }
}

/* Prints `inside`: whether no row of the tile is in the padding. False: none ever is. */
static bool test_inside(c_printer *c, const c_window *w) {
  bool any = false;
  for (int i = 0; i < w->op->n_reads; i++) {
    const tf_ref *ref = &w->op->reads[i];
    const tf_tensor *z = &c->wl->tensors[ref->tensor];
    for (int r = 0; kind_of(c, w, i) == CPU_LANES && !c_window_before(c, w, i) && r < z->rank - 1;
         r++) {
      int64_t least, most;
      if (!z->pad[r]) continue;
      if (!any)
        c_line(c, "int inside;\n"), c_window_open_at(c, w, (cpu_at){0, 0}), c_line(c, "inside = ");
      reach(c, w, i, r, &least, &most);
      fputs(any ? " && " : "", c->out), c_index(c, &ref->index[r]);
      fprintf(c->out, " >= %" PRId64 " && ", z->lo[r] - least), c_index(c, &ref->index[r]);
      fprintf(c->out, " < %" PRId64, z->lo[r] + z->extent[r] - most);
      any = true;
    }
  }
  if (any) fputs(";\n", c->out), c_close(c, 1);
  return any;
}

/* A tile of w->rows rows: if all are inside, without tests. */
static void tile(c_printer *c, c_window *w) {
  const bool asks = test_inside(c, w);
  w->inside = true;
  if (!asks) {
    c_window_tile(c, w);
    return;
  }
  c_line(c, "if (inside) {\n");
  c->depth++;
  c_window_tile(c, w);
  c->depth--;
  c_line(c, "} else {\n");
  c->depth++;
  w->inside = false;
  c_window_tile(c, w);
  c_close(c, 1);
}

/* Tiles of n rows, as long as n rows are left before `end`. */
static void tiles(c_printer *c, c_window *w, int n) {
  const char *row = c_dim_name(c, w->op, w->row);
  w->rows = n;
  c_indent(c);
  fprintf(c->out, "for (; o_%s + %d <= end; o_%s += %d) {\n", row, n, row, n);
  c->depth++;
  c_prefetch_rows(c, w);
  tile(c, w);
  c_close(c, 1);
}

/* Tiles of nearly equal height, at most w->rows, if the number of rows is constant. */
static void all_rows(c_printer *c, c_window *w) {
  const ir_range *r = &w->s->range[w->row];
  const int64_t count = (r->most + w->rows - 1) / w->rows, higher = r->exact ? r->most % count : 0;
  const int high = r->exact ? (int)((r->most + count - 1) / count) : w->rows;
  c_indent(c);
  fprintf(c->out, "int64_t o_%s = ", c_dim_name(c, w->op, w->row)), c_atom(c->out, c->p, r->lo);
  fputs(";\n", c->out);
  if (higher) {
    c_indent(c);
    fprintf(c->out, "int64_t end = o_%s + %" PRId64 ";\n", c_dim_name(c, w->op, w->row),
            higher * high);
    tiles(c, w, high);
    c_line(c, "end = "), c_atom(c->out, c->p, r->hi), fputs(";\n", c->out);
    tiles(c, w, high - 1);
  } else {
    c_line(c, "const int64_t end = "), c_atom(c->out, c->p, r->hi), fputs(";\n", c->out);
    tiles(c, w, high);
    if (!r->exact && high > 1) tiles(c, w, 1);
  }
}

void c_window_nest(c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  c_window w = {.op = op,
                .s = s,
                .lane = op->n_out_dims - 1,
                .row = op->n_out_dims - 2,
                .taps = cpu_of(s)->window->taps,
                .fours = cpu_of(s)->window->fours,
                .rows = 1};
  const char *lane = c_dim_name(c, op, w.lane);
  const ir_range *r = &s->range[w.lane];
  int opened = open_others(c, &w, true);
  c_indent(c);
  fprintf(c->out, "for (int64_t d_%s = ", lane), c_atom(c->out, c->p, r->lo);
  fprintf(c->out, "; d_%s < ", lane), c_atom(c->out, c->p, r->hi),
      fprintf(c->out, "; d_%s += LANES) {\n", lane);
  c->depth++;
  c_line(c, "const int64_t n_lanes = least(LANES, "), c_atom(c->out, c->p, r->hi),
      fprintf(c->out, " - d_%s);\n", lane);
  c_line(c, "const lanes all = lanes_between(0, n_lanes);\n");
  for (int i = 0; i < op->n_reads; i++)
    hoist_lanes(c, &w, i);
  if (w.fours >= 0) c_window_bytes(c, &w);
  for (int i = 0; i < op->n_reads; i++)
    hoist_steady(c, &w, i);
  opened += open_others(c, &w, false);
  c_line(c, "{\n");
  c->depth++;
  if (w.row >= 0) w.rows = cpu_window_rows(c->wl, s, c->p->machine.registers);
  if (w.row < 0)
    tile(c, &w);
  else
    all_rows(c, &w);
  c_close(c, opened + 2);
}
