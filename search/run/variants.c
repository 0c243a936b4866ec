#include "search/run/variants.h"

#include <stdlib.h>
#include <string.h>

bool tf_variants_want(const tf_task *t, double value) {
  int most = t->opts->variants;
  if (most <= 0 || !(value <= t->variants_within)) return false;
  return t->n_variants < most || value < t->variants[most - 1].value;
}

/* The slot for a variant of this value; drops the worst where the list is full.  NULL: none, or
 * memory ran out. */
static tf_variant *variant_slot(tf_task *t, double value) {
  int most = t->opts->variants;
  if (most <= 0 || t->failed) return NULL;
  if (!t->variants) t->variants = calloc((size_t)most, sizeof *t->variants);
  t->failed |= !t->variants;
  if (t->failed) return NULL;
  tf_variant last = {0};
  if (t->n_variants == most) {
    last = t->variants[most - 1];
    if (last.value <= value) return NULL;
  } else {
    last.trips = malloc(((size_t)t->n_loops + 1) * sizeof *last.trips);
    t->failed |= !last.trips;
    if (t->failed) return NULL;
    t->n_variants++;
  }
  int at = t->n_variants - 1;
  for (; at > 0 && t->variants[at - 1].value > value; at--)
    t->variants[at] = t->variants[at - 1];
  t->variants[at] = last;
  return &t->variants[at];
}

void tf_variants_offer(tf_task *t, double value, const tf_figures *f, const int64_t *trips) {
  tf_variant *v = value <= t->variants_within ? variant_slot(t, value) : NULL;
  if (!v) return;
  v->value = value;
  v->figures = *f;
  memcpy(v->trips, trips, (size_t)t->n_loops * sizeof *trips);
}

void tf_variants_clear(tf_task *t) {
  for (int i = 0; i < t->n_variants; i++)
    free(t->variants[i].trips);
  tf_tree_free(t->open);
  t->open = NULL;
  free(t->variants);
  t->variants = NULL;
  t->n_variants = 0;
}
