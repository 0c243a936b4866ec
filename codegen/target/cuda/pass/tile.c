/* Pieces of outputs, one after the other, where a nest has more than a block does at a time. */
#include "codegen/target/cuda/pass/pass.h"

static void make(lowering *w, const ir_stmt *s) {
  const tf_op *op = &w->plan->wl->ops[s->op];
  const low_mark outside = {w->into, w->n_lets};
  ir_range *r = cu_ranges(w, s);
  low_mark mark;
  for (int k = 0; k < op->n_out_dims && !low_failed(w); k++) {
    const int64_t piece = cu_piece(w->p, s, k), trip = (s->range[k].most + piece - 1) / piece;
    if (trip <= 1) continue;
    const ir_atom step = cu_open_for(w, IR_SERIAL, op->dims[k], trip, &mark);
    r[k] = low_split(w, w->p->dim_id[op->dims[k]], r[k], step, piece, trip);
  }
  cu_again(w, s, r);
  low_close(w, outside);
}

void low_cuda_tile(lowering *w) {
  w->n_lets = 0;
  cu_replace(w, &w->p->body, make);
}
