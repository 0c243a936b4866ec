#include "search/space/pairs.h"

#include "model/input/dims.h"
#include "model/tree/build.h"
#include "search/common/ops.h"

/* The only op below the node; -1: there are several. */
static int only_op(const tf_tree *t, int node) {
  int op = -1, n = 0;
  for (int i = node; i < t->nodes[node].end; i++)
    if (t->nodes[i].kind == TF_OP) op = t->nodes[i].op, n++;
  return n == 1 ? op : -1;
}

static bool indexes(const tf_workload *wl, const tf_op *op, int tensor, int dim) {
  bool does = false;
  for (int r = 0; r < op->n_reads; r++)
    does |=
        op->reads[r].tensor == tensor && tf_ref_moves(&op->reads[r], wl->tensors[tensor].rank, dim);
  return does;
}

static void open_loop(tf_build *b, const tf_workload *wl, int dim, tf_axis axis) {
  if (wl->dims[dim].extent > 1) tf_build_loop(b, (tf_loop){.dim = dim, .axis = axis});
}

/* The op's own Tiles from memory 1 on. */
static void put_op(tf_build *b, const tf_tree *t, int o, int parent) {
  const tf_op *op = &t->workload->ops[o];
  const tf_unit *unit = &t->arch->units[tf_ops_unit(t->arch, t->workload, o)];
  for (int l = 1; l <= unit->below; l++) {
    const int64_t *mesh = l == unit->below ? unit->mesh : t->arch->memories[l + 1].mesh;
    parent = tf_build_tile(b, parent, l);
    for (int i = 0; i < op->n_dims; i++)
      open_loop(b, t->workload, op->dims[i], TF_TEMPORAL);
    for (int a = 0; a < 2; a++)
      for (int i = 0; i < op->n_dims && mesh[a] > 1; i++)
        if (!tf_ops_window(t->workload, op->dims[i]))
          open_loop(b, t->workload, op->dims[i], a ? TF_SPATIAL_Y : TF_SPATIAL_X);
  }
  tf_build_op(b, parent, o);
}

/* Loops over what the second op makes are outside of those over what it sums; what both read stays
 * from run to run. */
static void put_pair(tf_build *b, const tf_tree *t, int first, int second) {
  const tf_op *last = &t->workload->ops[second];
  const int z = t->workload->ops[first].out;
  const int tile = tf_build_tile(b, 0, 0);
  for (int i = 0; i < last->n_dims; i++)
    if (indexes(t->workload, last, z, last->dims[i]))
      open_loop(b, t->workload, last->dims[i], TF_TEMPORAL);
  const int scope = tf_build_scope(b, tile, TF_SHAR);
  tf_build_keep(b, (tf_keep){.tensor = z, .level = 1});
  put_op(b, t, first, scope);
  put_op(b, t, second, scope);
}

static bool lies_below(const tf_tree *t, int o) {
  const int u = tf_ops_unit(t->arch, t->workload, o);
  return u >= 0 && t->arch->units[u].below >= 1;
}

/* Copies the tree's nodes before and after those of the pair; by: how much lower the numbers of the
 * latter become. */
static void put_others(tf_build *b, const tf_tree *t, int from, int to, int by) {
  for (int n = from; n < to; n++) {
    tf_node like = t->nodes[n];
    if (like.parent >= from && from > 0) like.parent -= by;
    tf_build_node(b, &like);
    for (int k = 0; k < like.n_loops; k++)
      tf_build_loop(b, t->nodes[n].loops[k]);
  }
}

tf_tree *tf_pairs_fused(const tf_tree *t, int node) {
  const tf_node *root = &t->nodes[0];
  const int next = node > 0 && node < t->n_nodes ? t->nodes[node].end : 0;
  const bool in_turn =
      root->kind == TF_SCOPE && !root->scope_open && !tf_scope_at(root->scope)->at_once;
  if (!in_turn || next >= t->n_nodes || t->nodes[node].parent || t->nodes[next].parent) return NULL;
  const int first = only_op(t, node), second = only_op(t, next);
  if (first < 0 || second < 0 || !lies_below(t, first) || !lies_below(t, second)) return NULL;
  const tf_tensor *z = &t->workload->tensors[t->workload->ops[first].out];
  if (z->n_consumers != 1 || z->consumers[0] != second) return NULL;
  tf_build *b = tf_build_new(t->arch, t->workload, NULL);
  if (!b) return NULL;
  put_others(b, t, 0, node, 0);
  put_pair(b, t, first, second);
  const int behind = t->nodes[next].end;
  put_others(b, t, behind, t->n_nodes, behind - tf_build_draft(b)->n_nodes);
  return tf_build_tree(b);
}
