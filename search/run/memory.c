/* What tasks have learnt, as a start for later tasks. */
#include <stdlib.h>
#include <string.h>

#include "search/common/complete.h"
#include "search/run/memory.h"

#include "base/grow.h"

static int lower_bound(const tf_memory_of_search *m, uint64_t shape) {
  int lo = 0, hi = m->n;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (m->list[mid].shape < shape)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

const tf_known *tf_memory_find(const tf_memory_of_search *m, uint64_t shape) {
  int at = lower_bound(m, shape);
  return at < m->n && m->list[at].shape == shape ? &m->list[at] : NULL;
}

static tf_known *entry(tf_memory_of_search *m, uint64_t shape) {
  int at = lower_bound(m, shape);
  if (at < m->n && m->list[at].shape == shape) return &m->list[at];
  if (!TF_GROW(m->list, m->n)) return NULL;
  memmove(&m->list[at + 1], &m->list[at], (size_t)(m->n - at) * sizeof *m->list);
  m->n++;
  m->list[at] = (tf_known){.shape = shape, .cost = TF_COST_BAD * 1e9};
  return &m->list[at];
}

static bool copy_hints(const tf_task *t, tf_hint **list, int *n) {
  tf_hint *hints = realloc(*list, ((size_t)t->n_hints + 1) * sizeof *hints);
  if (!hints) return false;
  memcpy(hints, t->hints, (size_t)t->n_hints * sizeof *hints);
  *list = hints;
  *n = t->n_hints;
  return true;
}

static bool keep_trips(tf_known *k, const tf_task *t) {
  size_t bytes = (size_t)t->n_loops * sizeof *k->trips;
  int64_t *trips = realloc(k->trips, bytes ? bytes : 1);
  if (!trips) return false;
  memcpy(trips, t->best[TF_BY_OBJECTIVE].trips, bytes);
  k->trips = trips;
  k->n_loops = t->n_loops;
  return copy_hints(t, &k->hints, &k->n_hints);
}

bool tf_memory_learn(tf_memory_of_search *m, const tf_task *t) {
  tf_known *k = entry(m, t->shape);
  if (!k) return false;
  k->exhausted |= t->exhausted && !t->even;
  k->even_done |= t->exhausted && t->even;
  if (t->untold) return true;
  k->visits++;
  bool better = t->cost <= k->cost;
  if (better) k->cost = t->cost;
  const tf_task_best *b = &t->best[TF_BY_OBJECTIVE];
  if (!b->found) return true;
  if (better && !keep_trips(k, t)) return false;
  const bool less =
      b->value < m->best || (b->value == m->best && b->figures.energy_pj < m->best_energy);
  if (t->start || (m->n_hints && !less))
    return true; /* rows differ in any case, so nothing needs to be remembered */
  if (!copy_hints(t, &m->hints, &m->n_hints)) return false;
  m->best = b->value, m->best_energy = b->figures.energy_pj;
  return true;
}

/* The place of the key in the table, or a free one. */
static uint64_t *tried_at(const tf_memory_of_search *m, uint64_t key) {
  size_t at = key & (m->tried_room - 1); /* a power of two */
  while (m->tried[at] && m->tried[at] != key)
    at = (at + 1) & (m->tried_room - 1);
  return &m->tried[at];
}

static bool more_tried(tf_memory_of_search *m) {
  tf_memory_of_search more = {.tried_room = m->tried_room ? 2 * m->tried_room : 1024};
  more.tried = calloc(more.tried_room, sizeof *more.tried);
  if (!more.tried) return false;
  for (size_t i = 0; i < m->tried_room; i++)
    if (m->tried[i]) *tried_at(&more, m->tried[i]) = m->tried[i];
  free(m->tried);
  m->tried = more.tried;
  m->tried_room = more.tried_room;
  return true;
}

bool tf_memory_try(tf_memory_of_search *m, const tf_task *t, const tf_variant *x, bool *is_new) {
  *is_new = false;
  if (2 * m->n_tried >= m->tried_room && !more_tried(m)) return false;
  uint64_t key = tf_hash(TF_HASH_START, &t->shape, sizeof t->shape);
  key = tf_hash(key, &x->value, sizeof x->value); /* of all points, or of those behind a mask */
  key = tf_hash(key, x->trips, (size_t)t->n_loops * sizeof *x->trips);
  key += !key;
  uint64_t *at = tried_at(m, key);
  *is_new = !*at;
  m->n_tried += *is_new;
  *at = key;
  return true;
}

void tf_memory_clear(tf_memory_of_search *m) {
  for (int i = 0; i < m->n; i++) {
    free(m->list[i].trips);
    free(m->list[i].hints);
  }
  free(m->list);
  free(m->hints);
  free(m->tried);
  *m = (tf_memory_of_search){0};
}
