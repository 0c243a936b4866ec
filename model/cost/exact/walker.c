/* Where the loops of a walk stand. */
#include "model/cost/exact/walker.h"

void tf_walker_force_made(tf_walker *e) {
  for (int o = 0; o < e->p->wl->n_ops; o++) {
    int h = e->p->home_scope[e->p->wl->ops[o].out];
    if (e->st->made_all[o])
      e->ev->made[o] = e->st->runs[h] ? e->st->made_all[o] + tf_store_index(e->st, h, e->cur) * TF_MAX_RANK : NULL;
  }
}

bool tf_walker_next(tf_walker *e, int n) {
  const tf_path *path = &e->p->path[n];
  for (int k = path->n - 1; k >= 0; k--) {
    int l = path->loops[k];
    if (e->p->loops[l].axis == TF_TEMPORAL) continue;
    e->cur[l] = tf_kind_next(&e->kinds[l], e->cur[l]);
    if (e->cur[l] < e->ev->trip[l]) return true;
    e->cur[l] = 0;
  }
  return false;
}

void tf_walker_first(tf_walker *e, int n) {
  const tf_path *path = &e->p->path[n];
  for (int k = 0; k < path->n; k++)
    if (e->p->loops[path->loops[k]].axis != TF_TEMPORAL) e->cur[path->loops[k]] = 0;
}
