/* A single op of several; and mappings in which ops run in sequence. */
#include <stdlib.h>

#include "model/input/dims.h"
#include "planner/planner.h"

bool plan_isolate(const tf_workload *wl, int o, plan_single_op *l) {
  *l = (plan_single_op){.workload = *wl, .op = wl->ops[o]};
  l->workload.n_ops = 1;
  l->workload.ops = &l->op;
  l->workload.topo = &l->first;
  l->workload.tensors = calloc((size_t)wl->n_tensors, sizeof *l->workload.tensors);
  for (int z = 0; z < wl->n_tensors && l->workload.tensors; z++) {
    tf_tensor *t = &l->workload.tensors[z];
    *t = wl->tensors[z];
    t->producer = l->op.out == z ? 0 : -1;
    t->n_consumers = tf_op_reads(&l->op, z);
    t->consumers = &l->first;
    if (l->op.out == z) t->pad = l->no_pad; /* reads beyond its borders are other ops' */
  }
  return l->workload.tensors;
}

void plan_add_op(tf_build *b, int scope, const tf_tree *t, int o) {
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

/* The innermost memory, outside of the op's unit, that can hold all its tensors. */
static int innermost_holder(const planner *p, const tf_op *op) {
  const tf_arch *a = p->arch;
  int level = 0;
  double words = (double)tf_tensor_words(&p->wl->tensors[op->out]);
  for (int i = 0; i < op->n_reads; i++)
    words += (double)tf_tensor_words(&p->wl->tensors[op->reads[i].tensor]);
  for (int u = 0; u < a->n_units; u++)
    if (!(op->kinds & ~a->units[u].kinds) && a->units[u].below > level) level = a->units[u].below;
  for (; level > 0; level--) {
    const tf_memory *m = &a->memories[level];
    if (m->capacity_words < 0 || (m->double_buffered ? 2 : 1) * words <= (double)m->capacity_words)
      break;
  }
  return level;
}

bool plan_ops_in_sequence(planner *p, tf_tree **made) {
  const tf_workload *wl = p->wl;
  tf_build *b = tf_build_new(p->arch, wl, NULL);
  *made = NULL;
  if (!b) return plan_no_memory(p);
  const int root = tf_build_tile(b, -1, 0),
            scope = wl->n_ops > 1 ? tf_build_scope(b, root, TF_SEQ) : root;
  for (int i = 0; i < wl->n_ops; i++) {
    const tf_op *op = &wl->ops[wl->topo[i]];
    const int tile = tf_build_tile(b, scope, innermost_holder(p, op));
    for (int k = 0; k < op->n_dims; k++)
      tf_build_loop(
          b,
          (tf_loop){.dim = op->dims[k], .axis = TF_TEMPORAL, .trip = wl->dims[op->dims[k]].extent});
    tf_build_op(b, tile, wl->topo[i]);
  }
  *made = tf_build_tree(b);
  return true;
}
