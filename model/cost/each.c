/* Words that each instance of a memory moves, counted by itself (busy.c says when). */
#include "model/cost/state.h"

tf_each *tf_each_new(const struct tf_model *m, int n) {
  const tf_plan *p = m->plan;
  const size_t rows = (size_t)n;
  tf_arena *a = tf_arena_new();
  tf_each *k = a ? TF_NEW(a, tf_each) : NULL;
  if (k)
    *k = (tf_each){.arena = a,
                   .n = n,
                   .flows = TF_ARRAY(a, tf_flow, rows * (size_t)p->n_slices + 1),
                   .entered = TF_ARRAY(a, tf_flow, rows * (size_t)m->views->n_entered + 1),
                   .cells = TF_ARRAY(a, tf_ports, rows * (size_t)m->views->n_cells + 1),
                   .rescaled = TF_ARRAY(a, double, rows * 2 * (size_t)p->wl->n_ops),
                   .below = TF_ARRAY(a, tf_ports, (size_t)m->views->n_passes + 1),
                   .most = TF_ARRAY(a, tf_ports, (size_t)m->views->n_passes + 1)};
  if (k && k->flows && k->entered && k->cells && k->rescaled && k->below && k->most) return k;
  tf_arena_free(a);
  return NULL;
}

void tf_each_free(tf_each *k) {
  if (k) tf_arena_free(k->arena);
}

struct tf_model tf_each_model(const struct tf_model *m, int k) {
  struct tf_model one = *m;
  one.each = NULL;
  one.flows = m->each->flows + (size_t)k * (size_t)m->plan->n_slices;
  one.cells = m->each->cells + (size_t)k * (size_t)m->views->n_cells;
  one.rescaled_flow = m->each->rescaled + (size_t)k * 2 * (size_t)m->plan->wl->n_ops;
  one.below = m->each->below;
  return one;
}
