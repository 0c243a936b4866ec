/* Finds the largest boxes.  Loops without a common length are searched separately, so that their
 * settings add up instead of multiplying.  Within a group, branch and bound prunes settings at
 * which no length can exceed the known ones: a box is at most as long as it is without borders, and
 * the further outside the tensor it is, the less is left of it. */
#include "model/cost/general/most.h"

#include <string.h>

#include "model/flow/retain.h"

enum {
  MOST_LOOKS = 1 << 15
}; /* most settings of a group, and sets of settings, that are evaluated */

/* Of every rank, and one that tells whether the slice is there. */
static int lengths_of(const tf_plan *p, const tf_view *v) {
  int n = 0;
  for (int i = v->first; i < v->first + v->n_slices; i++)
    n += p->wl->tensors[p->slices[i].tensor].rank + 1;
  return n;
}

tf_most *tf_most_new(tf_arena *a, const struct tf_model *m) {
  tf_most *q = TF_NEW(a, tf_most);
  int room = TF_MAX_RANK;
  for (int n = 0; n < m->plan->tree->n_nodes; n++) {
    int own = lengths_of(m->plan, &m->views->node[n]);
    room = own > room ? own : room;
  }
  if (!q) return NULL;
  size_t n = (size_t)room;
  q->room = room;
  q->slice = TF_ARRAY(a, int, n);
  q->rank = TF_ARRAY(a, int, n);
  q->mask = TF_ARRAY(a, uint64_t, n);
  q->from = TF_ARRAY(a, int64_t, n);
  q->extent = TF_ARRAY(a, int64_t, n);
  q->moved_by_runs = TF_ARRAY(a, bool, n);
  q->loose = TF_ARRAY(a, bool, n);
  q->which = TF_ARRAY(a, int, n);
  q->front = TF_ARRAY(a, int64_t, n * TF_MOST_FRONT);
  q->len = TF_ARRAY(a, int64_t, n);
  q->at = TF_ARRAY(a, tf_ival, n);
  q->whole = TF_ARRAY(a, tf_ival, n);
  q->shift = TF_ARRAY(a, int64_t, n * TF_MAX_PATH);
  return q->slice && q->rank && q->mask && q->from && q->extent && q->moved_by_runs && q->loose &&
                 q->which && q->front && q->len && q->at && q->whole && q->shift
             ? q
             : NULL;
}

/* ---- groups --------------------------------------------------------------------------------- */

static void add_group(tf_most *q, uint64_t loops) {
  int kept = 0;
  for (int g = 0; g < q->n_groups; g++) {
    if (q->group[g].loops & loops)
      loops |= q->group[g].loops;
    else
      q->group[kept++] = q->group[g];
  }
  q->group[kept] = (tf_most_group){.loops = loops};
  q->n_groups = kept + 1;
}

/* Groups loops of one chain, loops of which one affects the range of another, and loops that move
 * the same length. The last group has the lengths that no loop moves. */
static void make_groups(const struct tf_model *m, tf_most *q) {
  const tf_slice *at = &m->plan->node_slice[q->node];
  int n = 0;
  q->n_groups = 0;
  for (int c = 0; c < at->n_comp; c++)
    if (at->comp[c].loops) add_group(q, at->comp[c].loops);
  for (int i = 0; i < q->n; i++)
    if (q->mask[i]) add_group(q, q->mask[i]);
  q->group[q->n_groups++] = (tf_most_group){.loops = 0};
  for (int g = 0; g < q->n_groups; g++) {
    q->group[g].first = n;
    for (int i = 0; i < q->n; i++)
      if (q->mask[i] ? q->mask[i] & q->group[g].loops : !q->group[g].loops) q->which[n++] = i;
    q->group[g].n = n - q->group[g].first;
  }
}

/* ---- one group ------------------------------------------------------------------------------ */

typedef struct {
  struct tf_model *m;
  tf_most *q;
  tf_most_group *g;
  int n, loops[TF_MAX_PATH];
  int64_t trip_bound[TF_MAX_PATH]; /* upper bounds */
  int64_t *digits;
  int64_t left; /* evaluations left */
} most_search;

