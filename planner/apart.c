/* Ops one after the other: each as it is planned alone, as a search over all ops at once has the product of their
 * spaces before it, and finds worse; or each whole, where its tensors fit. */
#include <stdlib.h>

#include "model/spec/reader.h"
#include "model/tree/build.h"
#include "planner/planner.h"

/* A workload of one op of another: the same dims and tensors, of which those of other ops are idle. */
typedef struct {
  tf_workload workload;
  tf_op op;
  int first; /* of the ops: 0 */
  int64_t no_pad[TF_MAX_RANK];
} lone;

static bool reads(const tf_op *op, int z) {
  bool does = false;
  for (int i = 0; i < op->n_reads; i++)
    does |= op->reads[i].tensor == z;
  return does;
}

/* False: no memory. */
static bool isolate(const tf_workload *wl, int o, lone *l) {
  *l = (lone){.workload = *wl, .op = wl->ops[o]};
  l->workload.n_ops = 1;
  l->workload.ops = &l->op;
  l->workload.topo = &l->first;
  l->workload.tensors = calloc((size_t)wl->n_tensors, sizeof *l->workload.tensors);
  for (int z = 0; z < wl->n_tensors && l->workload.tensors; z++) {
    tf_tensor *t = &l->workload.tensors[z];
    *t = wl->tensors[z];
    t->producer = l->op.out == z ? 0 : -1;
    t->n_consumers = reads(&l->op, z);
    t->consumers = &l->first;
    if (l->op.out == z) t->pad = l->no_pad; /* who reads it beyond its borders is another op */
  }
  return l->workload.tensors;
}

/* Adds the mapping of op o alone below the scope. */
static void put(tf_build *b, int scope, const tf_tree *t, int o) {
  const tf_node *root = &t->nodes[0];
  const bool idle = root->n_loops == 0 && t->n_nodes > 1 && t->nodes[1].kind == TF_TILE;
  const int shift = tf_build_draft(b)->n_nodes - idle;
  for (int i = idle; i < t->n_nodes; i++) {
    tf_node n = t->nodes[i];
    n.parent = i == idle ? scope : n.parent + shift;
    if (n.kind == TF_OP) n.op = o;
    tf_build_node(b, &n);
    for (int k = 0; k < n.n_loops; k++)
      tf_build_loop(b, n.loops[k]);
  }
}

/* Plans op o alone and adds its mapping.  *found: whether it has one.  False: an error. */
static bool plan_alone(planner *p, int o, tf_build *b, int scope, bool *found) {
  lone l;
  tf_planner_opts opts = *p->o;
  opts.n_time = 0;
  *found = false;
  if (plan_over(p)) return true;
  opts.budget.time_limit = plan_seconds_left(p);
  if (!isolate(p->wl, o, &l)) return plan_no_memory(p);
  tf_planned *q = plan_of_one(p->arch, &l.workload, &opts, p->d);
  *found = q && q->tree;
  if (*found) put(b, scope, q->tree, o);
  if (q) p->plan->evals += q->evals, p->plan->walked += q->walked;
  const bool ok = q;
  tf_planned_free(q);
  free(l.workload.tensors);
  return ok;
}

bool plan_apart(planner *p, tf_tree **made) {
  bool ok = true, found = true;
  tf_build *b = tf_build_new(p->arch, p->wl, NULL);
  *made = NULL;
  if (!b) return plan_no_memory(p);
  const int root = tf_build_tile(b, -1, 0), scope = tf_build_scope(b, root, TF_SEQ);
  for (int i = 0; ok && found && i < p->wl->n_ops; i++)
    ok = plan_alone(p, p->wl->topo[i], b, scope, &found);
  if (ok && found)
    *made = tf_build_tree(b);
  else
    tf_build_free(b);
  return ok;
}

/* The memory furthest in of those outside of its unit that hold all tensors of the op. */
static int holder(const planner *p, const tf_op *op) {
  const tf_arch *a = p->arch;
  int level = 0;
  double words = (double)tf_tensor_words(&p->wl->tensors[op->out]);
  for (int i = 0; i < op->n_reads; i++)
    words += (double)tf_tensor_words(&p->wl->tensors[op->reads[i].tensor]);
  for (int u = 0; u < a->n_units; u++)
    if (!(op->kinds & ~a->units[u].kinds) && a->units[u].below > level) level = a->units[u].below;
  for (; level > 0; level--) {
    const tf_memory *m = &a->memories[level];
    if (m->capacity_words < 0 || (m->double_buffered ? 2 : 1) * words <= (double)m->capacity_words) break;
  }
  return level;
}

bool plan_whole_ops(planner *p, tf_tree **made) {
  const tf_workload *wl = p->wl;
  tf_build *b = tf_build_new(p->arch, wl, NULL);
  *made = NULL;
  if (!b) return plan_no_memory(p);
  const int root = tf_build_tile(b, -1, 0), scope = wl->n_ops > 1 ? tf_build_scope(b, root, TF_SEQ) : root;
  for (int i = 0; i < wl->n_ops; i++) {
    const tf_op *op = &wl->ops[wl->topo[i]];
    const int tile = tf_build_tile(b, scope, holder(p, op));
    for (int k = 0; k < op->n_dims; k++)
      tf_build_loop(b, (tf_loop){.dim = op->dims[k], .axis = TF_TEMPORAL, .trip = wl->dims[op->dims[k]].extent});
    tf_build_op(b, tile, wl->topo[i]);
  }
  *made = tf_build_tree(b);
  return true;
}
