/* Element types, and the sums of outputs that are narrower than their sums. */

#include <math.h>

#include "codegen/lower/lower.h"

/* so many products of two int8 fit into an int32 */
enum { MOST_WHOLE = 131071 };

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

/* Of int8 kernels whose workload has tensors of 8 bits and wider ones: the former alone are int8.  Where all are of one
 * width the type is that of all inputs. */
static bool is_mixed(const tf_workload *wl) {
  bool bytes = false, wider = false;
  for (int z = 0; z < wl->n_tensors; z++)
    *(wl->tensors[z].word_bits <= 8 ? &bytes : &wider) = true;
  return bytes && wider;
}

/* Of a tensor that no op makes. */
static ir_type type_of_input(const lowering *w, int z) {
  const tf_workload *wl = w->plan->wl;
  return w->p->machine.data == IR_I8 && is_mixed(wl) && wl->tensors[z].word_bits > 8 ? IR_F32 : w->p->machine.data;
}

/* Whether the expression is a whole number, whatever it reads. */
static bool is_rounded(const tf_op *op, int i) {
  const uint32_t rounds = 1u << TF_K_FLOOR | 1u << TF_K_CEIL | 1u << TF_K_ROUND | 1u << TF_K_TRUNC;
  const uint32_t keeps = 1u << TF_K_ADD | 1u << TF_K_SUB | 1u << TF_K_MUL | 1u << TF_K_NEG | 1u << TF_K_MAX |
                         1u << TF_K_MIN | 1u << TF_K_RELU | 1u << TF_K_ABS;
  const tf_expr *e = &op->expr[i];
  if (e->what == TF_X_NUMBER) return e->number == rint(e->number);
  if (e->what != TF_X_CALL) return false;
  bool all = keeps >> e->call & 1;
  for (int k = 0; k < e->n_args && all; k++)
    all = is_rounded(op, e->arg[k]);
  return all || rounds >> e->call & 1;
}

/* Whether an op rounds what it assigns, and then limits it to the numbers of an int8. */
static bool makes_bytes(const tf_op *op) {
  int i = op->n_expr - 1, other;
  bool low = false, high = false;
  if (op->reduce != TF_ASSIGN || !is_rounded(op, i)) return false;
  for (; op->expr[i].what == TF_X_CALL && (op->expr[i].call == TF_K_MAX || op->expr[i].call == TF_K_MIN); i = other) {
    const int number = op->expr[op->expr[i].arg[1]].what == TF_X_NUMBER;
    const tf_expr *e = &op->expr[op->expr[i].arg[number]];
    if (e->what != TF_X_NUMBER || e->number < -128 || e->number > 127) break;
    *(op->expr[i].call == TF_K_MAX ? &low : &high) = true;
    other = op->expr[i].arg[!number];
  }
  return low && high;
}

static bool is_byte_output(const lowering *w, int z) {
  const tf_workload *wl = w->plan->wl;
  const tf_tensor *t = &wl->tensors[z];
  return w->p->machine.data == IR_I8 && is_mixed(wl) && t->word_bits <= 8 && t->n_consumers == 0 &&
         makes_bytes(&wl->ops[t->producer]);
}

bool low_is_whole(const lowering *w, int o) {
  const tf_workload *wl = w->plan->wl;
  const tf_op *op = &wl->ops[o];
  int64_t points = 1;
  if (w->p->machine.data != IR_I8 || !low_is_product(op) || !low_is_of_inputs(wl, op)) return false;
  for (int k = 0; k < op->n_reads; k++)
    if (type_of_input(w, op->reads[k].tensor) != IR_I8) return false;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    if (__builtin_mul_overflow(points, wl->dims[op->dims[k]].extent, &points) || points > MOST_WHOLE) return false;
  return true;
}

ir_type low_type(const lowering *w, int z, bool argument) {
  int maker = w->plan->wl->tensors[z].producer;
  if (maker < 0) return type_of_input(w, z);
  if (low_is_whole(w, maker)) return IR_I32;
  if (argument && is_byte_output(w, z)) return IR_I8;
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
