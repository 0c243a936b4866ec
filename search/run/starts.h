/* Mappings that are known before a search begins. */
#ifndef SEARCH_RUN_STARTS_H
#define SEARCH_RUN_STARTS_H
#include "search/space/shape.h"
#include "tileflow/search.h"

/* A start's tree with every trip count open: its space is searched from the counts it came with, so that one that does
 * not fit is mended. */
typedef struct {
  const tf_tree *open;
  tf_tree *opened;   /* the same, owned; NULL: the start is open itself */
  tf_shapes *shapes; /* NULL: the tree cannot be opened; then the mapping counts as it is and no more */
  int n_loops;
  int64_t *trips; /* [n_loops] of the open tree, as the start has them; NULL: it was open itself */
} tf_start;

/* Borrows the tree.  False if memory ran out; to be cleared either way. */
bool tf_start_open(tf_start *s, const tf_tree *given);
void tf_start_clear(tf_start *s);
#endif
