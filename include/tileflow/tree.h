/* Tile trees: the mapping as data (docs/SEMANTICS.md section 1, thesis Eq. 3.1). */
#ifndef TILEFLOW_TREE_H
#define TILEFLOW_TREE_H
#include "tileflow/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scope kinds, one table: id, key, how the words held combine, how time combines (thesis
 * Eq. 3.12, 3.13, 3.22), and what the children may expect: whether passing to one drops what it
 * does not touch, whether they run at once, and whether one may read what another makes.  All code
 * asks these properties; none asks for a kind by name. */
/* clang-format off */
#define TF_SCOPES(X)                                \
  /* id   key     words  time    drops at_once feeds */ \
  X(SEQ,  "Seq",  MAX,   SUM,    true,  false, true)  \
  X(SHAR, "Shar", UNION, SUM,    false, false, true)  \
  X(PARA, "Para", SUM,   MAX,    false, true,  false) \
  X(PIPE, "Pipe", SUM,   STAGES, false, true,  true)
/* clang-format on */
typedef enum {
#define X(id, key, words, time, drops, at_once, feeds) TF_##id,
  TF_SCOPES(X)
#undef X
      TF_N_SCOPES
} tf_scope;
typedef enum { TF_HELD_MAX, TF_HELD_UNION, TF_HELD_SUM } tf_scope_held;
typedef enum { TF_TAKES_SUM, TF_TAKES_MAX, TF_TAKES_STAGES } tf_scope_time;
/* A row of the table. */
typedef struct {
  const char *key;
  tf_scope_held words;
  tf_scope_time time;
  bool drops; /* the child that runs has the memory to itself: what it does not touch is dropped */
  bool at_once; /* children run at the same time, each with a part of the memory; else one after the
                   other */
  bool feeds;   /* a child may read what one before it makes */
} tf_scope_row;
TF_API const tf_scope_row *tf_scope_at(tf_scope s);

typedef enum { TF_TEMPORAL, TF_SPATIAL_X, TF_SPATIAL_Y } tf_axis;

typedef struct tf_loop {
  int dim;
  tf_axis axis;
  int64_t trip; /* >= 1; 0: open ("?") */
  int64_t max;  /* open: "?<=max"; 0 if unbounded */
  int n_choices;
  const int64_t *choices; /* open: "?{1,2,4}" */
  tf_loc at;
} tf_loop;

typedef struct {
  int tensor, level;
  tf_loc at;
} tf_keep;

typedef struct {
  int tensor;
  tf_loc at;
} tf_named;

typedef enum { TF_TILE, TF_SCOPE, TF_OP } tf_node_kind;

/* Nodes are stored in preorder; node 0 is the root.  Fields are valid for the kind named. */
typedef struct {
  tf_node_kind kind;
  tf_loc at;
  int parent;     /* -1: root */
  int child_no;   /* position among its siblings */
  int n_children; /* TILE: 1, SCOPE: >= 2, OP: 0 */
  int *children;  /* node indices */
  int end;        /* one past the last node of its subtree */
  int level;      /* TILE: memory index (0 = outermost) */
  int n_loops;    /* TILE: temporal loops first, outermost first, then spatial ones */
  int n_temporal;
  tf_loop *loops;
  bool order_open; /* TILE: the order of the temporal loops is open: "for {m=4 l=?}" */
  int n_bypass;    /* TILE */
  tf_named *bypass;
  tf_scope scope;  /* SCOPE; SEQ if it is open */
  bool scope_open; /* SCOPE: written as "?" */
  int n_keep, n_retain, n_stream;
  tf_keep *keep;
  tf_named *retain, *stream;
  int op; /* OP: op index */
} tf_node;

typedef struct tf_tree {
  const tf_arch *arch;         /* borrowed: must outlive the tree */
  const tf_workload *workload; /* borrowed */
  int n_nodes;
  tf_node *nodes;
  int *op_node; /* [n_ops] leaf of each op, -1 if absent */
  bool open;    /* some trip count, scope or loop order is left open */
} tf_tree;

/* Parses the text of a mapping and checks every rule of docs/SEMANTICS.md section 1 that does not
 * depend on capacities.  `at` is the place of the text's first character.  NULL with every error in
 * d. */
TF_API tf_tree *tf_tree_parse(const char *text, tf_loc at, const tf_arch *arch,
                              const tf_workload *wl, tf_diags *d);
TF_API void tf_tree_free(tf_tree *t);

/* The mapping as text that tf_tree_parse reads back to the same tree.  Malloc'd, the caller frees;
 * NULL: no memory. */
TF_API char *tf_tree_text(const tf_tree *t);

/* A tree of the same nodes at the same places, checked by the same rules: for its own architecture
 * and workload, or for others with as many memories, dims, tensors and ops, of the same kinds.  d
 * NULL: errors are not reported.  NULL if a rule is broken, or memory ran out. */
TF_API tf_tree *tf_tree_copy(const tf_tree *t, const tf_arch *arch, const tf_workload *wl,
                             tf_diags *d);

/* For a tree that was not read from a file: registers its text in d as a file of that name, and
 * locates all of the tree in it, so that messages show its lines.  False with an error in d: no
 * memory. */
TF_API bool tf_tree_place(tf_tree *t, const char *name, tf_diags *d);

/* The level of the memory where tensor z lives (0 = outermost): of inputs and outputs that of
 * tf_arch_home. */
TF_API int tf_tree_home(const tf_tree *t, int tensor);
/* The home scope of z: the lowest common ancestor of the ops that touch it; -1 for inputs and
 * outputs of the workload. */
TF_API int tf_tree_home_scope(const tf_tree *t, int tensor);

#ifdef __cplusplus
}
#endif
#endif
