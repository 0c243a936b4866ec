#include "model/flow/online.h"

#include <math.h>

#include "model/tree/algebra.h"

/* ---- deferred divisions --------------------------------------------------------------------- */

typedef struct {
  const tf_plan *p;
  tf_value_change *change; /* [tensor] within the steps */
  tf_value_change *seen;   /* [tensor] how it changes within the steps */
  tf_value_change *work;   /* [longest expression] */
  tf_rows rows;
  int *scope; /* [tensor] within whose steps it changes; -1: it is final */
  bool *kept; /* [tensor] a streamed sum that must be read: with a single step, tensors that depend
                 on it may leave the scope, or hold it otherwise than as a factor of their row */
  bool again; /* another sum must be kept */
} streams;

static const tf_value_change final = {.change = TF_V_FIXED, .max = -1, .sum = -1};

static void keep_stream(streams *q, int sum) {
  if (sum < 0 || q->kept[sum]) return;
  q->kept[sum] = q->again = true;
}

static void look_up_inputs(streams *q, int o) {
  const tf_op *op = &q->p->wl->ops[o];
  for (int i = 0; i < op->n_reads; i++) {
    const int z = op->reads[i].tensor;
    const bool running =
        q->scope[z] >= 0 && tf_plan_above(q->p, q->scope[z], q->p->tree->op_node[o]);
    q->seen[z] = running ? q->change[z] : final;
  }
}

/* Op o's output depends on running results, and is not one itself. */
static void depends(streams *q, int o, tf_value_change v) {
  const tf_op *op = &q->p->wl->ops[o];
  const tf_tensor *z = &q->p->wl->tensors[op->out];
  const bool commutes =
      op->reduce == TF_ASSIGN || (op->reduce == TF_REDUCE_ADD && v.change == TF_V_SCALES);
  bool leaves = z->n_consumers == 0;
  for (int i = 0; i < op->n_reads; i++) {
    const int read = op->reads[i].tensor;
    if (q->seen[read].change == TF_V_FIXED) continue;
    q->scope[op->out] = q->scope[read];
    for (int c = 0; c < z->n_consumers; c++)
      leaves |= !tf_plan_above(q->p, q->scope[read], q->p->tree->op_node[z->consumers[c]]);
    if (v.change == TF_V_OTHER || !commutes) keep_stream(q, q->seen[read].sum);
  }
  if (leaves) keep_stream(q, v.sum);
  q->change[op->out] = v;
}

static void streamed(streams *q, tf_online *n, int o, const tf_value_change *v) {
  const tf_op *op = &q->p->wl->ops[o];
  const bool max = op->reduce == TF_REDUCE_MAX;
  q->scope[op->out] = q->kept[op->out] ? -1 : q->p->stream_scope[o];
  q->change[op->out] = (tf_value_change){.change = max ? TF_V_SHIFTS : TF_V_SCALES,
                                         .max = max ? op->out : v->max,
                                         .sum = max ? -1 : op->out,
                                         .factor = max,
                                         .power = !max};
  n->maximum[o] = max || v->max < 0 ? -1 : q->p->wl->tensors[v->max].producer;
  n->rate[o] = -v->factor;
  n->divided_by[o] = v->sum >= 0 && v->power == -1 ? q->p->wl->tensors[v->sum].producer : -1;
}

/* Finds how each op's value changes, given which sums are kept. */
static void find_changes(streams *q, tf_online *n) {
  const tf_workload *wl = q->p->wl;
  q->again = false;
  for (int z = 0; z < wl->n_tensors; z++) {
    q->change[z] = final;
    q->scope[z] = -1;
  }
  for (int i = 0; i < wl->n_ops; i++) {
    const int o = wl->topo[i];
    look_up_inputs(q, o);
    tf_value_change v = tf_change_of(&wl->ops[o], q->seen, q->work);
    tf_rows_apply(&q->rows, &wl->ops[o], q->p->stream_scope[o] >= 0, &v);
    n->maximum[o] = n->divided_by[o] = -1;
    if (q->p->stream_scope[o] >= 0)
      streamed(q, n, o, &v);
    else if (v.change != TF_V_FIXED)
      depends(q, o, v);
  }
}

/* ---- all of them ---------------------------------------------------------------------------- */

static bool allocate(streams *q, tf_arena *a, tf_online *n) {
  const size_t tensors = (size_t)q->p->wl->n_tensors, ops = (size_t)q->p->wl->n_ops,
               dims = (size_t)q->p->wl->n_dims;
  size_t longest = 1;
  for (size_t o = 0; o < ops; o++)
    if ((size_t)q->p->wl->ops[o].n_expr > longest) longest = (size_t)q->p->wl->ops[o].n_expr;
  q->change = TF_ARRAY(a, tf_value_change, tensors);
  q->seen = TF_ARRAY(a, tf_value_change, tensors);
  q->work = TF_ARRAY(a, tf_value_change, longest);
  q->rows = (tf_rows){q->p->wl, q->seen, TF_ARRAY(a, bool, tensors *dims + 1),
                      TF_ARRAY(a, bool, dims + 1)};
  q->scope = TF_ARRAY(a, int, tensors);
  q->kept = TF_ARRAY(a, bool, tensors);
  n->step = TF_ARRAY(a, tf_op_step, ops);
  n->maximum = TF_ARRAY(a, int, ops);
  n->divided_by = TF_ARRAY(a, int, ops);
  n->rate = TF_ARRAY(a, double, ops);
  return q->change && q->seen && q->work && q->rows.rows && q->rows.moves && q->scope && q->kept &&
         n->step && n->maximum && n->divided_by && n->rate;
}

/* [tensor] the constant that replaces it within the steps; NAN: none. */
static bool find_steps(streams *q, tf_arena *a, tf_online *n) {
  const tf_workload *wl = q->p->wl;
  double *stands = TF_ARRAY(a, double, (size_t)wl->n_tensors + 1), *value = NULL;
  for (int z = 0; stands && z < wl->n_tensors; z++)
    stands[z] = q->scope[z] >= 0 && q->change[z].sum == z ? 1 : NAN;
  for (int i = 0; stands && i < wl->n_ops; i++) {
    const int o = wl->topo[i];
    const tf_op *op = &wl->ops[o];
    if (!(value = TF_ARRAY(a, double, (size_t)op->n_reads + 1))) return false;
    for (int k = 0; k < op->n_reads; k++) {
      const int z = op->reads[k].tensor;
      const bool within =
          q->scope[z] >= 0 && tf_plan_above(q->p, q->scope[z], q->p->tree->op_node[o]);
      value[k] = within ? stands[z] : NAN;
    }
    if (!tf_op_step_of(a, op, value, &n->step[o])) return false;
    if (q->scope[op->out] < 0)
      n->step[o].number = n->step[o].hands_on = false; /* its output is final */
    if (n->step[o].number) stands[op->out] = n->step[o].op->expr[0].number;
  }
  return stands != NULL;
}

bool tf_online_new(tf_arena *a, tf_plan *p) {
  bool any = false;
  for (int o = 0; o < p->wl->n_ops; o++)
    any |= p->stream_scope[o] >= 0;
  if (!any) return true;
  streams q = {.p = p};
  p->online = TF_NEW(a, tf_online);
  if (!p->online || !allocate(&q, a, p->online)) return false;
  do
    find_changes(&q, p->online);
  while (q.again);
  return find_steps(&q, a, p->online);
}
