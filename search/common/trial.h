/* Trees that are tried beside those of a search: one evaluation each, and what they have spent. */
#ifndef SEARCH_COMMON_TRIAL_H
#define SEARCH_COMMON_TRIAL_H
#include "tileflow/search.h"

typedef struct {
  tf_objective by;
  const char *exportable; /* as in tf_search_opts */
  int64_t evals, effort;  /* spent so far */
  bool failed;            /* memory ran out */
} tf_trying;

/* Evaluates the tree, all points of it; false: it does not fit, or only a long walk counts it.
 * Marks (NULL: not asked) what its ops make more than once. */
bool tf_tried(const tf_tree *t, tf_trying *q, tf_figures *f, bool *again);
#endif
