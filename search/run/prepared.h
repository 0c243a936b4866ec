/* Shapes as they are prepared for evaluation, kept from one task to a later one of the same shape.
 * What is found does not depend on what is kept. */
#ifndef SEARCH_RUN_PREPARED_H
#define SEARCH_RUN_PREPARED_H
#include <stdatomic.h>

#include "search/space/trips.h"
#include "tileflow/model.h"

enum {
  TF_PREPARED = 64,
  TF_PREPARED_ALIKE = 4
}; /* shapes that are kept at most, and how often each: tasks that run at
     once may be of one shape */

typedef struct {
  uint64_t shape;
  int uses; /* tasks that had it */
  tf_tree *tree;
  tf_trips *trips; /* of the tree, as is the model */
  tf_model *model;
} tf_prepared;

typedef struct {
  uint64_t shape[TF_PREPARED]; /* what is at each place; changes only between batches of tasks */
  _Atomic(tf_prepared *) at[TF_PREPARED][TF_PREPARED_ALIKE];
} tf_prepared_list;

/* Takes what is kept of the shape, for any thread; NULL: nothing is. */
tf_prepared *tf_prepared_take(tf_prepared_list *l, uint64_t shape);
/* Between batches: keeps it, in place of those of another shape; NULL is allowed. */
void tf_prepared_keep(tf_prepared_list *l, tf_prepared *p);
void tf_prepared_free(tf_prepared *p);
void tf_prepared_clear(tf_prepared_list *l);
#endif
