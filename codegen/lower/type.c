/* Element types, and the sums of outputs that are narrower than their sums. */
#include <stdio.h>
#include <string.h>

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

bool low_is_whole(const lowering *w, int o) {
  const tf_workload *wl = w->plan->wl;
  const tf_op *op = &wl->ops[o];
  int64_t points = 1;
  if (w->p->machine.data != IR_I8 || !low_is_product(op) || !low_is_of_inputs(wl, op)) return false;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    if (__builtin_mul_overflow(points, wl->dims[op->dims[k]].extent, &points) || points > MOST_WHOLE) return false;
  return true;
}

ir_type low_type(const lowering *w, int z, bool argument) {
  int maker = w->plan->wl->tensors[z].producer;
  if (maker < 0) return w->p->machine.data;
  if (low_is_whole(w, maker)) return IR_I32;
  return argument && ir_is_half(w->p->machine.data) ? w->p->machine.data : IR_F32;
}

bool low_is_narrow(const lowering *w, int z) {
  const tf_tensor *t = &w->plan->wl->tensors[z];
  const bool inside = t->producer >= 0 && t->n_consumers > 0;
  return inside && !w->keeps[z] && w->target->narrow && w->target->narrow(w, z); /* what is kept is summed in place */
}

/* ---- sums of outputs ------------------------------------------------------------------------------------ */

static bool needs_sums(const lowering *w, int o) {
  const tf_op *op = &w->plan->wl->ops[o];
  const bool apart = ir_is_half(w->p->machine.data) || w->p->machine.apart;
  const bool narrow = w->plan->wl->tensors[op->out].n_consumers == 0 || low_is_narrow(w, op->out);
  return apart && narrow && op->reduce != TF_ASSIGN;
}

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

bool low_has_sums(const lowering *w, int n, int k) {
  const tf_plan *p = w->plan;
  for (int o = 0; o < p->wl->n_ops; o++)
    for (int l = 0; needs_sums(w, o) && l < p->first_loop[n] + k; l++)
      if (low_reduces(w, o, l) && tf_plan_above(p, p->loops[l].node, n)) return true;
  return false;
}

static void open_one(lowering *w, int o) {
  int z = w->plan->wl->ops[o].out;
  const tf_tensor *t = &w->plan->wl->tensors[z];
  char *name = low_derived(w, t->name, "sums"), *id = low_derived(w, w->p->tensor_id[z], "sums");
  int i = low_buffer(w, z, name, false, w->plan->arch->n_memories - 1);
  if (low_failed(w)) return;
  ir_buffer *b = &w->p->buffers[i];
  b->id = id;
  b->type = low_type(w, z, false);
  b->space = low_space(w);
  b->words = 1;
  for (int r = 0; r < b->rank; r++) {
    const ir_range *v = low_range(w, o, w->plan->wl->ops[o].dims[r]);
    b->extent[r] = v->most;
    b->base[r] = v->lo;
    b->words *= v->most;
  }
  w->p->buffer_of[z] = i;
}

static bool streamed(const lowering *w, int o, int n) {
  const tf_node *t = &w->plan->tree->nodes[n];
  for (int i = 0; i < t->n_stream; i++)
    if (t->stream[i].tensor == w->plan->wl->ops[o].out) return true;
  return false;
}

/* Whether the sums of op o begin at node n: at its loop k, in its own nest, or in the scope that corrects and divides
 * them. */
static bool begins(const lowering *w, int o, int n, int k, int alone) {
  const tf_node *t = &w->plan->tree->nodes[n];
  if (alone >= 0) return alone == o;
  return t->kind == TF_SCOPE ? streamed(w, o, n) : k < t->n_loops && low_reduces(w, o, w->plan->first_loop[n] + k);
}

low_sums low_open_sums(lowering *w, int n, int k, int alone) {
  low_sums s = {0, NULL};
  const tf_plan *p = w->plan;
  for (int o = 0; o < p->wl->n_ops; o++) {
    if (!needs_sums(w, o) || w->summed[o] || !tf_plan_above(p, n, p->tree->op_node[o])) continue;
    if (!begins(w, o, n, k, alone)) continue;
    if (!s.ops) s.ops = TF_ARRAY(w->p->arena, int, (size_t)p->wl->n_ops);
    if (low_failed(w)) return s;
    w->summed[o] = true;
    s.ops[s.n++] = o;
    open_one(w, o);
  }
  return s;
}

void low_save_sums(lowering *w, low_sums s) {
  for (int i = 0; i < s.n; i++) {
    int z = w->plan->wl->ops[s.ops[i]].out;
    ir_stmt *save = low_over_output(w, IR_SAVE, s.ops[i]);
    if (!save) return;
    save->save.from = w->p->buffer_of[z];
    save->save.to = w->narrow[z];
    for (int b = 0; b < w->p->n_buffers && w->narrow[z] < 0; b++)
      if (w->p->buffers[b].tensor == z && w->p->buffers[b].role == IR_ARGUMENT) save->save.to = b;
  }
}
