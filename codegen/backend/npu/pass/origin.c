/* Where sums begin and end: at the first and the last step of the reduction, or of what a mask
 * leaves of it. */
#include "codegen/backend/npu/pass/pass.h"
#include "model/flow/skip.h"

/* The range, in this run of its scope, of the dim that op o reduces step by step. */
static tf_ival step_of(const npu_build *b, int o) {
  const tf_op *op = &b->p->wl->ops[o];
  return tf_dim_range(&b->ev, o, op->dims[op->n_out_dims], b->p->stream_scope[o], b->cur);
}

/* The mask that skips runs of op o's scope; NULL: none. */
static const tf_mask *mask_of(const npu_build *b, int o) {
  const tf_skips *k = b->p->skips;
  const tf_op *op = &b->p->wl->ops[o];
  return k && k->node[b->p->stream_scope[o]].may && k->mask.l == op->dims[op->n_out_dims] ? &k->mask
                                                                                          : NULL;
}

/* As a band is convex, the run before this one is skipped if its last key lies before the band of
 * all rows. */
bool npu_stream_begins(const npu_build *b, int o) {
  const tf_mask *m = mask_of(b, o);
  const int64_t from = step_of(b, o).lo;
  return from == 0 ||
         (m && from - 1 - tf_dim_range(&b->ev, o, m->q, b->p->stream_scope[o], b->cur).lo < m->lo);
}

bool npu_stream_ends(const npu_build *b, int o) {
  const tf_mask *m = mask_of(b, o);
  const tf_op *op = &b->p->wl->ops[o];
  const tf_ival step = step_of(b, o);
  if (step.lo + step.len >= b->p->wl->dims[op->dims[op->n_out_dims]].extent) return true;
  if (!m) return false;
  const tf_ival q = tf_dim_range(&b->ev, o, m->q, b->p->stream_scope[o], b->cur);
  return step.lo + step.len - (q.lo + q.len - 1) > m->hi;
}

int64_t npu_origin(const npu_build *b, int o, int i) {
  const bool streamed = b->p->stream_scope[o] >= 0 && i == b->p->wl->ops[o].n_out_dims;
  return streamed && npu_stream_begins(b, o) ? step_of(b, o).lo : 0;
}

/* Whether a sum continues: some reduced dim is not at its beginning. */
bool npu_goes_on(const npu_build *b, int o, const tf_ival *range) {
  const tf_op *op = &b->p->wl->ops[o];
  bool on = false;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    on |= range[k].lo != npu_origin(b, o, k);
  return on;
}
