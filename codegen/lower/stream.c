/* Streaming reductions (online softmax; SEMANTICS D11): a running maximum is kept from step to
 * step; when it rises, sums computed with the previous one are corrected, and the division by a sum
 * waits for the last step. */
#include "codegen/lower/lower.h"
#include "model/flow/online.h"

static int named_op(const lowering *w, int n, int i) {
  return w->plan->wl->tensors[w->plan->tree->nodes[n].stream[i].tensor].producer;
}

/* The op of the running maximum of scope n; -1: none. */
static int maximum(const lowering *w, int n) {
  for (int i = 0; i < w->plan->tree->nodes[n].n_stream; i++)
    if (w->plan->wl->ops[named_op(w, n, i)].reduce == TF_REDUCE_MAX) return named_op(w, n, i);
  return -1;
}

/* ---- ops as their steps compute them -------------------------------------------------------- */

bool lower_is_idle(const lowering *w, int o) {
  return w->plan->online && w->plan->online->step[o].number;
}

bool lower_stream_steps(lowering *w, tf_plan *plan) {
  tf_workload *wl = TF_NEW(w->p->arena, tf_workload);
  tf_tree *tree = TF_NEW(w->p->arena, tf_tree);
  tf_op *ops = TF_ARRAY(w->p->arena, tf_op, (size_t)plan->wl->n_ops);
  if (!wl || !tree || !ops) return false;
  if (!plan->online) return true;
  for (int o = 0; o < plan->wl->n_ops; o++)
    ops[o] = lower_late_divisor(w, o) >= 0 ? plan->wl->ops[o] : *plan->online->step[o].op;
  w->p->asked = plan->wl;
  *wl = *plan->wl;
  wl->ops = ops;
  *tree = *plan->tree;
  tree->workload = wl;
  w->p->tree = plan->tree = tree;
  plan->wl = wl;
  return true;
}

/* ---- running values ------------------------------------------------------------------------- */

/* The model gives each maximum its own corrections; kernels have one. */
bool lower_stream_check(lowering *w, int n) {
  const tf_node *t = &w->plan->tree->nodes[n];
  const int x = maximum(w, n);
  for (int i = 0; i < t->n_stream; i++) {
    const int o = named_op(w, n, i);
    if (w->plan->wl->ops[o].reduce == TF_REDUCE_MAX && o != x)
      return tf_fail(w->d, t->stream[i].at, TF_E_STREAM,
                     "emit: '%.40s' is a second running maximum of the scope",
                     w->plan->wl->ops[o].name);
  }
  return true;
}

/* The reduced dim that the loops above the scope split, as op o sees it. */
static int streamed_dim(const lowering *w, int o) {
  return w->plan->wl->ops[o].dims[w->plan->wl->ops[o].n_out_dims];
}

static bool below(const lowering *w, int child, int o) {
  return tf_plan_above(w->plan, child, w->plan->tree->op_node[o]);
}

void lower_stream_before(lowering *w, int n, int child) {
  int x = maximum(w, n);
  if (x < 0 || !below(w, child, x)) return;
  int out = w->plan->wl->ops[x].out;
  int old = lower_buffer(w, out, "before", false, w->plan->home_level[out]);
  char *id = lower_derived(w, w->p->tensor_id[out], "before");
  ir_stmt *s = lower_over_output(w, IR_SAVE, x);
  if (!s || !id) return;
  w->p->buffers[old].id = id;
  s->save.from = w->p->buffer_of[out];
  s->save.to = old;
}

static int saved(const lowering *w, int z) {
  int found = -1;
  for (int i = 0; i < w->p->n_buffers; i++)
    if (w->p->buffers[i].tensor == z && i != w->p->buffer_of[z]) found = i;
  return found;
}

static void correct(lowering *w, int o, int x) {
  ir_atom lo = lower_range(w, x, streamed_dim(w, x))->lo;
  if (lo.var < 0) return; /* a single step */
  const ir_atom fresh = lower_mask_fresh(w, x, streamed_dim(w, x), lo);
  ir_stmt *s = lower_over_output(w, IR_CORRECT, o);
  if (!s) return;
  s->correct.after = w->p->buffer_of[w->plan->wl->ops[x].out];
  s->correct.before = saved(w, w->plan->wl->ops[x].out);
  s->correct.rate = w->plan->online->rate[o];
  s->correct.resets = fresh;
  w->carry[o].correct = s;
}

static void divide(lowering *w, int o, int z) {
  const ir_range *r = lower_range(w, z, streamed_dim(w, z));
  const int64_t extent = w->plan->wl->dims[streamed_dim(w, z)].extent;
  ir_stmt *s = lower_over_output(w, IR_DIVIDE, o);
  if (!s) return;
  s->divide.divisor = w->p->buffer_of[w->plan->wl->ops[z].out];
  s->divide.last = r->hi;
  s->divide.end = extent;
}

/* A sum is corrected where the branches of its maximum and of itself meet: it is not yet made with
 * the new one. */
void lower_stream_after(lowering *w, int n, int child) {
  const tf_online *s = w->plan->online;
  for (int o = 0; s && o < w->plan->wl->n_ops; o++)
    if (s->maximum[o] >= 0 && below(w, child, s->maximum[o]) && below(w, n, o) &&
        !below(w, child, o))
      correct(w, o, s->maximum[o]);
}

/* What carries the sums of op o joins them in the last step. */
static void join(lowering *w, int o) {
  if (!w->carry[o].n) return;
  lower_join_streamed(w, o, lower_range(w, o, streamed_dim(w, o))->hi,
                      w->plan->wl->dims[streamed_dim(w, o)].extent);
}

void lower_stream_end(lowering *w, int n) {
  const tf_plan *p = w->plan;
  for (int o = 0; o < p->wl->n_ops; o++)
    if (p->stream_scope[o] == n) join(w, o);
  for (int i = 0; p->online && i < p->wl->n_ops; i++) {
    const int o = p->wl->topo[i];
    if (p->stream_scope[o] == n && p->online->divided_by[o] >= 0)
      divide(w, o, p->online->divided_by[o]);
  }
}
