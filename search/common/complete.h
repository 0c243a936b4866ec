/* Completions: an open tree whose trip counts are filled in. */
#ifndef SEARCH_COMMON_COMPLETE_H
#define SEARCH_COMMON_COMPLETE_H
#include "tileflow/model.h"

/* The tree with trips[n_loops] (in the order of tf_model_eval) filled in.  Loops that the search
 * added are left out where they have one step.  NULL if it breaks a rule, or if memory ran out:
 * then *failed is set. */
tf_tree *tf_complete(const tf_tree *open, const int64_t *trips, bool *failed);
/* Reduces trip counts whose last steps lie beyond the range: where inner loops overshoot, the
 * outermost loop on a range has fewer steps to do than its count assumed.  *changed: whether there
 * were any.  False when memory runs out. */
bool tf_trim(const tf_tree *open, int64_t *trips, bool *changed);
uint64_t tf_hash(uint64_t h, const void *bytes, size_t n);
#define TF_HASH_START UINT64_C(14695981039346656037)
#endif
