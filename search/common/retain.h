/* Mappings that make a part of an intermediate more than once, and the same with scopes that retain it. */
#ifndef SEARCH_COMMON_RETAIN_H
#define SEARCH_COMMON_RETAIN_H
#include "tileflow/search.h"

typedef struct {
  tf_objective by;
  const char *exportable; /* as in tf_search_opts */
  int64_t evals, effort;  /* spent so far */
  bool failed;            /* memory ran out */
} tf_retaining;

/* Looks for a mapping below `value`: the tree, where home scopes retain what it makes more than once, of all such
 * intermediates or of one.  What is padded is not, and what only a long walk counts is left out.  Fills in the tree and
 * its figures, but no text; false: there is none. */
bool tf_retained(const tf_tree *tree, double value, tf_retaining *q, tf_found *out);
#endif
