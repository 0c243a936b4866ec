/* The nest of an op. */
#include "codegen/lower/lower.h"

/* Whether something that the op reads was rounded into another buffer than the one where it was
 * summed. */
static bool reads_narrow(const lowering *w, const tf_op *op) {
  bool any = false;
  for (int i = 0; i < op->n_reads; i++)
    any |= w->narrow[op->reads[i].tensor] >= 0;
  return any;
}

/* [reads] the innermost buffers that hold what the op reads. */
static const int *reads_from(lowering *w, const tf_op *op) {
  int *from = TF_ARRAY(w->p->arena, int, (size_t)op->n_reads + 1);
  for (int i = 0; i < op->n_reads && from; i++) {
    const int z = op->reads[i].tensor;
    from[i] = w->source[z] >= 0   ? w->source[z]
              : w->narrow[z] >= 0 ? w->narrow[z]
                                  : w->p->buffer_of[z];
  }
  return from;
}

const ir_stmt *lower_nest(lowering *w, int n) {
  int o = w->plan->tree->nodes[n].op;
  const tf_op *op = &w->plan->wl->ops[o];
  ir_stmt *s = lower_add(w, IR_NEST);
  if (!s) return NULL;
  int at = w->into->n - 1;
  s->op = o;
  s->nest.divides = lower_late_divisor(w, o);
  if ((w->target->copies || reads_narrow(w, op)) && !(s->nest.from = reads_from(w, op)))
    return NULL;
  s->range = TF_ARRAY(w->p->arena, ir_range, (size_t)op->n_dims + 1);
  s->nest.resets = TF_ARRAY(w->p->arena, ir_atom, (size_t)op->n_dims + 1);
  for (int k = 0; k < op->n_dims && !lower_failed(w); k++) {
    s->range[k] = *lower_range(w, o, op->dims[k]);
    if (k >= op->n_out_dims && s->range[k].lo.var >= 0)
      s->nest.resets[s->nest.n_resets++] = lower_mask_fresh(w, o, op->dims[k], s->range[k].lo);
  }
  s->nest.finite = op->reduce == TF_REDUCE_MAX && s->nest.n_resets > 0 &&
                   w->plan->stream_scope[o] >= 0 && w->plan->wl->tensors[op->out].n_consumers > 0;
  if (!lower_failed(w) && w->target->nest) w->target->nest(w, s);
  for (; at + 1 < w->into->n; at++) /* after the values that were requested for it */
    w->into->s[at] = w->into->s[at + 1];
  w->into->s[at] = s;
  return s;
}
