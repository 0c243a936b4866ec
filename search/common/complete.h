/* An open tree with its trip counts filled in. */
#ifndef SEARCH_COMMON_COMPLETE_H
#define SEARCH_COMMON_COMPLETE_H
#include "tileflow/tree.h"

/* The text of the tree with trips[n_loops] (in the order of tf_model_eval); loops of the search's own
 * with one step are left out.  Malloc'd; NULL if memory ran out. */
char *tf_complete_text(const tf_tree *open, const int64_t *trips);
/* The tree with them, NULL if it breaks a rule; *failed is set where memory ran out. */
tf_tree *tf_complete(const tf_tree *open, const int64_t *trips, bool *failed);
/* Whether the parser finds nothing wrong with the text. */
bool tf_complete_legal(const tf_tree *open, const char *text);
uint64_t tf_hash(uint64_t h, const void *bytes, size_t n);
#define TF_HASH_START UINT64_C(14695981039346656037)
#endif
