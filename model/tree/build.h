/* Builds trees node by node, in preorder: for the reader of mapping texts, the search and the
 * solvers.  The same rules are checked for all of them.  For messages, a node without a place is
 * located in the text that tf_tree_text would print; its loops and lists are located like the node.
 */
#ifndef MODEL_TREE_BUILD_H
#define MODEL_TREE_BUILD_H
#include "tileflow/tree.h"

enum { TF_TREE_MAX_DEPTH = 256, TF_TREE_MAX_NODES = 65536 };

typedef struct tf_build tf_build;

/* A tree of the ops of wl on arch; borrows both.  Errors go to d, which nobody else may write to
 * until the tree is done; d NULL: errors are only counted.  NULL when memory runs out.  Once memory
 * or a limit is exceeded nothing more is added, and tf_build_tree returns NULL. */
tf_build *tf_build_new(const tf_arch *arch, const tf_workload *wl, tf_diags *d);
void tf_build_free(tf_build *b);

/* Adds a node after the other children of like->parent (-1: the root): its kind, its level, scope
 * or op, its lists, and what of it is open, but no loops.  Returns its number in the tree; -1 when
 * it cannot be added. */
int tf_build_node(tf_build *b, const tf_node *like);

static inline int tf_build_tile(tf_build *b, int parent, int level) {
  return tf_build_node(b, &(tf_node){.kind = TF_TILE, .parent = parent, .level = level, .op = -1});
}
static inline int tf_build_scope(tf_build *b, int parent, tf_scope scope) {
  return tf_build_node(
      b, &(tf_node){.kind = TF_SCOPE, .parent = parent, .scope = scope, .level = -1, .op = -1});
}
static inline int tf_build_op(tf_build *b, int parent, int op) {
  return tf_build_node(b, &(tf_node){.kind = TF_OP, .parent = parent, .level = -1, .op = op});
}

/* Adds to the last node: a loop, inside those of its kind (temporal loops are outside spatial
 * ones), or an entry of a list.  A tensor that the list has already is an error. */
void tf_build_loop(tf_build *b, tf_loop l);
void tf_build_bypass(tf_build *b, tf_named z);
void tf_build_keep(tf_build *b, tf_keep k);
void tf_build_retain(tf_build *b, tf_named z);
void tf_build_stream(tf_build *b, tf_named z);

/* The nodes added so far, for tf_tree_text; they are neither linked nor checked. */
const tf_tree *tf_build_draft(const tf_build *b);
/* Whether memory and limits have sufficed so far. */
bool tf_build_whole(const tf_build *b);

/* The tree if it obeys every rule; else NULL with every violation in d.  Frees b, which may be
 * NULL. */
tf_tree *tf_build_tree(tf_build *b);
#endif
