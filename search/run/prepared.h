/* Shapes prepared for evaluation, kept from one task to a later one of the same shape.  Results do
 * not depend on what is kept. */
#ifndef SEARCH_RUN_PREPARED_H
#define SEARCH_RUN_PREPARED_H
#include <stdatomic.h>

#include "search/space/trips.h"
#include "tileflow/model.h"

/* TF_PREPARED: shapes kept at most.  TF_PREPARED_ALIKE: copies of each, as concurrent tasks may
 * have the same shape. */
enum { TF_PREPARED = 64, TF_PREPARED_ALIKE = 4 };

typedef struct {
  uint64_t shape;
  int uses; /* tasks that had it */
  tf_tree *tree;
  tf_trips *trips; /* of the tree, as is the model */
  tf_model *model;
} tf_prepared;

typedef struct {
  uint64_t shape[TF_PREPARED]; /* of each entry; changes only between batches of tasks */
  _Atomic(tf_prepared *) copies[TF_PREPARED][TF_PREPARED_ALIKE];
} tf_prepared_list;

/* Takes a prepared copy of the shape, from any thread; NULL: there is none. */
tf_prepared *tf_prepared_take(tf_prepared_list *l, uint64_t shape);
/* Between batches: keeps it, in place of one of another shape; NULL is allowed. */
void tf_prepared_keep(tf_prepared_list *l, tf_prepared *p);
void tf_prepared_free(tf_prepared *p);
void tf_prepared_clear(tf_prepared_list *l);
#endif
