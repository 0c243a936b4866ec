/* The tree as a whole: made from text, given back, and where tensors live in it. */
#include "model/tree/check.h"
#include "model/tree/facts.h"

/* A tf_tree with the memory behind it. */
typedef struct {
  tf_tree tree; /* first, so that a tf_tree * is a pointer to the whole */
  tf_arena *arena;
} owned_tree;

tf_tree *tf_tree_parse(const char *text, tf_loc at, const tf_arch *arch, const tf_workload *wl, tf_diags *d) {
  size_t before = tf_diags_errors(d);
  tf_arena *arena = tf_arena_new();
  owned_tree *t = arena ? TF_NEW(arena, owned_tree) : NULL;
  tf_tree_reader r = {.arena = arena, .diags = d};
  if (!t) {
    tf_tree_no_memory(&r);
    tf_arena_free(arena);
    return NULL;
  }
  t->arena = arena;
  t->tree.arch = arch;
  t->tree.workload = wl;
  r.tree = &t->tree;
  tf_tree_read(&r, text, at);
  if (r.whole && t->tree.n_nodes > 0) tf_tree_check(&r);
  if (tf_diags_errors(d) == before) return &t->tree;
  tf_arena_free(arena);
  return NULL;
}

void tf_tree_free(tf_tree *t) {
  if (t) tf_arena_free(((owned_tree *)t)->arena);
}

/* ---- homes -------------------------------------------------------------------------- */
static int depth_of(const tf_tree *t, int n) {
  int depth = 0;
  while ((n = t->nodes[n].parent) >= 0)
    depth++;
  return depth;
}

int tf_tree_common(const tf_tree *t, int a, int b) {
  if (a < 0 || b < 0) return a < 0 ? b : a;
  int da = depth_of(t, a), db = depth_of(t, b);
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
