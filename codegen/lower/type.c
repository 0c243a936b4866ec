/* Element types, and the sums of outputs that are narrower than their sums. */

#include "codegen/lower/lower.h"

bool low_is_product(const tf_op *op) {
  return op->reduce == TF_REDUCE_ADD && op->n_reads == 2 && op->n_out_dims > 0 && op->n_expr == 3 &&
         op->expr[2].what == TF_X_CALL && op->expr[2].call == TF_K_MUL && op->expr[0].what == TF_X_READ &&
         op->expr[1].what == TF_X_READ;
}

bool low_is_of_inputs(const tf_workload *wl, const tf_op *op) {
  bool inputs = true;
  for (int i = 0; i < op->n_reads; i++)
    inputs &= wl->tensors[op->reads[i].tensor].producer < 0;
  return inputs;
}

/* Of int8 kernels whose workload has tensors of 8 bits and wider ones, or is a part of a network: the former alone are
 * bytes.  Where all are of one width the type is that of all inputs. */
static bool is_mixed(const tf_workload *wl) {
  bool bytes = false, wider = false, said = false;
  for (int z = 0; z < wl->n_tensors; z++) {
    *(wl->tensors[z].word_bits <= 8 ? &bytes : &wider) = true;
    said |= wl->tensors[z].held != TF_HELD_UNSAID;
  }
  return said || (bytes && wider);
}

static ir_type type_of_held(tf_held_as h) {
  return h == TF_HELD_SIGNED ? IR_I8 : h == TF_HELD_UNSIGNED ? IR_U8 : IR_F32;
}

/* Of a tensor that no op makes. */
static ir_type type_of_input(const lowering *w, int z) {
  const tf_workload *wl = w->plan->wl;
  if (w->p->machine.data != IR_I8) return w->p->machine.data;
  return is_mixed(wl) ? type_of_held(ir_held_as(wl, z)) : wl->tensors[z].no_sign ? IR_U8 : IR_I8;
}

bool low_is_whole(const lowering *w, int o) {
  const tf_workload *wl = w->plan->wl;
  const tf_op *op = &wl->ops[o];
  int64_t points = 1, most = INT32_MAX;
  if (w->p->machine.data != IR_I8 || !low_is_product(op) || !low_is_of_inputs(wl, op)) return false;
  for (int k = 0; k < op->n_reads; k++) {
    const ir_type t = type_of_input(w, op->reads[k].tensor);
    if (!ir_is_byte(t)) return false;
    most /= t == IR_U8 ? UINT8_MAX : -INT8_MIN;
  }
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    if (__builtin_mul_overflow(points, wl->dims[op->dims[k]].extent, &points) || points > most) return false;
  return true;
}

ir_type low_type(const lowering *w, int z, bool argument) {
  const tf_workload *wl = w->plan->wl;
  int maker = wl->tensors[z].producer;
  if (maker < 0) return type_of_input(w, z);
  if (low_is_whole(w, maker)) return IR_I32;
  if (w->p->machine.data == IR_I8)
    return argument && wl->tensors[z].n_consumers == 0 && is_mixed(wl) ? type_of_held(ir_held_as(wl, z)) : IR_F32;
  return argument && ir_is_half(w->p->machine.data) ? w->p->machine.data : IR_F32;
}

bool low_is_narrow(const lowering *w, int z) {
  const tf_tensor *t = &w->plan->wl->tensors[z];
  const bool inside = t->producer >= 0 && t->n_consumers > 0;
  return inside && !w->keeps[z] && w->target->narrow && w->target->narrow(w, z); /* what is kept is summed in place */
}

/* ---- sums of outputs ------------------------------------------------------------------------------------ */

bool low_reduces(const lowering *w, int o, int l) {
  const tf_plan *p = w->plan;
  const tf_op *op = &p->wl->ops[o];
  bool leads = false, out = false;
  for (int i = 0; i < p->loops[l].n_leader; i++)
    leads |= p->loops[l].leaders[i] == o;
  for (int r = 0; r < op->n_out_dims; r++)
    out |= op->dims[r] == p->loops[l].dim;
  return leads && !out && w->run.trip[l] > 1;
}
