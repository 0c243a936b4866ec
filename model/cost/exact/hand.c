#include "model/cost/exact/hand.h"

#include <string.h>

#include "model/tree/infer.h"

/* ---- boxes ---------------------------------------------------------------------------------- */

/* Boxes whose words the instance need not take from further out, in the order in which they are
 * looked up; the first is its own. */
enum { MOST_HAD = 1 + 2 * TF_N_BESIDE };
typedef struct {
  int rank, n;
  const tf_ival *had[MOST_HAD];
} asked;

/* Elements of the box that are in one of the first n. */
static int64_t covered(const asked *q, const tf_ival *box, int n) {
  int64_t sum = 0;
  for (int k = 0; k < n; k++) {
    tf_ival common[TF_MAX_RANK];
    for (int r = 0; r < q->rank; r++)
      common[r] = tf_common_part(box[r], q->had[k][r]);
    const int64_t all = tf_ival_volume(common, q->rank);
    if (all) sum += all - covered(q, common, k);
  }
  return sum;
}

/* Elements of the box that are in `had`, and in none of the boxes before. */
static int64_t ask(asked *q, const tf_ival *box, const tf_ival *had) {
  const int64_t before = covered(q, box, q->n);
  q->had[q->n++] = had;
  return covered(q, box, q->n) - before;
}

/* ---- neighbours ----------------------------------------------------------------------------- */

/* The index of the instance's neighbour; -1: it has none.  *round: it is at the other end of a
 * torus. */
static int64_t neighbour(tf_walker *e, const tf_slice *s, tf_source from, bool *round) {
  const tf_path *path = &e->p->path[s->node];
  const tf_memory *mem = &e->p->arch->memories[s->level];
  const int axis = from >= TF_LESS_Y;
  int64_t was[TF_MAX_PATH], used = 1, at = 0;
  for (int k = 0; k < path->n; k++) {
    const tf_ploop *l = &e->p->loops[path->loops[k]];
    was[k] = e->cur[path->loops[k]];
    if (l->axis != (axis ? TF_SPATIAL_Y : TF_SPATIAL_X) ||
        e->p->tree->nodes[l->node].level != s->level - 1)
      continue;
    used *= e->ev->trip[path->loops[k]];
    at = at * e->ev->trip[path->loops[k]] + was[k];
  }
  int64_t to = at + (from == TF_LESS_X || from == TF_LESS_Y ? -1 : 1), index = -1;
  *round = to < 0 || to == used;
  if (*round && (mem->topology != TF_TORUS || used < mem->mesh[axis] || used < 3)) return -1;
  to = (to + used) % used;
  for (int k = path->n - 1; k >= 0; k--) {
    const tf_ploop *l = &e->p->loops[path->loops[k]];
    if (l->axis != (axis ? TF_SPATIAL_Y : TF_SPATIAL_X) ||
        e->p->tree->nodes[l->node].level != s->level - 1)
      continue;
    e->cur[path->loops[k]] = to % e->ev->trip[path->loops[k]];
    to /= e->ev->trip[path->loops[k]];
  }
  index = tf_store_index(e->st, s->node, e->cur);
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
  asked q = {.rank = e->p->wl->tensors[s->tensor].rank};
  here->load = here->from_above = tf_ival_volume(here->box, q.rank);
  if (own->owner >= 0) here->load -= ask(&q, here->box, own->box);
  here->from_above = here->load;
  for (int w = 0; w < TF_N_BESIDE && here->from_above; w++) {
    bool round;
    const int64_t at = neighbour(e, s, (tf_source)w, &round);
    if (at < 0) continue;
    const tf_held *held = tf_store_at(e->st, i, at);
    const bool first = (w == TF_LESS_X || w == TF_LESS_Y) && !round;
    int64_t words = held->owner >= 0 ? ask(&q, here->box, held->box) : 0;
    if (first && e->handed[at].needs) words += ask(&q, here->box, e->handed[at].box);
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
