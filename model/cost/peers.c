#include "model/cost/peers.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"

/* ---- places --------------------------------------------------------------------------------- */

/* The extent of the loops of node n's path over the network to memory `level`, by side. */
static void used_by(const struct tf_model *m, int n, int level, int64_t side[2]) {
  const tf_path *path = &m->plan->path[n];
  int64_t used[2] = {1, 1};
  for (int k = 0; k < path->n; k++) {
    const tf_ploop *l = &m->plan->loops[path->loops[k]];
    if (l->axis == TF_TEMPORAL || m->plan->tree->nodes[l->node].level != level - 1) continue;
    int64_t *on = &used[l->axis == TF_SPATIAL_Y];
    *on = tf_sat_mul(*on, m->ev.trip[path->loops[k]]);
  }
  for (int a = 0; a < 2; a++)
    side[a] = used[a] > side[a] ? used[a] : side[a];
}

tf_peers *tf_peers_new(const struct tf_model *m, bool *starved) {
  const tf_arch *arch = m->plan->arch;
  tf_arena *a = tf_arena_new();
  tf_peers *k = a ? TF_NEW(a, tf_peers) : NULL;
  int64_t networks = 1, places = 0;
  int last =
      arch->n_memories - 1; /* of the memories with neighbours; further in no place is needed */
  while (last > 0 && !arch->memories[last].peers)
    last--;
  for (int l = 1; k && l <= last; l++) {
    tf_peer_level *at = &k->level[l];
    const bool torus = arch->memories[l].topology == TF_TORUS;
    *at = (tf_peer_level){.side = {1, 1}, .networks = networks, .first = (size_t)places};
    for (int s = 0; s < 2 && torus; s++)
      at->side[s] = arch->memories[l].mesh[s];
    for (int n = 0; n < m->plan->tree->n_nodes; n++)
      used_by(m, n, l, at->side);
    networks = tf_sat_mul(networks, tf_sat_mul(at->side[0], at->side[1]));
    places = tf_sat_add(places, networks);
  }
  if (k && places <= TF_PEERS_MOST) {
    k->arena = a;
    k->n = (size_t)places;
    k->came = TF_ARRAY(a, double, k->n *TF_N_SOURCES + 1);
    k->link = TF_ARRAY(a, double, k->n *TF_N_BESIDE + 1);
    k->handed = TF_ARRAY(a, tf_handed, k->n + 1);
    if (k->came && k->link && k->handed) return k;
  }
  *starved |= !k || k->arena != NULL; /* otherwise there are too many */
  tf_arena_free(a);
  return NULL;
}

void tf_peers_free(tf_peers *k) {
  if (k) tf_arena_free(k->arena);
}

void tf_peers_clear(tf_peers *k) {
  memset(k->came, 0, k->n * TF_N_SOURCES * sizeof *k->came);
  memset(k->link, 0, k->n * TF_N_BESIDE * sizeof *k->link);
}

size_t tf_peers_place(const struct tf_model *m, int n, int level, const int64_t *cur) {
  const tf_path *path = &m->plan->path[n];
  int64_t at[TF_NET_LEVELS][2] = {{0}}, place = 0;
  for (int k = 0; k < path->n; k++) {
    const tf_ploop *l = &m->plan->loops[path->loops[k]];
    const int below = m->plan->tree->nodes[l->node].level + 1;
    if (l->axis == TF_TEMPORAL || below > level) continue;
    int64_t *on = &at[below][l->axis == TF_SPATIAL_Y];
    *on = *on * m->ev.trip[path->loops[k]] + cur[path->loops[k]];
  }
  for (int l = 1; l <= level; l++)
    place = (place * m->peers->level[l].side[0] + at[l][0]) * m->peers->level[l].side[1] + at[l][1];
  return m->peers->level[level].first + (size_t)place;
}

/* ---- neighbours ----------------------------------------------------------------------------- */

/* Whether the loop fills the network to memory `level` along an axis. */
static bool fills(const struct tf_model *m, int loop, int level, int axis) {
  const tf_ploop *l = &m->plan->loops[loop];
  return l->axis == (axis ? TF_SPATIAL_Y : TF_SPATIAL_X) &&
         m->plan->tree->nodes[l->node].level == level - 1;
}

