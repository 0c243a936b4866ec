/* Who reads what, and the order of the ops. */
#include "model/input/workload_read.h"

/* The tensor of read i, if no earlier read has it; else -1. */
static int first_read(const tf_op *op, int i) {
  for (int k = 0; k < i; k++)
    if (op->reads[k].tensor == op->reads[i].tensor) return -1;
  return op->reads[i].tensor;
}

/* Consumers of every tensor, each op once, in op order. */
static bool find_consumers(tf_wl_reader *w) {
  tf_workload *wl = w->wl;
  for (int pass = 0; pass < 2; pass++) {
    for (int o = 0; o < wl->n_ops; o++)
      for (int i = 0; i < wl->ops[o].n_reads; i++) {
        int t = first_read(&wl->ops[o], i);
        if (t < 0) continue;
        if (pass) wl->tensors[t].consumers[wl->tensors[t].n_consumers] = o;
        wl->tensors[t].n_consumers++;
      }
    for (int t = 0; t < wl->n_tensors && pass == 0; t++) {
      tf_tensor *z = &wl->tensors[t];
      z->consumers = TF_ARRAY(w->base->arena, int, (size_t)z->n_consumers);
      if (!z->consumers) return tf_no_memory(w->base);
      z->n_consumers = 0;
    }
  }
  return true;
}

/* How many of the op's operands are still to be made. */
static int count_waiting(const tf_workload *wl, const tf_op *op) {
  int n = 0;
  for (int i = 0; i < op->n_reads; i++) {
    int t = first_read(op, i);
    n += t >= 0 && wl->tensors[t].producer >= 0;
  }
  return n;
}

/* An op that makes an operand of `op` and was not ordered; -1: none. */
static int unordered_source(const tf_workload *wl, int op, const int *waiting) {
  for (int i = 0; i < wl->ops[op].n_reads; i++) {
    int p = wl->tensors[wl->ops[op].reads[i].tensor].producer;
    if (p >= 0 && waiting[p] >= 0) return p;
  }
  return -1;
}

/* The first read of what that op makes, or of a view of it. */
static const tf_ref *read_from(const tf_workload *wl, const tf_op *op, int maker) {
  int i = 0;
  while (wl->tensors[op->reads[i].tensor].producer != maker)
    i++;
  return &op->reads[i];
}

/* From any op that could not be ordered, sources lead into a cycle; it is reported once. */
static void fail_cycle(tf_wl_reader *w, const int *waiting, int start, int *seen) {
  const tf_workload *wl = w->wl;
  int op = start;
  while (!seen[op]) {
    seen[op] = start + 1;
    op = unordered_source(wl, op, waiting);
  }
  if (seen[op] != start + 1) return; /* reported from another start */
  w->failed = true;
  int first = op, notes = 0;
  for (int from; notes == 0 || op != first; op = from) {
    from = unordered_source(wl, op, waiting);
    const tf_ref *ref = read_from(wl, &wl->ops[op], from);
    const char *what = wl->tensors[ref->tensor].name;
    if (notes == 0)
      tf_fail(w->base->diags, ref->at, TF_E_CYCLE,
              "op '%.60s' needs '%.60s', which needs it in turn", wl->ops[op].name, what);
    else if (notes <= 8)
      tf_note(w->base->diags, ref->at, "'%.60s' needs '%.60s'", wl->ops[op].name, what);
    notes++;
  }
}

/* One operand less is waited for; the first op in the file that waits for none any more, or next.
 */
static int release(const tf_workload *wl, int tensor, int *waiting, int next) {
  const tf_tensor *z = &wl->tensors[tensor];
  for (int c = 0; c < z->n_consumers; c++) {
    int user = z->consumers[c];
    if (--waiting[user] == 0 && user < next) next = user;
  }
  return next;
}

/* Takes, again and again, the first op in the file whose operands are all there.  view: [n_views]
 * the tensors that are views. */
static int sort_ops(tf_workload *wl, int *waiting, const int *view, int n_views) {
  int n = 0;
  for (int o = 0; o < wl->n_ops;) {
    if (waiting[o] != 0) {
      o++;
      continue;
    }
    waiting[o] = -1;
    wl->topo[n++] = o;
    int next = release(wl, wl->ops[o].out, waiting, o + 1);
    for (int t = 0; t < n_views; t++)
      if (wl->tensors[view[t]].producer == o) next = release(wl, view[t], waiting, next);
    o = next;
  }
  return n;
}

void tf_op_order(tf_wl_reader *w) {
  tf_workload *wl = w->wl;
  size_t n = (size_t)wl->n_ops;
  int *waiting = TF_ARRAY(w->base->arena, int, n), *seen = TF_ARRAY(w->base->arena, int, n);
  wl->topo = TF_ARRAY(w->base->arena, int, n);
  if (!waiting || !seen || !wl->topo || !find_consumers(w)) {
    w->failed = !tf_no_memory(w->base);
    return;
  }
  int *view = TF_ARRAY(w->base->arena, int, (size_t)wl->n_tensors), n_views = 0;
  if (!view) {
    w->failed = !tf_no_memory(w->base);
    return;
  }
  for (int t = 0; t < wl->n_tensors; t++)
    if (wl->tensors[t].view_of) view[n_views++] = t;
  for (int o = 0; o < wl->n_ops; o++)
    waiting[o] = count_waiting(wl, &wl->ops[o]);
  if (sort_ops(wl, waiting, view, n_views) == wl->n_ops) return;
  for (int o = 0; o < wl->n_ops; o++)
    if (waiting[o] > 0 && !seen[o]) fail_cycle(w, waiting, o, seen);
}
