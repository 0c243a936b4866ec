/* Scopes that retain, where no run finds anything of use: then the tree counts as if it retained
 * nothing. */
#ifndef MODEL_EVAL_BARE_H
#define MODEL_EVAL_BARE_H
#include "model/cost/state.h"

/* The tree without `retain`, in the model's arena; NULL: it is of no use, or memory ran out. */
tf_tree *tf_bare_tree(const struct tf_model *m);
/* Prepares m->bare, which is new.  False: it is of no use (a mask's steps are left out only where
 * nothing is retained), or memory ran out. */
bool tf_bare_prepare(struct tf_model *m);
/* Whether m->bare counts the same at these trip counts (NULL: the tree's own); passes m's options
 * on to it. */
bool tf_bare_counts(struct tf_model *m, const int64_t *trips);
/* After m->bare was evaluated: whether Seqs further out drop what is held at each step, as
 * tf_bare_counts takes for granted. */
bool tf_bare_holds(struct tf_model *m);
/* The same of a plan that retains, with its steps known: else what is found depends on the step,
 * and only the walk can tell. */
bool tf_always_drops(const tf_plan *p, const tf_eval *ev);
#endif