bool tf_peers_beside(const struct tf_model *m, int i, tf_source from, int64_t *cur, bool *round) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_path *path = &m->plan->path[s->node];
  const tf_memory *mem = &m->plan->arch->memories[s->level];
  const int axis = from >= TF_LESS_Y;
  int64_t used = 1, at = 0;
  for (int k = 0; k < path->n; k++) {
    const int l = path->loops[k];
    if (!fills(m, l, s->level, axis)) continue;
    used *= m->ev.trip[l];
    at = at * m->ev.trip[l] + cur[l];
  }
  int64_t to = at + (from == TF_LESS_X || from == TF_LESS_Y ? -1 : 1);
  *round = to < 0 || to == used;
  if (*round && (mem->topology != TF_TORUS || used < mem->mesh[axis] || used < 3)) return false;
  to = (to + used) % used;
  for (int k = path->n - 1; k >= 0; k--) {
    const int l = path->loops[k];
    if (!fills(m, l, s->level, axis)) continue;
    cur[l] = to % m->ev.trip[l];
    to /= m->ev.trip[l];
  }
  return true;
}

/* Elements of the box that are in one of the first n. */
static int64_t covered(const tf_peer_boxes *q, const tf_ival *box, int n) {
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

int64_t tf_peer_ask(tf_peer_boxes *q, const tf_ival *box, const tf_ival *had) {
  const int64_t before = covered(q, box, q->n);
  q->had[q->n++] = had;
  return covered(q, box, q->n) - before;
}

/* ---- links ---------------------------------------------------------------------------------- */

/* One network: its place at (0, 0). */
typedef struct {
  const struct tf_model *m;
  int level;
  size_t at;
} network;

static double *link_into(const network *k, const int64_t at[2], tf_source from) {
  const int64_t side = k->m->peers->level[k->level].side[1];
  return &k->m->peers->link[(k->at + (size_t)(at[0] * side + at[1])) * TF_N_BESIDE + from];
}

/* Adds words to the links along one side from 0 to `to`, or back: along X in row 0, along Y in
 * column x. */
static void go(const network *k, int axis, int64_t x, int64_t to, double words, bool back) {
  const int64_t n = k->m->peers->level[k->level].side[axis];
  const bool down = k->m->plan->arch->memories[k->level].topology == TF_TORUS && to > n / 2;
  const tf_source less = axis ? TF_LESS_Y : TF_LESS_X, more = axis ? TF_MORE_Y : TF_MORE_X;
  for (int64_t p = down ? n - 1 : 1; down ? p >= to : p <= to; p += down ? -1 : 1) {
    const int64_t end = !back ? p : down ? (p + 1) % n : p - 1;
    const int64_t at[2] = {axis ? x : end, axis ? end : 0};
    *link_into(k, at, down != back ? more : less) += words;
  }
}

/* The farthest place each way round, of one word's instances along a side. */
static void farthest(const network *k, int axis, const tf_net_line *l, int64_t i, int64_t to[2]) {
  const int64_t n = k->m->peers->level[k->level].side[axis];
  to[0] = to[1] = 0;
  for (int64_t s = 0; s < tf_net_settings(l, true); s++) {
    const int64_t at = tf_net_place(l, false, i) + tf_net_place(l, true, s);
    const bool down = l->topology == TF_TORUS && at > n / 2;
    if (!down && at > to[0]) to[0] = at;
    if (down && (!to[1] || at < to[1])) to[1] = at;
  }
}

static void go_both(const network *k, int axis, int64_t x, const int64_t to[2], tf_peer_words w) {
  for (int way = 0; way < 2; way++)
    if (to[way]) go(k, axis, x, to[way], w.words, w.back);
}

/* The words of one group, the i-th along X and the j-th along Y. */
static void pass_group(const network *k, const tf_net_line side[2], int64_t i, int64_t j,
                       tf_peer_words w) {
  const int64_t of[2] = {tf_net_settings(&side[0], true), tf_net_settings(&side[1], true)};
  int64_t to[2];
  if (w.merged) {
    farthest(k, 0, &side[0], i, to);
    go_both(k, 0, 0, to, w);
    farthest(k, 1, &side[1], j, to);
    for (int64_t s = 0; s < of[0]; s++)
      go_both(k, 1, tf_net_place(&side[0], false, i) + tf_net_place(&side[0], true, s), to, w);
  }
  for (int64_t s = 0; s < of[0] * of[1]; s++) {
    const int64_t x = tf_net_place(&side[0], false, i) + tf_net_place(&side[0], true, s / of[1]);
    const int64_t y = tf_net_place(&side[1], false, j) + tf_net_place(&side[1], true, s % of[1]);
    const double words = (w.merged ? 0 : w.words) + (s ? 0 : w.first);
    go(k, 0, 0, x, words, w.back);
    go(k, 1, x, y, words, w.back);
  }
}

/* Advances the spatial loops of slice i's path outside of the network to memory `level`. */
static bool next_network(const struct tf_model *m, int i, int level, int64_t *cur) {
  const tf_path *path = &m->plan->path[m->plan->slices[i].node];
  for (int k = path->n - 1; k >= 0; k--) {
    const int l = path->loops[k];
    if (m->plan->loops[l].axis == TF_TEMPORAL ||
        m->plan->tree->nodes[m->plan->loops[l].node].level >= level - 1)
      continue;
    if (++cur[l] < m->ev.trip[l]) return true;
    cur[l] = 0;
  }
  return false;
}

/* Whether it is the first network of those that get the same words. */
static bool first_network(const struct tf_model *m, int i, int level, const int64_t *cur) {
  const tf_path *path = &m->plan->path[m->plan->slices[i].node];
  const uint64_t shares = tf_shares_of(&m->ev, m->views, i, m->home_digit);
  bool first = true;
  for (int k = 0; k < path->n; k++)
    if (m->plan->tree->nodes[m->plan->loops[path->loops[k]].node].level < level - 1 &&
        shares >> k & 1)
      first &= cur[path->loops[k]] == 0;
  return first;
}

void tf_peers_pass(struct tf_model *m, int i, int level, const tf_net_line side[2],
                   tf_peer_words w) {
  int64_t *cur = m->scratch.cur, networks = 0, firsts = 0;
  const int node = m->plan->slices[i].node;
  memset(cur, 0, (size_t)m->plan->n_loops * sizeof *cur);
  do
    networks++, firsts += first_network(m, i, level, cur);
  while (next_network(m, i, level, cur));
  const int64_t groups[2] = {tf_net_settings(&side[0], false), tf_net_settings(&side[1], false)};
  const double apart = (double)groups[0] * (double)groups[1];
  const double each =
      w.merged ? 1
               : (double)tf_net_settings(&side[0], true) * (double)tf_net_settings(&side[1], true);
  do {
    const network k = {m, level, tf_peers_place(m, node, level, cur)};
    tf_peer_words part = w;
    part.words = w.words / ((double)networks * apart * each);
    part.first = first_network(m, i, level, cur) ? w.first / ((double)firsts * apart) : 0;
    for (int64_t g = 0; g < groups[0] * groups[1]; g++)
      pass_group(&k, side, g / groups[1], g % groups[1], part);
  } while (next_network(m, i, level, cur));
}

/* Adds the links of the words that came to each place: from its neighbour, or all the way from the
 * memory above. */
static void pass_noted(struct tf_model *m, int level) {
  const tf_peer_level *at = &m->peers->level[level];
  const double bits = m->plan->arch->memories[level].word_bits;
  for (int64_t n = 0; n < at->networks; n++) {
    const network k = {m, level, at->first + (size_t)(n * at->side[0] * at->side[1])};
    for (int64_t x = 0; x < at->side[0]; x++)
      for (int64_t y = 0; y < at->side[1]; y++) {
        const int64_t to[2] = {x, y};
        const double *came = &m->peers->came[(k.at + (size_t)(x * at->side[1] + y)) * TF_N_SOURCES];
        for (int w = 0; w < TF_N_BESIDE; w++)
          *link_into(&k, to, (tf_source)w) += came[w] / bits;
        if (!(came[TF_FROM_ABOVE] > 0)) continue;
        go(&k, 0, 0, x, came[TF_FROM_ABOVE] / bits, false);
        go(&k, 1, x, y, came[TF_FROM_ABOVE] / bits, false);
      }
  }
}

void tf_peers_links(struct tf_model *m, int level, double *hops, double *busiest) {
  const tf_peer_level *at = &m->peers->level[level];
  const double *link = &m->peers->link[at->first * TF_N_BESIDE];
  pass_noted(m, level);
  *hops = *busiest = 0;
  for (int64_t i = 0; i < at->networks * at->side[0] * at->side[1] * TF_N_BESIDE; i++) {
    *hops += link[i];
    *busiest = fmax(*busiest, link[i]);
  }
}
