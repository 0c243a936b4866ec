/* Words that neighbours hand on if all instances work alike (docs/SEMANTICS.md section 5): a box
 * that a spatial loop moves has nothing in common with the boxes of its other settings, now or
 * before. So an instance takes its new words from the neighbour of lower x if no loop between both
 * moves the box, else from the one of lower y, else from further out; other neighbours have the
 * same words. */
#include <string.h>

#include "model/cost/peers.h"

/* Most rows of words per instance; with more it is left to the walk. */
enum { MOST_EACH = 1 << 20 };

/* One instance: the settings of the spatial loops of its path, by position. */
typedef struct {
  int64_t at[TF_MAX_PATH];
} setting;

static void set_instance(const struct tf_model *m, int node, int64_t k, setting *s) {
  const tf_path *path = &m->plan->path[node];
  for (uint64_t left = tf_path_spatial(m->plan, node); left;) {
    const int pos = 63 - __builtin_clzll(left);
    const int64_t trip = m->ev.trip[path->loops[pos]];
    s->at[pos] = k % trip;
    k /= trip;
    left &= ~(UINT64_C(1) << pos);
  }
}

/* The positions of slice i's path whose loops fill its network along an axis. */
static uint64_t along(const struct tf_model *m, int i, int axis) {
  const tf_plan *p = m->plan;
  const tf_slice *s = &p->slices[i];
  const tf_path *path = &p->path[s->node];
  uint64_t fill = 0;
  for (uint64_t left = tf_path_spatial(p, s->node); left; left &= left - 1) {
    const int pos = __builtin_ctzll(left);
    const tf_ploop *l = &p->loops[path->loops[pos]];
    if (p->tree->nodes[l->node].level == s->level - 1 &&
        l->axis == (axis ? TF_SPATIAL_Y : TF_SPATIAL_X))
      fill |= UINT64_C(1) << pos;
  }
  return fill;
}

/* Whether the instance has a neighbour along the axis, down (or up), with the same box.  From one
 * to the next a loop makes a step, and those further in begin again. */
static bool like(const struct tf_model *m, int i, const setting *s, uint64_t fill, uint64_t moving,
                 bool up) {
  const tf_path *path = &m->plan->path[m->plan->slices[i].node];
  while (fill) {
    const int pos = 63 - __builtin_clzll(fill);
    const int64_t trip = m->ev.trip[path->loops[pos]];
    fill &= ~(UINT64_C(1) << pos);
    if (trip <= 1) continue;
    if (moving >> pos & 1) return false;
    if (up ? s->at[pos] + 1 < trip : s->at[pos] > 0) return true;
  }
  return false;
}

/* The number of settings along an axis that take nothing from a lower one. */
static int64_t first_of(const struct tf_model *m, int i, uint64_t fill, uint64_t moving) {
  const tf_path *path = &m->plan->path[m->plan->slices[i].node];
  int64_t n = 1;
  bool same = true;
  while (fill) {
    const int pos = 63 - __builtin_clzll(fill);
    const int64_t trip = m->ev.trip[path->loops[pos]];
    fill &= ~(UINT64_C(1) << pos);
    if (trip > 1 && moving >> pos & 1) same = false;
    if (!same) n *= trip;
  }
  return n;
}

tf_peer_pattern tf_peer_pattern_of(const struct tf_model *m, int i, uint64_t moving) {
  const uint64_t x = along(m, i, 0), y = along(m, i, 1);
  const tf_path *path = &m->plan->path[m->plan->slices[i].node];
  int64_t apart = first_of(m, i, x, moving) * first_of(m, i, y, moving), all = 1;
  for (uint64_t left = x | y; left; left &= left - 1)
    all *= m->ev.trip[path->loops[__builtin_ctzll(left)]];
  return (tf_peer_pattern){x, y, moving, apart, all};
}

/* The source of instance k's new words; *sent: the number of neighbours to which it hands its own
 * on. */
static tf_source source(const struct tf_model *m, int i, const tf_peer_pattern *b, const setting *s,
                        int *sent) {
  const bool from_x = like(m, i, s, b->x, b->moving, false);
  *sent = like(m, i, s, b->x, b->moving, true);
  *sent += !from_x && like(m, i, s, b->y, b->moving, true);
  return from_x ? TF_LESS_X : like(m, i, s, b->y, b->moving, false) ? TF_LESS_Y : TF_FROM_ABOVE;
}

