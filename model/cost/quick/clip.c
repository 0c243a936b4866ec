/* The quick count with borders of padded tensors.  If each loop moves at most one clipped rank, the
 * words of all settings of a class of entries are a product over ranks: of sum over the settings of
 * the loops that move the rank of | [lo, lo + len) n [from, to) |, of the lengths of the other
 * ranks, and of the number of settings of all other loops.  The part found of the previous box is
 * such a box, too: the overlap of both before any border clips it.
 *
 * A clipped length is a sum of four hinges, h(lo + len) - h(lo + len - E) - h(lo) + h(lo - E),
 * h(x) = max(0, x), with lo relative to the tensor's lower end, and E its extent.  A sum of hinges
 * over an arithmetic grid is a sum of a few arithmetic series: only loops that cross the border
 * have to be visited step by step. */
#include "model/cost/quick/clip.h"

#include <string.h>

#include "model/cost/quick/grid.h"
#include "model/cost/quick/uneven.h"
#include "model/tree/infer.h"

enum { LOOPS = TF_MAX_PATH };
#define MOST 0x1p60 /* limit for intermediate sums */

/* A clipped rank, and the loops with more than one step that move it. */
typedef struct {
  int rank, n;
  int64_t lo, len, extent; /* at the first setting, relative to the tensor's lower end; and the
                              tensor's extent */
  uint64_t moves;          /* their positions */
  int pos[LOOPS];
  int64_t step[LOOPS], trip[LOOPS]; /* steps may be negative */
} clip;

typedef struct {
  int n;
  clip at[4];
} clips;

/* ---- boxes -------------------------------------------------------------------------------- */

void tf_even_read_at(const struct tf_model *m, const tf_even_read *r, int64_t *lo, int64_t *end) {
  *lo = r->c;
  *end = r->c + 1;
  for (int t = r->first; t < r->first + r->n; t++) {
    const tf_even_term *term = &m->even->terms[t];
    int64_t near = term->coef * m->lo[term->range];
    int64_t far = term->coef * (m->lo[term->range] + m->len[term->range] - 1);
    *lo += near < far ? near : far;
    *end += near < far ? far : near;
  }
}

int64_t tf_even_turns(const struct tf_model *m, const int *loops, int n) {
  int64_t all = 1;
  for (int i = 0; i < n; i++)
    all *= m->ev.trip[loops[i]];
  return all;
}

static int64_t overlap(int64_t by, int64_t len, int64_t other) {
  int64_t lo = by > 0 ? by : 0, end = by + other < len ? by + other : len;
  return end > lo ? end - lo : 0;
}

/* Words of the overlap of a box with itself shifted by `by` in each rank. */
static int64_t kept(const tf_piece *x, const int64_t *by) {
  int64_t words = 1;
  for (int r = 0; r < x->v->n_rank; r++)
    words *= overlap(by[r], x->len[r], x->len[r]);
  return words;
}

void tf_even_advance(const struct tf_model *m, const tf_even_loop *l, int64_t steps, int64_t *by) {
  int64_t step = steps * m->value[m->even->step[l->loop]];
  for (int i = 0; i < l->n; i++)
    by[l->shift[i].rank] += l->shift[i].k * step;
}

/* The position of the previous m-tile, of class c, at its last step: shifts in each rank. */
static void last_of(const struct tf_model *m, const tf_reuse_case *c, int64_t *by) {
  const tf_even_slice *q = &m->even->slices[c->prev];
  int from = c->stepping >= 0 ? c->stepping : m->plan->path[c->common].n - 1;
  for (int i = 0; i < q->n_temporal && q->temporal[i].pos >= from; i++) {
    const tf_even_loop *l = &q->temporal[i];
    if (l->pos > from)
      tf_even_advance(m, l, m->ev.trip[l->loop] - 1, by);
    else if (c->stepping >= 0)
      tf_even_advance(m, l, -1, by);
  }
  for (int r = 0; r < q->n_rank; r++)
    by[r] += m->lo[q->range[r]];
}

/* Words found of what the previous m-tile, of class c, left at its last step. */
static int64_t kept_of(const struct tf_model *m, const tf_reuse_case *c, const tf_piece *x) {
  const tf_even_slice *q = &m->even->slices[c->prev];
  int64_t lo[TF_MAX_RANK] = {0}, words = 1;
  last_of(m, c, lo);
  for (int r = 0; r < q->n_rank; r++)
    words *= overlap(lo[r] - m->lo[x->v->range[r]], x->len[r], m->len[q->range[r]]);
  return words;
}

/* The next loop from i on that is below the common scope (path length n) and has more than one
 * step. */
