/* Element types, and the sums of outputs that are narrower than their sums. */

#include "codegen/lower/lower.h"

bool lower_is_of_inputs(const tf_workload *wl, const tf_op *op) {
  bool inputs = true;
  for (int i = 0; i < op->n_reads; i++)
    inputs &= wl->tensors[op->reads[i].tensor].producer < 0;
  return inputs;
}

/* Of kernels of bytes whose workload has tensors of 8 bits and wider ones, or is a part of a
 * network of integers: the former alone are bytes.  Where all are of one width the type is that of
 * all inputs. */
static bool is_mixed(const tf_workload *wl) {
  bool bytes = false, wider = false, said = false;
  for (int z = 0; z < wl->n_tensors; z++) {
    *(wl->tensors[z].word_bits <= 8 ? &bytes : &wider) = true;
    said |= wl->tensors[z].held != TF_HELD_UNSAID;
  }
  return said || (bytes && wider);
}

/* Of a tensor that no op makes.  Where none has 8 bits, all are bytes but those of which the
 * workload itself says that they are wider: the machine's width says nothing of a kernel's types.
 */
static ir_type type_of_input(const lowering *w, int z) {
  const tf_workload *wl = w->plan->wl;
  if (w->p->machine.data != IR_I8) return w->p->machine.data;
  if (wl->tensors[z].says_bits && wl->tensors[z].word_bits > 8) return IR_F32;
  return is_mixed(wl) ? ir_type_held(wl, z) : wl->tensors[z].no_sign ? IR_U8 : IR_I8;
}

bool lower_is_whole(const lowering *w, int o) {
  const tf_workload *wl = w->plan->wl;
  const tf_op *op = &wl->ops[o];
  if (w->p->machine.data != IR_I8 || !ir_is_product(op) || !lower_is_of_inputs(wl, op))
    return false;
  return ir_fits_whole(wl, op, type_of_input(w, op->reads[0].tensor),
                       type_of_input(w, op->reads[1].tensor));
}

/* An output of float8 kernels: as narrow as its words where these differ. */
static ir_type type_beside_float8(const tf_workload *wl, int z) {
  const tf_tensor *t = &wl->tensors[z];
  if (t->n_consumers > 0 || t->word_bits > 16 || !is_mixed(wl)) return IR_F32;
  return t->word_bits > 8 ? IR_BF16 : IR_F8;
}

ir_type lower_type(const lowering *w, int z, bool argument) {
  const tf_workload *wl = w->plan->wl;
  int maker = wl->tensors[z].producer;
  if (maker < 0) return type_of_input(w, z);
  if (lower_is_whole(w, maker)) return IR_I32;
  if (w->p->machine.data == IR_I8) { /* sums of bytes that the kernel makes itself are float32 */
    const bool bytes = argument && wl->tensors[z].n_consumers == 0 && is_mixed(wl) &&
                       ir_is_byte(ir_type_held(wl, z));
    return bytes ? ir_type_held(wl, z) : IR_F32;
  }
  if (argument && w->p->machine.data == IR_F8) return type_beside_float8(wl, z);
  return argument && ir_is_half(w->p->machine.data) ? w->p->machine.data : IR_F32;
}

bool lower_is_narrow(const lowering *w, int z) {
  const tf_tensor *t = &w->plan->wl->tensors[z];
  const bool inside = t->producer >= 0 && t->n_consumers > 0;
  return inside && !w->keeps[z] && w->target->narrow &&
         w->target->narrow(w, z); /* what is kept is summed in place */
}

/* ---- sums of outputs ------------------------------------------------------------------------ */

bool lower_reduces(const lowering *w, int o, int l) {
  const tf_plan *p = w->plan;
  const tf_op *op = &p->wl->ops[o];
  bool leads = false, out = false;
  for (int i = 0; i < p->loops[l].n_leader; i++)
    leads |= p->loops[l].leaders[i] == o;
  for (int r = 0; r < op->n_out_dims; r++)
    out |= op->dims[r] == p->loops[l].dim;
  return leads && !out && w->run.trip[l] > 1;
}
