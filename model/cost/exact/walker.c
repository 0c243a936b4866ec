/* The loop settings of a walk. */
#include "model/cost/exact/walker.h"

#include "model/flow/range_memo.h"

void tf_walker_force_made(tf_walker *e) {
  for (int o = 0; o < e->p->wl->n_ops; o++) {
    int h = e->p->home_scope[e->p->wl->ops[o].out];
    if (e->st->made_all[o])
      e->ev->made[o] = e->st->runs[h]
                           ? e->st->made_all[o] + tf_store_index(e->st, h, e->cur) * TF_MAX_RANK
                           : NULL;
  }
}

void tf_walker_set(tf_walker *e, int l, int64_t to) {
  if (e->cur[l] == to) return;
  e->cur[l] = to;
  tf_memo_step(e->p, e->p->tree->nodes[e->p->loops[l].node].children[0]);
}

bool tf_walker_next(tf_walker *e, int n) {
  const tf_path *path = &e->p->path[n];
  for (int k = path->n - 1; k >= 0; k--) {
    int l = path->loops[k];
    if (e->p->loops[l].axis == TF_TEMPORAL) continue;
    const int64_t next = tf_kind_next(&e->kinds[l], e->cur[l]);
    tf_walker_set(e, l, next < e->ev->trip[l] ? next : 0);
    if (next < e->ev->trip[l]) return true;
  }
  return false;
}

void tf_walker_first(tf_walker *e, int n) {
  const tf_path *path = &e->p->path[n];
  for (int k = 0; k < path->n; k++)
    if (e->p->loops[path->loops[k]].axis != TF_TEMPORAL) tf_walker_set(e, path->loops[k], 0);
}
