#include "search/run/prepared.h"

#include <stdlib.h>

#include "tileflow/tree.h"

enum { MOST_USES = 64 }; /* what a search looks up while it walks through trip counts grows from use to use */

void tf_prepared_free(tf_prepared *p) {
  if (!p) return;
  tf_model_free(p->model);
  tf_trips_free(p->trips);
  tf_tree_free(p->tree);
  free(p);
}

tf_prepared *tf_prepared_take(tf_prepared_list *l, uint64_t shape) {
  const size_t k = (size_t)(shape % TF_PREPARED);
  return l->shape[k] == shape ? atomic_exchange(&l->at[k], NULL) : NULL;
}

void tf_prepared_keep(tf_prepared_list *l, tf_prepared *p) {
  if (!p) return;
  const size_t k = (size_t)(p->shape % TF_PREPARED);
  tf_prepared *old = atomic_exchange(&l->at[k], p->uses < MOST_USES ? p : NULL);
  l->shape[k] = p->shape;
  tf_prepared_free(old);
  if (p->uses >= MOST_USES) tf_prepared_free(p);
}

void tf_prepared_clear(tf_prepared_list *l) {
  for (int k = 0; k < TF_PREPARED; k++)
    tf_prepared_free(atomic_exchange(&l->at[k], NULL));
}
