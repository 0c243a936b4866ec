#include "model/cost/exact/hand.h"

#include <string.h>

#include "model/tree/infer.h"

/* The index of the instance's neighbour; -1: it has none.  *round: it is at the other end of a
 * torus. */
static int64_t neighbour(tf_walker *e, int i, tf_source from, bool *round) {
  const tf_path *path = &e->p->path[e->p->slices[i].node];
  int64_t was[TF_MAX_PATH], index = -1;
  for (int k = 0; k < path->n; k++)
    was[k] = e->cur[path->loops[k]];
  if (tf_peers_beside(e->m, i, from, e->cur, round))
    index = tf_store_index(e->st, e->p->slices[i].node, e->cur);
  for (int k = 0; k < path->n; k++)
    e->cur[path->loops[k]] = was[k];
  return index;
}

/* Counts the words that the current instance takes from each neighbour, and the rest. */
static void take(tf_walker *e, int i, int64_t index) {
  const tf_slice *s = &e->p->slices[i];
  const tf_held *own = tf_store_at(e->st, i, index);
  tf_handed *here = &e->handed[index];
  double *came = &e->m->peers->came[tf_peers_place(e->m, s->node, s->level, e->cur) * TF_N_SOURCES];
  const int bits = e->p->wl->tensors[s->tensor].word_bits;
  tf_peer_boxes q = {.rank = e->p->wl->tensors[s->tensor].rank};
  here->load = here->from_above = tf_ival_volume(here->box, q.rank);
  if (own->owner >= 0) here->load -= tf_peer_ask(&q, here->box, own->box);
  here->from_above = here->load;
  for (int w = 0; w < TF_N_BESIDE && here->from_above; w++) {
    bool round;
    const int64_t at = neighbour(e, i, (tf_source)w, &round);
    if (at < 0) continue;
    const tf_held *held = tf_store_at(e->st, i, at);
    const bool first = (w == TF_LESS_X || w == TF_LESS_Y) && !round;
    int64_t words = held->owner >= 0 ? tf_peer_ask(&q, here->box, held->box) : 0;
    if (first && e->handed[at].needs) words += tf_peer_ask(&q, here->box, e->handed[at].box);
    e->handed[at].sent += words;
    here->from_above -= words;
    came[w] += (double)words * bits;
  }
  came[TF_FROM_ABOVE] += (double)here->from_above * bits;
}

void tf_hand_on(tf_walker *e, int i) {
  const int node = e->p->slices[i].node;
  tf_walker_first(e, node);
  do {
    const int64_t index = tf_store_index(e->st, node, e->cur);
    if (e->handed[index].needs) take(e, i, index);
  } while (tf_walker_next(e, node) && (e->ok &= --e->budget >= 0));
}