/* ---- rows: what each instance moves --------------------------------------------------------- */

static int64_t instances(const struct tf_model *m, int node) {
  return node < 0 ? 1 : m->width[node];
}

/* The most instances of any node whose memory hands words on. */
static int64_t rows_of(const struct tf_model *m) {
  int64_t rows = 1;
  for (int i = 0; i < m->plan->n_tile_slices; i++)
    if (tf_hands(m, i) && instances(m, m->plan->slices[i].node) > rows)
      rows = instances(m, m->plan->slices[i].node);
  return rows;
}

bool tf_peers_even_new(struct tf_model *m) {
  const int64_t rows = rows_of(m), row = m->plan->n_slices + m->views->n_cells;
  tf_peers_even_drop(m);
  if (rows > MOST_EACH / row) return false;
  m->peers = tf_peers_new(m, &m->starved);
  m->each = m->peers ? tf_each_new(m, (int)rows) : NULL;
  m->starved |= m->peers && !m->each;
  if (m->each) return true;
  tf_peers_even_drop(m);
  return false;
}

void tf_peers_even_drop(struct tf_model *m) {
  tf_each_free(m->each);
  tf_peers_free(m->peers);
  m->each = NULL;
  m->peers = NULL;
}

/* The share of instance k in what the first instance moves of slice i: in its own memory, and in
 * the serving memory. */
static tf_flow of_row(const struct tf_model *m, int i, int k, tf_flow v) {
  if (k >= instances(m, m->plan->slices[i].node)) v.fill = v.drain = 0;
  if (k >= instances(m, m->views->server[i])) v.read = v.update = 0;
  return v;
}

static tf_flow in_row(const struct tf_model *m, int i, const tf_peer_pattern *b, int k, tf_flow v) {
  setting s;
  int sent = 0;
  if (b && k < instances(m, m->plan->slices[i].node)) {
    set_instance(m, m->plan->slices[i].node, k, &s);
    source(m, i, b, &s, &sent);
  }
  if (b) v.drain = sent * v.fill;
  return of_row(m, i, k, v);
}

void tf_peers_even_cells(struct tf_model *m, int i, int c, const tf_peer_pattern *b,
                         const tf_flow *v) {
  for (int k = 0; k < m->each->n && m->by_steps; k++) {
    struct tf_model one = tf_each_model(m, k);
    const tf_flow its = in_row(m, i, b, k, *v);
    tf_cells_add(&one, i, c, &its);
  }
}

void tf_peers_even_flows(struct tf_model *m, int i, const tf_peer_pattern *b) {
  tf_flow *own = m->each->flows + i;
  for (int k = 0; k < m->each->n; k++)
    own[(size_t)k * (size_t)m->plan->n_slices] = in_row(m, i, b, k, m->flows[i]);
  m->flows[i] = own[0];
}

void tf_peers_even_sources(struct tf_model *m, int i, const tf_peer_pattern *b, int64_t words) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_path *path = &m->plan->path[s->node];
  const double bits = (double)words * m->plan->wl->tensors[s->tensor].word_bits;
  int64_t *cur = m->scratch.cur;
  memset(cur, 0, (size_t)m->plan->n_loops * sizeof *cur);
  for (int64_t k = 0; k < instances(m, s->node); k++) {
    setting at;
    int sent;
    set_instance(m, s->node, k, &at);
    for (uint64_t left = tf_path_spatial(m->plan, s->node); left; left &= left - 1)
      cur[path->loops[__builtin_ctzll(left)]] = at.at[__builtin_ctzll(left)];
    m->peers->came[tf_peers_place(m, s->node, s->level, cur) * TF_N_SOURCES +
                   source(m, i, b, &at, &sent)] += bits;
  }
}

void tf_peers_even_end(struct tf_model *m) {
  const tf_plan *p = m->plan;
  for (int k = 0; k < m->each->n; k++)
    for (int o = 0; o < p->wl->n_ops; o++) {
      double *to = m->each->rescaled + 2 * ((size_t)k * (size_t)p->wl->n_ops + (size_t)o);
      const bool there =
          p->stream[o].node >= 0 && k < instances(m, m->views->server[p->n_slices + o]);
      to[0] = there ? m->rescaled_flow[2 * o] : 0;
      to[1] = there ? m->rescaled_flow[2 * o + 1] : 0;
    }
  tf_each_cells(m);
}