static int next_loop(const struct tf_model *m, const tf_even_slice *v, int n, int i) {
  while (i < v->n_spatial && (v->spatial[i].pos < n || m->ev.trip[v->spatial[i].loop] <= 1))
    i++;
  return i;
}

static bool alike(const struct tf_model *m, const tf_even_loop *a, const tf_even_loop *b) {
  const tf_plan *p = m->plan;
  if (p->loops[a->loop].axis != p->loops[b->loop].axis ||
      m->ev.trip[a->loop] != m->ev.trip[b->loop] || a->n != b->n)
    return false;
  for (int i = 0; i < a->n; i++)
    if (a->shift[i].rank != b->shift[i].rank ||
        a->shift[i].k * m->value[m->even->step[a->loop]] !=
            b->shift[i].k * m->value[m->even->step[b->loop]])
      return false;
  return true;
}

static bool same_layout(const struct tf_model *m, const tf_even_slice *v, const tf_even_slice *q,
                        int n) {
  int i = next_loop(m, v, n, 0), j = next_loop(m, q, n, 0);
  while (i < v->n_spatial && j < q->n_spatial) {
    if (!alike(m, &v->spatial[i], &q->spatial[j])) return false;
    i = next_loop(m, v, n, i + 1);
    j = next_loop(m, q, n, j + 1);
  }
  return i == v->n_spatial && j == q->n_spatial;
}

bool tf_even_survives(const struct tf_model *m, const tf_even_slice *v, const tf_reuse_case *c) {
  if (c->prev < 0) return false;
  for (int i = 0; i < c->n_spread; i++)
    if (m->ev.trip[c->spread[i]] > 1) return false;
  return c->common < 0 || same_layout(m, v, &m->even->slices[c->prev], m->plan->path[c->common].n);
}

bool tf_even_before(const struct tf_model *m, const tf_reuse_case *c, const tf_piece *x,
                    const int64_t *by, int64_t *lo, int64_t *len) {
  if (!tf_even_survives(m, x->v, c)) return false;
  if (c->common < 0) {
    memcpy(lo, by, (size_t)x->v->n_rank * sizeof *lo);
    memcpy(len, x->len, (size_t)x->v->n_rank * sizeof *len);
    return true;
  }
  const tf_even_slice *q = &m->even->slices[c->prev];
  memset(lo, 0, (size_t)x->v->n_rank * sizeof *lo);
  last_of(m, c, lo);
  for (int r = 0; r < q->n_rank; r++) {
    lo[r] -= m->lo[x->v->range[r]];
    len[r] = m->len[q->range[r]];
  }
  return true;
}

int64_t tf_even_found(const struct tf_model *m, const tf_reuse_case *c, const tf_piece *x,
                      const int64_t *by) {
  if (!tf_even_survives(m, x->v, c)) return 0;
  return c->common < 0 ? kept(x, by) : kept_of(m, c, x);
}

/* ---- sums over a grid ------------------------------------------------------------------------ */

/* The grid of the free loops of c: spatial ones and those outside position `outer`; if the loop
 * there steps, that one, too, from its second setting on.  *lo: the first place. */
static void free_loops(const clip *c, uint64_t temporal, int outer, bool steps, tf_grid *g,
                       int64_t *lo) {
  g->n = 0;
  for (int i = 0; i < c->n; i++) {
    bool here = c->pos[i] == outer;
    if (temporal >> c->pos[i] & 1 && c->pos[i] >= outer && !(here && steps)) continue;
    *lo += here && steps ? c->step[i] : 0;
    *lo += tf_grid_add(g, c->step[i], c->trip[i] - (here && steps));
  }
  tf_grid_sum_up(g);
}

/* The longest part of the box inside the tensor along rank c, over all settings. */
static int64_t longest(const clip *c) {
  tf_grid g = {0}; /* initialised, as gcc -O2 reads past the last loop in `nearest` before it
                      discards the value */
  int64_t lo = c->lo;
  free_loops(c, 0, 0, false, &g, &lo);
  return tf_grid_longest(&g, lo, c->len, c->extent);
}

/* ---- which ranks ----------------------------------------------------------------------------- */

/* How far the loops with more than one step move range r down and up. */
static bool span_of(const struct tf_model *m, const tf_even_range *r, int64_t *down, int64_t *up) {
  bool any = false;
  *down = *up = 0;
  for (uint64_t left = r->moves; left; left &= left - 1) {
    int pos = __builtin_ctzll(left), l = r->path->loops[pos];
    int64_t by = r->shift[pos] * m->value[m->even->step[l]] * (m->ev.trip[l] - 1);
    any |= m->ev.trip[l] > 1;
    *(by < 0 ? down : up) += by;
  }
  return any;
}

