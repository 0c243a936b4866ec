/* Single evaluations of trees outside of a search's tasks, with their effort. */
#ifndef SEARCH_COMMON_TRIAL_H
#define SEARCH_COMMON_TRIAL_H
#include "tileflow/search.h"

typedef struct {
  tf_objective objective;
  const char *exportable; /* as in tf_search_opts */
  int64_t evals, effort;  /* spent so far */
  bool failed;            /* memory ran out */
} tf_evaluator;

/* Evaluates the tree, all points of it; false: it does not fit, or only a long walk could count it.
 * recomputed (or NULL) marks the tensors of which its ops make a part more than once. */
bool tf_evaluate_tree(const tf_tree *t, tf_evaluator *q, tf_figures *f, bool *recomputed);
#endif
