/* Frees what a search returns, which its caller owns. */
#include <stdlib.h>

#include "search/common/archive.h"
#include "tileflow/search.h"

void tf_search_free(tf_search_result *r) {
  if (!r) return;
  for (int i = 0; r->best && i < r->n_best; i++)
    tf_found_clear(&r->best[i]);
  for (int i = 0; r->pareto && i < r->n_pareto; i++)
    tf_found_clear(&r->pareto[i]);
  for (int i = 0; r->variants && i < r->n_variants; i++)
    tf_found_clear(&r->variants[i]);
  free(r->best);
  free(r->variants);
  free(r->pareto);
  free(r);
}