/* Sets a range that no loop moves: the clipped hull of its reads. */
static bool clip_unmoved(struct tf_model *m, int i) {
  const tf_even_range *r = &m->even->ranges[i];
  int64_t lo = INT64_MAX, end = INT64_MIN;
  for (int k = r->first; k < r->first + r->n; k++) {
    int64_t a, b;
    tf_even_read_at(m, &m->even->reads[k], &a, &b);
    const bool inside = a < r->to && b > r->from;
    if (!inside && !r->made)
      return false; /* the hull must not be wider in another rank, either: left to the general count
                     */
    const tf_ival v = tf_clamped((tf_ival){a, b - a}, r->from, r->to);
    lo = v.lo < lo ? v.lo : lo;
    end = v.lo + v.len > end ? v.lo + v.len : end;
  }
  m->lo[i] = lo;
  m->len[i] = end - lo;
  return true;
}

/* Whether every read, moved down and up by these distances, keeps some part inside the tensor. */
static bool all_inside(const struct tf_model *m, const tf_even_range *r, int64_t down, int64_t up) {
  bool ok = true;
  for (int k = r->first; k < r->first + r->n && r->n > 1; k++) {
    int64_t lo, end;
    tf_even_read_at(m, &m->even->reads[k], &lo, &end);
    ok &= lo + up < r->to && end + down > r->from;
  }
  return ok;
}

bool tf_clip_range(struct tf_model *m, int i) {
  const tf_even_range *r = &m->even->ranges[i];
  int64_t down, up, lo = m->lo[i], end = lo + m->len[i];
  bool moves = span_of(m, r, &down, &up);
  if (lo + down >= r->from && end + up <= r->to) return true;
  if (!moves) return clip_unmoved(m, i);
  return !r->made && all_inside(m, r, down, up);
}

static void add_loop(clip *c, int pos, int64_t step, int64_t trip) {
  c->pos[c->n] = pos;
  c->step[c->n] = step;
  c->trip[c->n++] = trip;
  c->moves |= UINT64_C(1) << pos;
}

/* Prepares rank `rank` of the slice if a border clips it.  False: sums could overflow. */
static bool clip_of_rank(const struct tf_model *m, const tf_even_slice *v, int rank, clip *c,
                         bool *clipped) {
  int i = v->range[rank];
  const tf_even_range *r = &m->even->ranges[i];
  int64_t down, up;
  span_of(m, r, &down, &up);
  c->rank = rank;
  c->lo = m->lo[i] - r->from;
  c->len = m->len[i];
  c->extent = r->to - r->from;
  *clipped = c->lo + down < 0 || c->lo + c->len + up > c->extent;
  if (!*clipped) return true;
  double all = 1, reach = (double)c->len + (double)c->extent + 2 * ((double)up - (double)down);
  c->n = 0;
  c->moves = 0;
  for (uint64_t left = r->moves; left; left &= left - 1) {
    int pos = __builtin_ctzll(left), l = r->path->loops[pos];
    if (m->ev.trip[l] <= 1) continue;
    add_loop(c, pos, r->shift[pos] * m->value[m->even->step[l]], m->ev.trip[l]);
    all *= (double)m->ev.trip[l];
  }
  return all * reach < MOST;
}

/* All ranks of slice s that borders clip.  False: the quick count does not apply. */
static bool clips_of(const struct tf_model *m, const tf_slice *s, const tf_even_slice *v,
                     clips *k) {
  uint64_t moves = 0;
  k->n = 0;
  for (int i = 0; i < v->n_padded; i++) {
    bool clipped;
    if (k->n == (int)(sizeof k->at / sizeof k->at[0])) return false;
    clip *c = &k->at[k->n];
    if (!clip_of_rank(m, v, v->padded[i], c, &clipped)) return false;
    if (!clipped) continue;
    /* no loop may move two of them; and if a box covers the tensor, sharing instances may have
     * equal boxes by chance */
    if (c->moves & moves || (c->len > c->extent && c->moves & s->merge)) return false;
    moves |= c->moves;
    k->n++;
  }
  return k->n == 0 || !s->makes;
}

/* ---- entries -------------------------------------------------------------------------------- */

/* One class of entries: loops outside position `outer` are free, and so is that loop from its
 * second setting on, if it steps. */
typedef struct {
  uint64_t temporal;
  int outer;
  bool steps;
  int64_t settings; /* of all instances */
} class_of;

/* Words of all settings of the class together, for boxes shifted by `off` (NULL: not) from the
 * slice's. */
static int64_t words_of(const tf_piece *x, const clips *k, const class_of *e, const int64_t *off,
                        const int64_t *len) {
  int64_t words = e->settings, next = 0;
  for (int r = 0; r < x->v->n_rank && words > 0; r++) {
    if (next < k->n && k->at[next].rank == r) {
      const clip *c = &k->at[next++];
      tf_grid g;
      int64_t lo = c->lo;
      free_loops(c, e->temporal, e->outer, e->steps, &g, &lo);
      words = words / g.all[0] * tf_grid_clipped(&g, lo + (off ? off[r] : 0), len[r], c->extent);
    } else {
      words *= len[r];
    }
  }
  return words;
}

