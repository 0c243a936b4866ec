/* Trees that retain without reuse: they count as without `retain`. */
#ifndef MODEL_EVAL_BARE_H
#define MODEL_EVAL_BARE_H
#include "model/cost/state.h"

/* The tree without `retain`, in the model's arena; NULL: not applicable, or memory ran out. */
tf_tree *tf_bare_tree(const struct tf_model *m);
/* Prepares the new m->bare.  False: not applicable (masks skip steps only where nothing is
 * retained), or memory ran out. */
bool tf_bare_prepare(struct tf_model *m);
/* Whether m->bare gives the same counts at these trip counts (NULL: the tree's own); copies m's
 * options to it. */
bool tf_bare_counts(struct tf_model *m, const int64_t *trips);
/* After m->bare was evaluated: whether Seqs further out drop what is held at each step, as
 * tf_bare_counts assumes. */
bool tf_bare_holds(struct tf_model *m);
/* The same for a plan that retains, by the steps of `by`, a model of it or of its bare tree; else
 * reuse depends on the step, and only the walk can count it. */
bool tf_always_drops(const tf_plan *p, struct tf_model *by);
#endif
