/* The canonical form of a problem: ops, tensors and dims in a canonical order (order.h), named by
 * their numbers; mesh axes exchanged where the first mesh that is not square is longer on Y.
 * Searches and solvers work on this form, so that what they find does not depend on names, the
 * order of lines in a file, or the orientation of meshes. */
#ifndef SEARCH_COMMON_CANON_H
#define SEARCH_COMMON_CANON_H
#include "model/tree/build.h"

typedef struct tf_canon tf_canon;

/* Borrows both.  NULL with an error in d if memory runs out. */
tf_canon *tf_canon_new(const tf_arch *arch, const tf_workload *wl, tf_diags *d);
/* One op of the workload as a problem of its own: what other ops make for it is an input, and what
 * they read of it an output.  NULL: memory ran out. */
tf_canon *tf_canon_of_op(const tf_arch *arch, const tf_workload *wl, int op);
/* Trees of the canonical form must be freed before. */
void tf_canon_free(tf_canon *c);

const tf_arch *tf_canon_arch(const tf_canon *c);
const tf_workload *tf_canon_workload(const tf_canon *c);
/* The caller's number of a dim of the canonical form. */
int tf_canon_dim(const tf_canon *c, int dim);

/* A tree of the caller's problem as one of the canonical form, and back.  d NULL: errors are not
 * reported.  NULL if memory ran out, or with an error in d if a rule is broken. */
tf_tree *tf_canon_tree(const tf_canon *c, const tf_tree *given, tf_diags *d);
tf_tree *tf_canon_back(const tf_canon *c, const tf_tree *found, tf_diags *d);
/* Adds a tree of the canonical form below a node of a tree of the caller's problem. */
void tf_canon_put_back(const tf_canon *c, const tf_tree *found, int parent, tf_build *b);
#endif