/* Words that enter in class c, over all instances. */
static int64_t entering_words(const struct tf_model *m, const tf_reuse_case *c, const tf_piece *x,
                              const clips *k, const class_of *e, const int64_t *by) {
  int64_t lo[TF_MAX_RANK], len[TF_MAX_RANK], words = words_of(x, k, e, NULL, x->len);
  if (!words || !tf_even_before(m, c, x, by, lo, len)) return words;
  for (int r = 0; r < x->v->n_rank; r++) { /* the overlap of both boxes */
    int64_t end = lo[r] + len[r] < x->len[r] ? lo[r] + len[r] : x->len[r];
    lo[r] = lo[r] > 0 ? lo[r] : 0;
    len[r] = end - lo[r];
    if (len[r] <= 0) return words;
  }
  return words - words_of(x, k, e, lo, len);
}

static void enter(struct tf_model *m, int i, int c, int64_t words, int64_t same, tf_move *sum) {
  const tf_memory *mem = &m->plan->arch->memories[m->plan->slices[i].level];
  tf_move v = {.fill = words, .read = mem->multicast ? words / same : words};
  const tf_flow mean = tf_mean_flow(m, i, &v);
  tf_cells_add(m, i, c, &mean);
  sum->fill += v.fill;
  sum->read += v.read;
}

/* The largest box; false if an m-tile has two clipped ones, which need not be largest at the same
 * moment. */
static bool sizes(struct tf_model *m, int i, const tf_piece *x, const clips *k) {
  int node = m->plan->slices[i].node;
  int64_t *len = &m->rank_len[m->views->rank_at[i]];
  if (m->clipped == node) return false;
  m->clipped = node;
  for (int r = 0, next = 0; r < x->v->n_rank; r++)
    len[r] = next < k->n && k->at[next].rank == r ? longest(&k->at[next++]) : x->len[r];
  m->box[i] = 1;
  for (int r = 0; r < x->v->n_rank; r++)
    m->box[i] *= len[r];
  return m->box[i] > 0;
}

tf_clipped tf_clip_tile(struct tf_model *m, int i, const tf_piece *x) {
  const tf_slice *s = &m->plan->slices[i];
  clips k;
  if (!clips_of(m, s, x->v, &k)) return TF_GIVEN_UP;
  if (!k.n) return TF_UNCLIPPED;
  if (!sizes(m, i, x, &k)) return TF_GIVEN_UP;
  int64_t by[TF_MAX_RANK] = {0}, same = tf_even_turns(m, x->v->same, x->v->n_same);
  class_of e = {.temporal = m->plan->path[s->node].temporal, .steps = true};
  tf_move sum = {0};
  int c = 0;
  for (; c < s->n_class && s->classes[c].stepping >= 0; c++) {
    const tf_even_loop *l = &x->v->temporal[c];
    int64_t trip = m->ev.trip[l->loop];
    if (trip <= 1) continue;
    e.outer = l->pos;
    e.settings = (trip - 1) * m->outer[l->loop] * x->instances;
    tf_even_advance(m, l, -1, by);
    enter(m, i, c, entering_words(m, &s->classes[c], x, &k, &e, by), same, &sum);
    tf_even_advance(m, l, trip, by);
  }
  const tf_reuse_case *last = &s->classes[c];
  e.outer = last->zero_from;
  e.steps = false;
  e.settings = (last->zero_from == 0 ? 1 : m->steps[last->top]) * x->instances;
  enter(m, i, c, entering_words(m, last, x, &k, &e, by), same, &sum);
  m->moves[i] = sum;
  m->flows[i] = tf_mean_flow(m, i, &sum);
  return TF_COUNTED;
}

tf_clipped tf_clip_leaf(struct tf_model *m, int i, const tf_piece *x, bool multicast) {
  const tf_slice *s = &m->plan->slices[i];
  clips k;
  if (!clips_of(m, s, x->v, &k)) return TF_GIVEN_UP;
  if (!k.n) return TF_UNCLIPPED;
  class_of all = {.outer = TF_MAX_PATH, .settings = m->steps[s->node] * x->instances};
  int64_t words = words_of(x, &k, &all, NULL, x->len);
  m->moves[i] =
      (tf_move){.read = multicast ? words / tf_even_turns(m, x->v->same, x->v->n_same) : words};
  m->flows[i] = tf_mean_flow(m, i, &m->moves[i]);
  return TF_COUNTED;
}
