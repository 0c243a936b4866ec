/* Mappings that are known before a search begins (tf_search_opts.starts). */
#ifndef SEARCH_RUN_STARTS_H
#define SEARCH_RUN_STARTS_H
#include "search/space/shape.h"
#include "tileflow/search.h"

/* A start's tree with every trip count open.  Its space is searched from the trip counts that the
 * start had, so that a start that does not fit can be repaired. */
typedef struct {
  const tf_tree *open;
  tf_tree *opened;   /* the same, owned; NULL: the start itself is open */
  tf_shapes *shapes; /* NULL: the tree cannot be opened, and is evaluated only as it is */
  int n_loops;
  int64_t *trips; /* [n_loops] of the open tree, the start's counts; NULL: the start is open */
} tf_start;

/* Borrows the tree.  False if memory ran out; clear it either way. */
bool tf_start_open(tf_start *s, const tf_tree *given);
void tf_start_clear(tf_start *s);
#endif
