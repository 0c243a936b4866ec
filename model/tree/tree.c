/* The tree as a whole: read from text, and where tensors live in it. */
#include "model/tree/facts.h"
#include "model/tree/parse.h"

tf_tree *tf_tree_parse(const char *text, tf_loc at, const tf_arch *arch, const tf_workload *wl, tf_diags *d) {
  tf_build *b = tf_build_new(arch, wl, d);
  if (b) tf_tree_read(b, text, at);
  return tf_build_tree(b);
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
  if (n < 0) return 0;
  for (int i = 0; i < t->nodes[n].n_keep; i++)
    if (t->nodes[n].keep[i].tensor == tensor) return t->nodes[n].keep[i].level;
  return tf_tree_level_above(t, n);
}
