#include "search/run/prepared.h"

#include <stdlib.h>

#include "tileflow/tree.h"

enum { MOST_USES = 64 }; /* the tables of tf_trips grow with each use */

void tf_prepared_free(tf_prepared *p) {
  if (!p) return;
  tf_model_free(p->model);
  tf_trips_free(p->trips);
  tf_tree_free(p->tree);
  free(p);
}

tf_prepared *tf_prepared_take(tf_prepared_list *l, uint64_t shape) {
  const size_t k = (size_t)(shape % TF_PREPARED);
  tf_prepared *p = NULL;
  for (int i = 0; i < TF_PREPARED_ALIKE && l->shape[k] == shape && !p; i++)
    p = atomic_exchange(&l->copies[k][i], NULL);
  return p;
}

static void clear(tf_prepared_list *l, size_t k) {
  for (int i = 0; i < TF_PREPARED_ALIKE; i++)
    tf_prepared_free(atomic_exchange(&l->copies[k][i], NULL));
}

void tf_prepared_keep(tf_prepared_list *l, tf_prepared *p) {
  if (!p) return;
  const size_t k = (size_t)(p->shape % TF_PREPARED);
  if (l->shape[k] != p->shape) clear(l, k);
  l->shape[k] = p->shape;
  for (int i = 0; i < TF_PREPARED_ALIKE && p->uses < MOST_USES; i++)
    if (!atomic_load(&l->copies[k][i])) {
      atomic_store(&l->copies[k][i], p);
      return;
    }
  tf_prepared_free(p);
}

void tf_prepared_clear(tf_prepared_list *l) {
  for (size_t k = 0; k < TF_PREPARED; k++)
    clear(l, k);
}
