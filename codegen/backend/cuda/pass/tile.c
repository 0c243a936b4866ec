/* Divides outputs into tiles, computed one after the other, where a nest is larger than what a
 * block computes at a time. */
#include "codegen/backend/cuda/pass/pass.h"

static bool cut(lowering *w, const ir_stmt *s, const ir_stmt *save) {
  if (!ir_facts_of(s)->points) return false;
  const tf_op *op = &w->plan->wl->ops[s->op];
  const lower_mark outside = {w->into, w->n_lets};
  ir_range *r = cu_ranges(w, s);
  lower_mark mark;
  for (int k = 0; k < op->n_out_dims && !lower_failed(w); k++) {
    const int64_t piece = cu_piece(w->p, s, k), trip = (s->range[k].most + piece - 1) / piece;
    if (trip <= 1) continue;
    const ir_atom step = cu_open_for(w, IR_SERIAL, op->dims[k], trip, &mark);
    r[k] = lower_split(w, w->p->dim_id[op->dims[k]], r[k], step, piece, trip);
  }
  if (!lower_failed(w)) cu_copy_with_ranges(w, s, r);
  if (save && !lower_failed(w)) cu_restrict_save(w, save, r), cu_copy_with_ranges(w, save, r);
  lower_close(w, outside);
  return true;
}

void cu_each_with_save(lowering *w, ir_body *b,
                       bool (*instead)(lowering *w, const ir_stmt *s, const ir_stmt *save)) {
  ir_body new = {0, NULL};
  const lower_mark mark = lower_open(w, &new);
  for (int i = 0; i < b->n && !lower_failed(w); i++) {
    ir_stmt *s = b->s[i];
    const ir_stmt *save = cu_saved_by(w->p, b, i);
    if (instead(w, s, save)) {
      i += save != NULL;
      continue;
    }
    ir_stmt *same = cu_copy_with_ranges(w, s, NULL);
    if (same && ir_facts_of(s)->body && !(s->kind == IR_FOR && s->loop.map == IR_WARP))
      cu_each_with_save(w, &same->body, instead);
  }
  lower_close(w, mark);
  if (!lower_failed(w)) *b = new;
}

void lower_cuda_tile(lowering *w) {
  w->n_lets = 0;
  cu_each_with_save(w, &w->p->body, cut);
}
