/* Completions: an open tree whose trip counts are filled in. */
#ifndef SEARCH_COMMON_COMPLETE_H
#define SEARCH_COMMON_COMPLETE_H
#include "tileflow/model.h"

/* The tree with trips[n_loops] (in the order of tf_model_eval).  Loops that the search itself added
 * are left out where they have one step.  NULL if it breaks a rule, or if memory ran out: then
 * *failed is set. */
tf_tree *tf_complete(const tf_tree *open, const int64_t *trips, bool *failed);
/* Reduces trip counts of the search whose last steps are beyond every range to those that are not:
 * inner loops that overshoot leave the outermost one on a range less to do than was thought when
 * its count was chosen.  *changed: whether there were any.  False when memory runs out. */
bool tf_trim(const tf_tree *open, int64_t *trips, bool *changed);
uint64_t tf_hash(uint64_t h, const void *bytes, size_t n);
#define TF_HASH_START UINT64_C(14695981039346656037)
#endif
