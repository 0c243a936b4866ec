#include "model/tree/facts.h"

bool tf_node_touches(const tf_facts *f, int n, int tensor) {
  const tf_tensor *z = &f->wl->tensors[tensor];
  bool found = z->producer >= 0 && tf_op_below(f, z->producer, n);
  for (int i = 0; i < z->n_consumers && !found; i++)
    found = tf_op_below(f, z->consumers[i], n);
  return found;
}

bool tf_loop_trivial(const tf_loop *l) {
  if (l->trip > 0) return l->trip == 1;
  bool ones = l->n_choices > 0;
  for (int i = 0; i < l->n_choices; i++)
    ones = ones && l->choices[i] == 1;
  return ones || l->max == 1;
}

int tf_child_towards(const tf_facts *f, int n, int m) {
  while (f->tree->nodes[m].parent != n)
    m = f->tree->nodes[m].parent;
  return m;
}

/* The child, on the path to o, of the lowest node below which o's output is read.  (In a tree with
 * errors, o's leaf may come after a reader.) */
static int find_lead(const tf_facts *f, int o) {
  const tf_tree *t = f->tree;
  const tf_tensor *z = &f->wl->tensors[f->wl->ops[o].out];
  int leaf = t->op_node[o], lowest = -1;
  if (leaf < 0) return -1;
  for (int i = 0; i < z->n_consumers; i++) {
    int reader = t->op_node[z->consumers[i]];
    int c = reader < 0 ? -1 : tf_tree_common(t, leaf, reader);
    if (c >= 0 && c != leaf && (lowest < 0 || f->depth[c] > f->depth[lowest])) lowest = c;
  }
  return tf_child_towards(f, lowest, leaf);
}

static void number_nodes(tf_facts *f) {
  const tf_tree *t = f->tree;
  int leaves = 0;
  for (int i = 0; i < t->n_nodes; i++) {
    const tf_node *n = &t->nodes[i];
    f->depth[i] = n->parent < 0 ? 0 : f->depth[n->parent] + 1;
    f->leaf_from[i] = leaves;
    f->loop_from[i] = f->n_loops;
    f->n_loops += n->n_loops;
    if (n->op >= 0 && n->kind == TF_OP && t->op_node[n->op] == i) f->leaf_op[leaves++] = n->op;
  }
  for (int i = 0; i < t->n_nodes; i++) {
    int end = t->nodes[i].end;
    f->leaf_end[i] = end < t->n_nodes ? f->leaf_from[end] : leaves;
  }
}

static void number_dims(tf_facts *f) {
  const tf_workload *wl = f->wl;
  for (int i = 0; i < wl->n_ops * wl->n_dims; i++)
    f->dim_slot[i] = -1;
  for (int o = 0; o < wl->n_ops; o++) {
    f->dim_from[o] = f->n_dims;
    f->n_dims += wl->ops[o].n_dims;
    for (int i = 0; i < wl->ops[o].n_dims; i++)
      f->dim_slot[o * wl->n_dims + wl->ops[o].dims[i]] = i;
  }
}

static void find_streams(tf_facts *f) {
  for (int o = 0; o < f->wl->n_ops; o++)
    f->stream_scope[o] = -1;
  for (int i = 0; i < f->tree->n_nodes; i++) {
    const tf_node *n = &f->tree->nodes[i];
    for (int k = 0; n->kind == TF_SCOPE && k < n->n_stream; k++) {
      int o = f->wl->tensors[n->stream[k].tensor].producer;
      if (o >= 0 && tf_op_below(f, o, i)) f->stream_scope[o] = i;
    }
  }
}

/* Finds an op named by a scope that leads there.  Any one will do: no loop on a streamed dim is
 * above the node from which one of them leads (check_loop.c), and they take equally many steps
 * below (check_stream.c), so that their ranges are the same. Needs: lead, stream_scope. */
static void find_leaders(tf_facts *f) {
  for (int o = 0; o < f->wl->n_ops; o++) {
    f->stream_leader[o] = -1;
    const tf_node *n = f->stream_scope[o] >= 0 ? &f->tree->nodes[f->stream_scope[o]] : NULL;
    for (int k = 0; n && k < n->n_stream; k++) {
      int q = f->wl->tensors[n->stream[k].tensor].producer;
      if (q >= 0 && tf_op_below(f, q, f->stream_scope[o]) && tf_leads(f, q, f->stream_scope[o]))
        f->stream_leader[o] = q;
    }
  }
}