static bool as_long(const int64_t *a, const int64_t *b, int n) {
  for (int i = 0; i < n; i++)
    if (a[i] < b[i]) return false;
  return true;
}

/* Whether some known vector dominates these lengths. */
static bool known(const most_search *h, const int64_t *len) {
  const int64_t *front = &h->q->front[(size_t)TF_MOST_FRONT * (size_t)h->g->first];
  for (int v = 0; v < h->g->n_front; v++)
    if (as_long(&front[v * h->g->n], len, h->g->n)) return true;
  return false;
}

/* Adds a vector that is not dominated, in place of those that it dominates.  False: no room. */
static bool add_undominated(most_search *h, const int64_t *len) {
  int64_t *front = &h->q->front[(size_t)TF_MOST_FRONT * (size_t)h->g->first];
  const int n = h->g->n;
  int kept = 0;
  for (int v = 0; v < h->g->n_front; v++)
    if (!as_long(len, &front[v * n], n))
      memmove(&front[kept++ * n], &front[v * n], (size_t)n * sizeof *front);
  h->g->n_front = kept;
  if (kept == TF_MOST_FRONT) return false;
  memcpy(&front[kept * n], len, (size_t)n * sizeof *front);
  h->g->n_front++;
  return true;
}

/* Computes the lengths at the current setting of the loops, and keeps them unless they are
 * dominated; false: too many to keep. */
static bool measure_setting(most_search *h) {
  tf_most *q = h->q;
  h->left--;
  h->m->ev.work++;
  q->look(h->m, &q->which[h->g->first], h->g->n, h->digits, q->at);
  for (int k = 0; k < h->g->n; k++)
    q->len[k] = q->at[k].len > 0 ? q->at[k].len : 0;
  return known(h, q->len) || add_undominated(h, q->len);
}

/* The most that is left of a box of length `whole` between whole.lo + down and whole.lo + up. */
static int64_t most_left(tf_ival whole, int64_t down, int64_t up, int64_t from, int64_t extent) {
  const int64_t over = extent - whole.len, lo = whole.lo - from;
  /* a box inside the tensor, or around it, keeps the most: positions from 0 to `over` */
  const int64_t first = over < 0 ? over : 0, last = over < 0 ? 0 : over,
                most = over < 0 ? extent : whole.len;
  const int64_t off = lo + down > last ? lo + down - last : lo + up < first ? first - lo - up : 0;
  return off < most ? most - off : 0;
}

/* The largest that length f can be with the loops before i fixed. */
static int64_t bound_of(const most_search *h, int f, int i) {
  const tf_most *q = h->q;
  const int64_t *shift = &q->shift[(size_t)f * TF_MAX_PATH];
  int64_t down = 0, up = 0;
  const int64_t whole = q->whole[f].len < q->extent[f] ? q->whole[f].len : q->extent[f];
  if (!q->uniform_steps) return q->bounded && !q->loose[f] ? whole : q->extent[f];
  if (q->moved_by_runs[f]) return whole;
  for (int j = 0; j < h->n; j++) {
    const int64_t by = shift[j] * (j < i ? h->digits[h->loops[j]] : h->trip_bound[j] - 1);
    if (j < i || by < 0) down += by;
    if (j < i || by > 0) up += by;
  }
  return most_left(q->whole[f], down, up, q->from[f], q->extent[f]);
}

/* Bound: whether, with the loops before i fixed, some length may exceed the known ones. */
static bool promises(most_search *h, int i) {
  for (int k = 0; k < h->g->n; k++)
    h->q->len[k] = bound_of(h, h->q->which[h->g->first + k], i);
  return !known(h, h->q->len);
}

int64_t tf_most_next(const struct tf_model *m, int node, int l, int64_t t, int64_t n) {
  const tf_plan *p = m->plan;
  int64_t edge = 2 + p->reach / tf_step(&m->ev, node, l);
  if (!p->n_retains) return t + 1;
  for (int k = 0; k < p->n_retains; k++)
    edge += p->retains[k].n_ops;
  const int64_t middle = n / 2, last = n - edge;
  return t + 1 < edge || t + 1 >= last ? t + 1 : t + 1 <= middle ? middle : last;
}

