/* Trees that are tried beside those of a search; and mappings that make a part of an intermediate more than once,
 * with scopes that retain it. */
#ifndef SEARCH_COMMON_RETAIN_H
#define SEARCH_COMMON_RETAIN_H
#include "tileflow/search.h"

typedef struct {
  tf_objective by;
  const char *exportable; /* as in tf_search_opts */
  double goal;            /* polish.h: where it is met nothing better is looked for */
  uint64_t seed;          /* polish.h: of its random moves */
  int64_t evals, effort;  /* spent so far */
  bool failed;            /* memory ran out */
} tf_trying;

/* Evaluates the tree, all points of it; false: it does not fit, or only a long walk counts it.  Marks (NULL: not asked)
 * what its ops make more than once. */
bool tf_tried(const tf_tree *t, tf_trying *q, tf_figures *f, bool *again);
/* Looks for a mapping below `value`: the tree, where home scopes retain what it makes more than once, of all such
 * intermediates or of one.  What is padded is not, and what only a long walk counts is left out.  Fills in the tree and
 * its figures, but no text; false: there is none. */
bool tf_retained(const tf_tree *tree, double value, tf_trying *q, tf_found *out);
#endif
