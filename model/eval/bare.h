/* Scopes that retain, where no run finds anything of use: then the tree counts as if it retained nothing. */
#ifndef MODEL_EVAL_BARE_H
#define MODEL_EVAL_BARE_H
#include "model/cost/state.h"

/* The model of the tree without `retain`, if at these trip counts (NULL: the tree's own) it counts the same; else
 * NULL. */
struct tf_model *tf_bare_of(struct tf_model *m, const int64_t *trips);
/* A model of the tree; NULL: it is too large, or memory ran out. */
struct tf_model *tf_model_make(const tf_tree *tree);
#endif