/* Branches over the settings of the loops from i on that pass the bound.  False: there are too
 * many. */
static bool descend(most_search *h, int i) {
  if (!promises(h, i)) return true;
  if (i == h->n) return measure_setting(h);
  int64_t *digit = &h->digits[h->loops[i]];
  bool ok = true;
  *digit = 0;
  for (int64_t n = tf_nonempty_steps(&h->m->ev, h->q->node, h->loops[i], h->digits), t = 0;
       t < n && ok; t = tf_most_next(h->m, h->q->node, h->loops[i], t, n)) {
    *digit = t;
    ok = h->left-- > 0 && descend(h, i + 1);
  }
  *digit = 0;
  return ok;
}

/* Each box without borders, at the first setting; tiles: whole ones. */
static void find_whole(most_search *h, bool tiles) {
  tf_most *q = h->q;
  tf_eval *ev = &h->m->ev;
  const int *which = &q->which[h->g->first];
  ev->noclip = true;
  ev->whole = tiles;
  q->look(h->m, which, h->g->n, h->digits, q->at);
  for (int k = 0; k < h->g->n; k++)
    q->whole[which[k]] = q->at[k];
  ev->noclip = ev->whole = false;
}

/* The position of each box without borders, and how far each loop moves it. */
static void find_places(most_search *h) {
  tf_most *q = h->q;
  tf_eval *ev = &h->m->ev;
  const int *which = &q->which[h->g->first];
  find_whole(h, true);
  ev->noclip = ev->whole = true;
  for (int j = 0; j < h->n; j++) {
    h->digits[h->loops[j]] = 1;
    q->look(h->m, which, h->g->n, h->digits, q->at);
    h->digits[h->loops[j]] = 0;
    for (int k = 0; k < h->g->n; k++)
      q->shift[(size_t)which[k] * TF_MAX_PATH + (size_t)j] = q->at[k].lo - q->whole[which[k]].lo;
  }
  ev->noclip = ev->whole = false;
}

/* Evaluates the first, middle and last settings first: away from borders one of them has the
 * largest boxes. */
static bool evaluate_first(most_search *h) {
  bool ok = true;
  for (int at = 0; at < 3 && ok; at++) {
    for (int j = 0; j < h->n && at; j++) {
      const int64_t n = tf_nonempty_steps(&h->m->ev, h->q->node, h->loops[j], h->digits);
      h->digits[h->loops[j]] = at == 1 ? n / 2 : n - 1;
    }
    ok = measure_setting(h);
    for (int j = 0; j < h->n; j++)
      h->digits[h->loops[j]] = 0;
  }
  return ok;
}

static bool find_front(struct tf_model *m, tf_most *q, tf_most_group *g) {
  const tf_path *path = &m->plan->path[q->node];
  most_search h = {.m = m, .q = q, .g = g, .digits = m->scratch.prv, .left = MOST_LOOKS};
  memset(h.digits, 0, (size_t)m->plan->n_loops * sizeof *h.digits);
  g->n_front = 0;
  q->loops = g->loops;
  for (int k = 0; k < path->n; k++) {
    const int l = path->loops[k];
    if (!((g->loops & ~q->skip) >> k & 1) || m->ev.trip[l] <= 1 || m->plan->loops[l].op < 0)
      continue;
    h.trip_bound[h.n] =
        q->uniform_steps ? tf_nonempty_steps(&m->ev, q->node, l, h.digits) : m->ev.trip[l];
    h.loops[h.n] = l;
    h.n += h.trip_bound[h.n] > 1;
  }
  if (q->uniform_steps)
    find_places(&h);
  else if (q->bounded)
    find_whole(&h, false);
  return evaluate_first(&h) && descend(&h, 0);
}

bool tf_most_find(struct tf_model *m, tf_most *q) {
  make_groups(m, q);
  for (int g = 0; g < q->n_groups; g++)
    if (q->group[g].n && !find_front(m, q, &q->group[g])) return false;
  return true;
}
