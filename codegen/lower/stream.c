/* Streaming reductions (online softmax; DECISIONS 11): a running maximum is kept from step to step; when it rises,
 * sums computed with the previous one are corrected, and the division by a sum waits for the last step. */
#include "codegen/lower/lower.h"

static int named_op(const lowering *w, int n, int i) {
  return w->plan->wl->tensors[w->plan->tree->nodes[n].stream[i].tensor].producer;
}

/* The op of the running maximum of scope n; -1: none. */
static int maximum(const lowering *w, int n) {
  for (int i = 0; i < w->plan->tree->nodes[n].n_stream; i++)
    if (w->plan->wl->ops[named_op(w, n, i)].reduce == TF_REDUCE_MAX) return named_op(w, n, i);
  return -1;
}

static bool has_dims(const tf_op *big, const tf_op *small) {
  for (int i = 0; i < small->n_out_dims; i++) {
    bool found = false;
    for (int k = 0; k < big->n_out_dims; k++)
      found |= big->dims[k] == small->dims[i];
    if (!found) return false;
  }
  return true;
}

bool low_stream_check(lowering *w, int n) {
  const tf_node *t = &w->plan->tree->nodes[n];
  const tf_op *ops = w->plan->wl->ops;
  int x = maximum(w, n);
  for (int i = 0; i < t->n_stream; i++) {
    int o = named_op(w, n, i);
    if (ops[o].reduce == TF_REDUCE_MAX ? o != x : x >= 0 && !has_dims(&ops[o], &ops[x]))
      return tf_fail(w->d, t->stream[i].at, TF_E_STREAM, "emit: '%.40s' %s", ops[o].name,
                     o == x ? "" : "cannot be corrected by one running maximum of the scope");
  }
  return true;
}

/* The reduced dim that the loops above the scope split, as op o sees it. */
static int streamed_dim(const lowering *w, int o) { return w->plan->wl->ops[o].dims[w->plan->wl->ops[o].n_out_dims]; }

ir_stmt *low_over_output(lowering *w, ir_kind kind, int o) {
  const tf_op *op = &w->plan->wl->ops[o];
  ir_stmt *s = low_add(w, kind);
  if (!s) return NULL;
  s->op = o;
  s->range = TF_ARRAY(w->p->arena, ir_range, (size_t)op->n_out_dims + 1);
  if (low_failed(w)) return NULL;
  for (int r = 0; r < op->n_out_dims; r++)
    s->range[r] = *low_range(w, o, op->dims[r]);
  return s;
}

static bool below(const lowering *w, int child, int o) {
  return tf_plan_above(w->plan, child, w->plan->tree->op_node[o]);
}

void low_stream_before(lowering *w, int n, int child) {
  int x = maximum(w, n);
  if (x < 0 || !below(w, child, x)) return;
  int out = w->plan->wl->ops[x].out;
  int old = low_buffer(w, out, "before", false, w->plan->home_level[out]);
  char *id = low_derived(w, w->p->tensor_id[out], "before");
  ir_stmt *s = low_over_output(w, IR_SAVE, x);
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

/* Whether op o multiplies or sums a value whose division by z is deferred. */
static bool is_deferred(const lowering *w, int o, int z) {
  const tf_op *op = &w->plan->wl->ops[o];
  for (int i = 0; i < op->n_reads; i++) {
    int maker = w->plan->wl->tensors[op->reads[i].tensor].producer;
    if (maker >= 0 && w->plan->divides[maker] == z) return true;
  }
  return false;
}

static void correct(lowering *w, int o, int x) {
  ir_atom lo = low_range(w, x, streamed_dim(w, x))->lo;
  if (lo.var < 0) return; /* a single step */
  ir_stmt *s = low_over_output(w, IR_CORRECT, o);
  if (!s) return;
  s->correct.after = w->p->buffer_of[w->plan->wl->ops[x].out];
  s->correct.before = saved(w, w->plan->wl->ops[x].out);
  s->correct.fresh = low_mask_fresh(w, x, streamed_dim(w, x), lo);
}

static void divide(lowering *w, int o, int z) {
  const ir_range *r = low_range(w, z, streamed_dim(w, z));
  const int64_t extent = w->plan->wl->dims[streamed_dim(w, z)].extent;
  ir_stmt *s = low_over_output(w, IR_DIVIDE, o);
  if (!s) return;
  s->divide.by = w->p->buffer_of[w->plan->wl->ops[z].out];
  s->divide.last = r->hi;
  s->divide.at = extent;
}

void low_stream_after(lowering *w, int n, int child) {
  const tf_node *t = &w->plan->tree->nodes[n];
  int x = maximum(w, n);
  for (int i = 0; i < t->n_stream; i++) {
    int o = named_op(w, n, i);
    if (x >= 0 && o != x && below(w, child, x)) correct(w, o, x);
  }
}

void low_stream_end(lowering *w, int n) {
  const tf_node *t = &w->plan->tree->nodes[n];
  for (int i = 0; i < t->n_stream; i++) {
    int z = named_op(w, n, i);
    for (int k = 0; k < t->n_stream; k++) {
      int o = named_op(w, n, k);
      if (o != z && is_deferred(w, o, z)) divide(w, o, z);
    }
  }
}
