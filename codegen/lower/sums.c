/* Sums of outputs that are narrower than their sums. */
#include "codegen/lower/lower.h"

static bool needs_sums(const lowering *w, int o) {
  const tf_op *op = &w->plan->wl->ops[o];
  const bool apart = ir_is_half(w->p->machine.data) || w->p->machine.separate_sums;
  const bool narrow = w->plan->wl->tensors[op->out].n_consumers == 0 || lower_is_narrow(w, op->out);
  return apart && narrow && op->reduce != TF_ASSIGN;
}

bool lower_has_sums(const lowering *w, int n, int k) {
  const tf_plan *p = w->plan;
  for (int o = 0; o < p->wl->n_ops; o++)
    for (int l = 0; needs_sums(w, o) && l < p->first_loop[n] + k; l++)
      if (lower_reduces(w, o, l) && tf_plan_above(p, p->loops[l].node, n)) return true;
  return false;
}

static void open_one(lowering *w, int o) {
  int z = w->plan->wl->ops[o].out;
  const tf_tensor *t = &w->plan->wl->tensors[z];
  char *name = lower_derived(w, t->name, "sums"),
       *id = lower_derived(w, w->p->tensor_id[z], "sums");
  int i = lower_buffer(w, z, name, false, w->plan->arch->n_memories - 1);
  if (lower_failed(w)) return;
  ir_buffer *b = &w->p->buffers[i];
  b->id = id;
  b->type = lower_type(w, z, false);
  b->space = lower_space(w);
  b->words = 1;
  for (int r = 0; r < b->rank; r++) {
    const ir_range *v = lower_range(w, o, w->plan->wl->ops[o].dims[r]);
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

/* Whether the sums of op o begin at node n: at its loop k, in its own nest, or in the scope that
 * corrects and divides them. */
static bool begins(const lowering *w, int o, int n, int k, int alone) {
  const tf_node *t = &w->plan->tree->nodes[n];
  if (alone >= 0) return alone == o;
  return t->kind == TF_SCOPE ? streamed(w, o, n)
                             : k < t->n_loops && lower_reduces(w, o, w->plan->first_loop[n] + k);
}

lower_sums lower_open_sums(lowering *w, int n, int k, int alone) {
  lower_sums s = {0, NULL};
  const tf_plan *p = w->plan;
  for (int o = 0; o < p->wl->n_ops; o++) {
    if (!needs_sums(w, o) || w->summed[o] || !tf_plan_above(p, n, p->tree->op_node[o])) continue;
    if (!begins(w, o, n, k, alone)) continue;
    if (!s.ops) s.ops = TF_ARRAY(w->p->arena, int, (size_t)p->wl->n_ops);
    if (lower_failed(w)) return s;
    w->summed[o] = true;
    s.ops[s.n++] = o;
    open_one(w, o);
  }
  return s;
}

void lower_save_sums(lowering *w, lower_sums s) {
  for (int i = 0; i < s.n; i++) {
    int z = w->plan->wl->ops[s.ops[i]].out;
    ir_stmt *save = lower_over_output(w, IR_SAVE, s.ops[i]);
    if (!save) return;
    save->save.from = w->p->buffer_of[z];
    save->save.to = w->narrow[z];
    for (int b = 0; b < w->p->n_buffers && w->narrow[z] < 0; b++)
      if (w->p->buffers[b].tensor == z && w->p->buffers[b].role == IR_ARGUMENT) save->save.to = b;
  }
}
