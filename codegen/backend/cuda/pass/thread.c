/* Distributes points over threads: the output's last dim over the lanes of a row, its longest other
 * dim over rows. Threads synchronise at the end of the loop over rows. */
#include "codegen/backend/cuda/pass/pass.h"

/* The part of a range that one of `most` threads has. */
static ir_range cut(lowering *w, ir_map map, int dim, ir_range r, int64_t most) {
  const int64_t step = r.most > most ? (r.most + most - 1) / most : 1;
  const int64_t trip = r.most > step ? (r.most + step - 1) / step : 1;
  lower_mark mark;
  const ir_atom thread = cu_open_for(w, map, dim, trip, &mark);
  return trip > 1 ? lower_split(w, w->p->dim_id[dim], r, thread, step, trip) : r;
}

static void thread_nest(lowering *w, const ir_stmt *s) {
  const tf_op *op = &w->plan->wl->ops[s->op];
  const lower_mark outside = {w->into, w->n_lets};
  const cu_sides at = cu_sides_of(w->p, s);
  const int rows = at.rows >= 0 ? at.rows : at.lanes;
  ir_range *r = cu_ranges(w, s), alone = {.lo = ir_number(0), .hi = ir_number(1), .most = 1};
  const int dim = op->n_dims ? op->dims[0] : 0;
  if (lower_failed(w)) return;
  ir_range *const y = rows >= 0 ? &r[rows] : &alone, *const x =
                                                         at.lanes >= 0 ? &r[at.lanes] : &alone;
  *y = cut(w, IR_WARP, rows >= 0 ? op->dims[rows] : dim, *y, CU_ROWS);
  if (!cu_lanes_share(w->p, s))
    *x = cut(w, IR_LANE, at.lanes >= 0 ? op->dims[at.lanes] : dim, *x, CU_LANES);
  cu_copy_with_ranges(w, s, r);
  lower_close(w, outside);
}

void lower_cuda_threads(lowering *w) {
  w->n_lets = 0;
  cu_replace(w, &w->p->body, thread_nest);
}
