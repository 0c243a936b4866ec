/* Facts that follow from a tree and are needed in many places: leads, homes, units. */
#ifndef MODEL_TREE_FACTS_H
#define MODEL_TREE_FACTS_H
#include "base/arena.h"
#include "tileflow/tree.h"

/* An op without a leaf (in a tree with errors) has no lead and is below no node. */
typedef struct tf_facts {
  const tf_tree *tree;
  const tf_arch *arch;
  const tf_workload *wl;
  int *depth;     /* [node] nodes above it */
  int *lead;      /* [op] topmost node below which no op reads its output; -1: no leaf */
  int *leaf_op;   /* ops in the order of their leaves */
  int *leaf_from; /* [node] the ops below it are leaf_op[leaf_from .. leaf_end - 1] */
  int *leaf_end;  /* [node] */
  int *loop_from; /* [node] number of its first loop, counting all loops of the tree in preorder */
  int n_loops;
  int *home_scope;    /* [tensor] -1: input, output, or not known */
  int *stream_scope;  /* [op] the scope that streams its output; -1: none */
  int *stream_leader; /* [op] of the ops which that scope streams, one that leads there: all have
                         its range; -1: none */
  int *dim_from; /* [op] offset of its dims in arrays over all ops' dims: sum of n_dims before */
  int n_dims;    /* sum of all n_dims */
  int *dim_slot; /* [op * wl->n_dims + dim] index in op->dims, -1: not its dim */
} tf_facts;

/* NULL when memory runs out. */
tf_facts *tf_facts_new(tf_arena *a, const tf_tree *t);

/* Whether node a is b or an ancestor of it. */
static inline bool tf_is_above(const tf_facts *f, int a, int b) {
  return a <= b && b < f->tree->nodes[a].end;
}
/* Whether op o, which is below node n, leads there: no op below n reads its output. */
static inline bool tf_leads(const tf_facts *f, int o, int n) {
  return f->depth[n] >= f->depth[f->lead[o]];
}
static inline bool tf_op_below(const tf_facts *f, int o, int n) {
  return f->tree->op_node[o] >= 0 && tf_is_above(f, n, f->tree->op_node[o]);
}
static inline int tf_dim_slot(const tf_facts *f, int o, int dim) {
  return f->dim_slot[o * f->wl->n_dims + dim];
}
/* Whether op o reduces its i-th dim. */
static inline bool tf_slot_reduced(const tf_facts *f, int o, int i) {
  return i >= f->wl->ops[o].n_out_dims;
}
static inline bool tf_node_bypasses(const tf_node *tile, int tensor) {
  for (int i = 0; i < tile->n_bypass; i++)
    if (tile->bypass[i].tensor == tensor) return true;
  return false;
}
/* Whether some op below node n touches the tensor. */
bool tf_node_touches(const tf_facts *f, int n, int tensor);
/* What the tensor is to the ops below node n (tf_role); -1: none of it, or they do not touch it. */
int tf_role_below(const tf_facts *f, int n, int tensor);
/* The part of a memory that holds what has a role; NULL: none, it counts for the memory alone. */
const tf_mem_part *tf_part_for(const tf_memory *m, int role);
/* Whether the loop cannot have more than one iteration; its trip count may be open. */
bool tf_loop_trivial(const tf_loop *l);

/* The child of node n that is m or an ancestor of it. */
int tf_child_towards(const tf_facts *f, int n, int m);

/* Number of ancestors of node n. */
int tf_tree_depth(const tf_tree *t, int n);
/* The lowest common ancestor, where each node counts as its own ancestor; -1 stands for no node. */
int tf_tree_common(const tf_tree *t, int a, int b);
/* The level of the nearest Tile at or above n; 0 if there is none. */
int tf_tree_level_above(const tf_tree *t, int n);
#endif
