#include "search/run/repeat.h"

#include <string.h>

enum { LEAST = 32, MOST = 2048 }; /* entries */

struct tf_repeats {
  int n_loops, n; /* entries: a power of two */
  tf_outcome *at; /* [n] */
  int64_t *trips; /* [n][n_loops] */
};

tf_repeats *tf_repeats_new(tf_arena *a, int n_loops, int64_t most) {
  tf_repeats *r = TF_NEW(a, tf_repeats);
  if (!r) return NULL;
  r->n_loops = n_loops;
  r->n = LEAST;
  while (r->n < MOST && r->n < 2 * most)
    r->n *= 2;
  r->at = TF_ARRAY(a, tf_outcome, (size_t)r->n);
  r->trips = TF_ARRAY(a, int64_t, (size_t)r->n * (size_t)n_loops);
  return r->at && r->trips ? r : NULL;
}

tf_outcome *tf_repeats_find(tf_repeats *r, const int64_t *trips) {
  const size_t n = (size_t)r->n_loops;
  uint64_t mix = 0;
  for (size_t l = 0; l < n; l++)
    mix = (mix ^ (uint64_t)trips[l]) * UINT64_C(0x9e3779b97f4a7c15);
  const size_t place = (size_t)(mix >> 32) & (size_t)(r->n - 1);
  if (r->at[place].filled && memcmp(&r->trips[place * n], trips, n * sizeof *trips) == 0)
    return &r->at[place];
  r->at[place].filled = false;
  memcpy(&r->trips[place * n], trips, n * sizeof *trips);
  return &r->at[place];
}
