/* Products with lanes along channels over images with borders: tiles skip the positions of their
 * windows beyond a border, so that zeros are not multiplied (a sixth of all positions for 3 x 3
 * over 7 x 7). */
#include "codegen/backend/cpu/pass/cost.h"
#include "codegen/backend/cpu/pass/pass.h"
#include "model/input/dims.h"

/* The most vector multiply-adds of all tiles of a window that are printed one by one (6 to 8 bytes
 * of code each). */
enum { WRITTEN_MOST = 4096, WINDOW_MOST = 128 };

static int64_t extent(const lowering *w, const tf_op *op, int k) {
  return w->plan->wl->dims[op->dims[k]].extent;
}

static bool is_whole(const lowering *w, const tf_op *op, const ir_stmt *nest, int k) {
  const ir_range *r = &nest->range[k];
  return r->exact && r->lo.var < 0 && r->lo.off == 0 && r->most == extent(w, op, k);
}

/* The rank of a, with a border, that is moved by the output's k-th dim and the reduced dim `by`,
 * whole in the nest, and by no other, while these two move no other rank; -1: there is none. */
static int bordered_rank(const lowering *w, const ir_stmt *nest, const cpu_product *p, int k,
                         int by) {
  const tf_op *op = &w->plan->wl->ops[nest->op];
  const tf_ref *a = &op->reads[p->a];
  const tf_tensor *z = &w->plan->wl->tensors[a->tensor];
  int found = -1;
  if (by < op->n_out_dims || by == p->channels.groups || !is_whole(w, op, nest, by)) return -1;
  for (int r = 0; r < z->rank; r++) {
    const int64_t step = tf_index_coef(&a->index[r], op->dims[k]),
                  apart = tf_index_coef(&a->index[r], op->dims[by]);
    if (!step && !apart) continue;
    if (found >= 0 || a->index[r].n_terms != 2 || step <= 0 || apart <= 0 || !z->pad[r]) return -1;
    found = r;
  }
  return found;
}

static ir_border border_of(const lowering *w, const tf_op *op, const cpu_product *p, int rank,
                           int k, int by) {
  const tf_ref *a = &op->reads[p->a];
  const tf_tensor *z = &w->plan->wl->tensors[a->tensor];
  const tf_index *ix = &a->index[rank];
  return (ir_border){.start = ix->c - z->lo[rank],
                     .stride = tf_index_coef(ix, op->dims[k]),
                     .dilation = tf_index_coef(ix, op->dims[by]),
                     .size = z->extent[rank]};
}

/* The share of positions inside the image, of n windows of `positions` each. */
static double inside_share(const ir_border *b, int64_t n, int positions) {
  double inside = 0;
  for (int64_t i = 0; i < n; i++)
    for (int w = 0; w < positions; w++)
      inside += ir_is_inside(b, i, w);
  return inside / ((double)n * positions);
}

double lower_inside_share(const tf_workload *wl, const ir_stmt *nest) {
  const tf_op *op = &wl->ops[nest->op];
  const cpu_product *p = cpu_of(nest)->product;
  if (!p->channels.window[0]) return 1;
  const int64_t rows = p->m > 0 ? wl->dims[op->dims[p->m - 1]].extent : 1;
  return inside_share(&p->channels.column, wl->dims[op->dims[p->m]].extent, p->channels.window[1]) *
         inside_share(&p->channels.row, rows, p->channels.window[0]);
}

/* Vector multiply-adds that are printed: of joined rows all positions of the window; else a row of
 * the window for tiles inside, at each end, and of another height. */
static int64_t printed_multiply_adds(const lowering *w, const ir_stmt *nest, const cpu_product *p) {
  enum { TILES = 4 };
  const ir_machine *t = &w->p->machine;
  const int across = p->channels.panel / t->lanes;
  const int64_t rows = p->channels.joined ? nest->range[p->m].most * nest->range[p->m - 1].most *
                                                p->channels.window[0]
                                          : (int64_t)TILES * tf_micro_rows(t->registers, across);
  return rows * p->channels.window[1] * across;
}

void lower_skip_padding(const lowering *w, const ir_stmt *nest, cpu_product *p) {
  const tf_op *op = &w->plan->wl->ops[nest->op];
  const int last = op->n_dims - 1, above = p->m - 1;
  if (!p->slab || p->kernel->lifts || op->n_dims == op->n_out_dims)
    return; /* their sums begin with a correction for all of b */
  const int along = is_whole(w, op, nest, p->m) ? bordered_rank(w, nest, p, p->m, last) : -1;
  if (along >= 0) p->channels.column = border_of(w, op, p, along, p->m, last);
  int down = -1, by = last - 1;
  if (above >= 0 && above != p->n && (!p->channels.joined || is_whole(w, op, nest, above))) {
    if (is_whole(w, op, nest, last)) down = bordered_rank(w, nest, p, above, by);
    if (down < 0 && along < 0) down = bordered_rank(w, nest, p, above, by = last);
  }
  if (along < 0 && down < 0) return;
  const int64_t columns = by == last ? 1 : extent(w, op, last),
                rows = down < 0 ? 1 : extent(w, op, by);
  if (down >= 0)
    p->channels.row = border_of(w, op, p, down, above, by), p->channels.row_rank = down;
  p->channels.window[0] = rows < WINDOW_MOST ? (int)rows : WINDOW_MOST;
  p->channels.window[1] = columns < WINDOW_MOST ? (int)columns : WINDOW_MOST;
  if (rows * columns <= WINDOW_MOST && printed_multiply_adds(w, nest, p) <= WRITTEN_MOST) return;
  p->channels.window[0] = p->channels.window[1] = 0;
  p->channels.column = p->channels.row = (ir_border){0};
}