static bool allocate(tf_arena *a, tf_facts *f) {
  size_t nodes = (size_t)f->tree->n_nodes, ops = (size_t)f->wl->n_ops;
  f->depth = TF_ARRAY(a, int, nodes);
  f->leaf_from = TF_ARRAY(a, int, nodes);
  f->leaf_end = TF_ARRAY(a, int, nodes);
  f->loop_from = TF_ARRAY(a, int, nodes);
  f->lead = TF_ARRAY(a, int, ops);
  f->leaf_op = TF_ARRAY(a, int, ops);
  f->stream_scope = TF_ARRAY(a, int, ops);
  f->stream_leader = TF_ARRAY(a, int, ops);
  f->dim_from = TF_ARRAY(a, int, ops);
  f->dim_slot = TF_ARRAY(a, int, ops *(size_t)f->wl->n_dims);
  f->home_scope = TF_ARRAY(a, int, (size_t)f->wl->n_tensors);
  return f->depth && f->leaf_from && f->leaf_end && f->loop_from && f->lead && f->leaf_op &&
         f->stream_scope && f->stream_leader && f->dim_from && f->dim_slot && f->home_scope;
}

tf_facts *tf_facts_new(tf_arena *a, const tf_tree *t) {
  tf_facts *f = TF_NEW(a, tf_facts);
  if (!f) return NULL;
  f->tree = t;
  f->arch = t->arch;
  f->wl = t->workload;
  if (!allocate(a, f)) return NULL;
  number_nodes(f);
  number_dims(f);
  find_streams(f);
  for (int o = 0; o < f->wl->n_ops; o++)
    f->lead[o] = find_lead(f, o);
  find_leaders(f);
  for (int z = 0; z < f->wl->n_tensors; z++)
    f->home_scope[z] = tf_tree_home_scope(t, z);
  return f;
}

/* ---- parts of memories --------------------------------------------------------------- */
static void note_roles(const tf_op *op, int tensor, bool found[TF_N_ROLES]) {
  found[TF_ROLE_RESULT] |= op->out == tensor;
  found[TF_ROLE_LEFT] |= op->n_reads > 0 && op->reads[0].tensor == tensor;
  found[TF_ROLE_RIGHT] |= op->n_reads > 1 && op->reads[1].tensor == tensor;
}

int tf_role_below(const tf_facts *f, int n, int tensor) {
  bool found[TF_N_ROLES] = {false};
  for (int i = f->leaf_from[n]; i < f->leaf_end[n]; i++)
    note_roles(&f->wl->ops[f->leaf_op[i]], tensor, found);
  return found[TF_ROLE_RESULT]  ? TF_ROLE_RESULT
         : found[TF_ROLE_LEFT]  ? TF_ROLE_LEFT
         : found[TF_ROLE_RIGHT] ? TF_ROLE_RIGHT
                                : -1;
}

const tf_mem_part *tf_part_for(const tf_memory *m, int role) {
  for (int i = 0; i < m->parts.n && role >= 0; i++)
    if (m->parts.list[i].roles >> role & 1) return &m->parts.list[i];
  return NULL;
}

/* ---- homes -------------------------------------------------------------------------- */
int tf_tree_depth(const tf_tree *t, int n) {
  int depth = 0;
  while ((n = t->nodes[n].parent) >= 0)
    depth++;
  return depth;
}

int tf_tree_common(const tf_tree *t, int a, int b) {
  if (a < 0 || b < 0) return a < 0 ? b : a;
  int da = tf_tree_depth(t, a), db = tf_tree_depth(t, b);
  for (; da > db; da--)
    a = t->nodes[a].parent;
  for (; db > da; db--)
    b = t->nodes[b].parent;
  while (a != b) {
    a = t->nodes[a].parent;
    b = t->nodes[b].parent;
  }
  return a;
}

int tf_tree_home_scope(const tf_tree *t, int tensor) {
  const tf_tensor *z = &t->workload->tensors[tensor];
  if (z->producer < 0 || z->n_consumers == 0) return -1;
  int n = t->op_node[z->producer];
  for (int i = 0; i < z->n_consumers; i++)
    n = tf_tree_common(t, n, t->op_node[z->consumers[i]]);
  return n >= 0 && t->nodes[n].kind == TF_SCOPE ? n : -1;
}

int tf_tree_level_above(const tf_tree *t, int n) {
  while (n >= 0 && t->nodes[n].kind != TF_TILE)
    n = t->nodes[n].parent;
  return n < 0 ? 0 : t->nodes[n].level;
}

int tf_tree_home(const tf_tree *t, int tensor) {
  int n = tf_tree_home_scope(t, tensor);
  if (n < 0) return tf_arch_home(t->arch, &t->workload->tensors[tensor]);
  for (int i = 0; i < t->nodes[n].n_keep; i++)
    if (t->nodes[n].keep[i].tensor == tensor) return t->nodes[n].keep[i].level;
  return tf_tree_level_above(t, n);
}
