/* Room for inputs and outputs that live in an inner memory, as a branch-free program: home.c, value for value.  Where
 * chains divide evenly, a loop's steps shift what is met alike, and all instances meet as much. */
#include "model/cost/quick/lanes.h"
#include "model/tree/infer.h"

/* Two lists of loops, of which those with one step count for nothing. */
int tf_lanes_paired(tf_lanes *w, const tf_lane_loops *a, const tf_lane_loops *b, tf_lane_alike *same, const void *of) {
  int row[TF_MAX_PATH + 1] = {0}, one = tf_l_int(w, 1), none = tf_l_int(w, 0);
  for (int i = a->n; i >= 0; i--) {
    bool end = i == a->n;
    int turns_i = end ? none : tf_l(w, TF_T_GT, a->loop[i], one), corner = none;
    for (int j = b->n; j >= 0; j--) {
      bool end_j = j == b->n;
      int turns_j = end_j ? none : tf_l(w, TF_T_GT, b->loop[j], one);
      int below = end ? none : row[j], beside = end_j ? none : row[j + 1], both = none;
      if (!end && !end_j) both = tf_l(w, TF_T_AND, same(w, of, i, j), corner);
      int rest = end_j ? none : tf_l_sel(w, turns_j, end ? none : both, beside);
      corner = below;
      row[j] = end && end_j ? one : end ? rest : tf_l_sel(w, turns_i, rest, below);
    }
  }
  return row[0];
}

static const tf_tape_op A = TF_T_ADD, S = TF_T_SUB, M = TF_T_MUL;

enum { MOST_CORNERS = 8 }; /* as in home.c: spatial loops of which all corners are looked at */

typedef tf_lane_met met;

static met met_new(tf_lanes *w, int lo, int len) {
  met v = {lo, len, TF_ARRAY(w->arena, int, (size_t)w->p->n_loops + 1)};
  w->failed |= !v.by;
  for (int l = 0; l < w->p->n_loops && v.by; l++)
    v.by[l] = tf_l_int(w, 0);
  return v;
}

static met met_of(tf_lanes *w, int o, int d, int n);

/* An index of op o on entry to node n. */
static met index_of(tf_lanes *w, int o, const tf_index *ix, int n) {
  const int one = tf_l_int(w, 1);
  met v = met_new(w, tf_l_int(w, ix->c), one);
  for (int i = 0; i < ix->n_terms && !w->failed; i++) {
    const int64_t coef = ix->terms[i].coef;
    const met d = met_of(w, o, ix->terms[i].dim, n);
    if (w->failed) break;
    const int k = tf_l_int(w, coef), reach = tf_l(w, M, tf_l_int(w, coef < 0 ? -coef : coef), tf_l(w, S, d.len, one));
    v.lo = tf_l(w, A, v.lo, tf_l(w, M, k, d.lo));
    if (coef < 0) v.lo = tf_l(w, S, v.lo, reach);
    v.len = tf_l(w, A, v.len, reach);
    for (int l = 0; l < w->p->n_loops; l++)
      v.by[l] = tf_l(w, A, v.by[l], tf_l(w, M, k, d.by[l]));
  }
  return v;
}

/* Joins b to a, which has `n` parts so far.  Parts that a loop moves apart are left to the count row by row. */
static met join(tf_lanes *w, met a, met b, int n) {
  if (!n || w->failed) return b;
  const int end = tf_l(w, TF_T_MAX, tf_l(w, A, a.lo, a.len), tf_l(w, A, b.lo, b.len));
  for (int l = 0; l < w->p->n_loops; l++)
    tf_l_must(w, tf_l(w, TF_T_OR, tf_l(w, TF_T_EQ, a.by[l], b.by[l]), tf_l(w, TF_T_EQ, l, tf_l_int(w, 1))));
  a.lo = tf_l(w, TF_T_MIN, a.lo, b.lo);
  a.len = tf_l(w, S, end, a.lo);
  return a;
}

/* The range of op o, which leads at n.  Where what enters moves from run to run, any instance may meet any part. */
static met led(tf_lanes *w, int o, int d, int n) {
  const tf_plan *p = w->p;
  const tf_path *path = &p->path[n], *enters = &p->path[p->lead[o]];
  const int up = p->tree->nodes[p->lead[o]].parent, one = tf_l_int(w, 1), none = tf_l_int(w, 0);
  int wanders = none;
  for (uint64_t at = p->base[o * p->wl->n_dims + d] & enters->temporal; at; at &= at - 1)
    wanders = tf_l(w, TF_T_OR, wanders, tf_l(w, TF_T_GT, enters->loops[__builtin_ctzll(at)], one));
  met v = met_new(w, none, tf_l_int(w, p->wl->dims[d].extent));
  const met base = up < 0 || w->failed ? v : met_of(w, o, d, up);
  if (w->failed) return v;
  v.lo = base.lo;
  v.len = base.len;
  for (int l = 0; l < p->n_loops; l++)
    v.by[l] = base.by[l];
  for (int k = enters->n; k < path->n; k++) {
    const int l = path->loops[k];
    if (p->loops[l].dim != d || p->loops[l].axis == TF_TEMPORAL) continue;
    v.by[l] = tf_l_sel(w, wanders, none, w->value[w->m->even->step[l]]);
    v.len = tf_l(w, S, v.len, tf_l(w, M, tf_l(w, S, l, one), v.by[l]));
  }
  return v;
}

/* What the readers of op o below node n read of its output rank r. */
static met demanded(tf_lanes *w, int o, int r, int n) {
  met v = {0};
  int parts = 0;
  TF_EACH_READ (w->p->facts, o, n, at)
    v = join(w, v, index_of(w, at.op, &w->p->wl->ops[at.op].reads[at.ref].index[r], n), parts++);
  return parts ? v : met_new(w, tf_l_int(w, 0), tf_l_int(w, 0));
}

static met met_found(tf_lanes *w, int o, int d, int n) {
  const tf_range_from from = tf_range_source(w->p->facts, o, d, n);
  switch (from.rule) {
  case TF_BY_LOOPS: return led(w, o, d, n);
  case TF_BY_READERS: return demanded(w, o, from.of, n);
  case TF_BY_LEADER: return met_of(w, from.of, d, n);
  case TF_BY_EXTENT: break;
  }
  return met_new(w, tf_l_int(w, 0), tf_l_int(w, w->p->wl->dims[d].extent));
}

/* The range of dim d of op o on entry to node n. */
static met met_of(tf_lanes *w, int o, int d, int n) {
  met *at = &w->met[(o * w->p->wl->n_dims + d) * w->p->tree->n_nodes + n];
  if (!at->by) *at = met_found(w, o, d, n);
  return *at;
}

static met slice_of(tf_lanes *w, const tf_slice *s, int r) {
  met v = {0};
  for (int i = 0; i < s->n_touch && !w->failed; i++) {
    const tf_touch t = s->touch[i];
    const tf_op *op = &w->p->wl->ops[t.op];
    v = join(w, v,
             t.ref < 0 ? met_of(w, t.op, op->dims[r], s->node) : index_of(w, t.op, &op->reads[t.ref].index[r], s->node),
             i);
  }
  return v;
}

/* ---- room ---------------------------------------------------------------------------------------------- */

/* What is met at an m-tile along one rank, and the spatial loops above that. */
typedef struct {
  met met;
  tf_lane_loops loops;
} meeting;

static tf_lane_loops spatial_above(const tf_plan *p, int n) {
  tf_lane_loops all = {0};
  for (int i = 0; i < p->path[n].n; i++)
    if (!(p->path[n].temporal >> i & 1)) all.loop[all.n++] = p->path[n].loops[i];
  return all;
}

static int same_step(tf_lanes *w, const void *of, int i, int j) {
  const meeting *both = of;
  const int k = both[0].loops.loop[i], l = both[1].loops.loop[j];
  const tf_ploop *x = &w->p->loops[k], *y = &w->p->loops[l];
  if (x->axis != y->axis || w->p->tree->nodes[x->node].level != w->p->tree->nodes[y->node].level) return tf_l_int(w, 0);
  return tf_l(w, TF_T_AND, tf_l(w, TF_T_EQ, k, l), tf_l(w, TF_T_EQ, both[0].met.by[k], both[1].met.by[l]));
}

/* Whether all instances meet the same. */
static int stands_still(tf_lanes *w, const meeting *a) {
  int still = tf_l_int(w, 1);
  for (int i = 0; i < a->loops.n; i++) {
    const int l = a->loops.loop[i], one = tf_l(w, TF_T_EQ, l, tf_l_int(w, 1));
    still = tf_l(w, TF_T_AND, still, tf_l(w, TF_T_OR, one, tf_l(w, TF_T_EQ, a->met.by[l], tf_l_int(w, 0))));
  }
  return still;
}

/* Whether each instance meets the same at both of two m-tiles. */
static int alike(tf_lanes *w, const meeting *both) {
  const int first = tf_l(w, TF_T_AND, tf_l(w, TF_T_EQ, both[0].met.lo, both[1].met.lo),
                         tf_l(w, TF_T_EQ, both[0].met.len, both[1].met.len));
  const int each = tf_lanes_paired(w, &both[0].loops, &both[1].loops, same_step, both);
  const int still = tf_l(w, TF_T_AND, stands_still(w, &both[0]), stands_still(w, &both[1]));
  return tf_l(w, TF_T_AND, first, tf_l(w, TF_T_OR, each, still));
}

/* Requires that not more loops than home.c goes through have steps. */
static void few_corners(tf_lanes *w, const tf_lane_loops *loops) {
  int n = tf_l_int(w, 0);
  for (int i = 0; i < loops->n; i++)
    n = tf_l(w, A, n, tf_l(w, TF_T_GT, loops->loop[i], tf_l_int(w, 1)));
  if (loops->n > MOST_CORNERS) tf_l_must(w, tf_l(w, TF_T_GT, tf_l_int(w, MOST_CORNERS + 1), n));
}

/* What all m-tiles meet together, wherever: the same for all trip counts. */
static int64_t everywhere(tf_lanes *w, int z, int r) {
  const tf_plan *p = w->p;
  tf_eval ev = w->m->ev;
  tf_ival all = {0, 0};
  int64_t *digit = TF_ARRAY(w->arena, int64_t, (size_t)p->n_loops + 1);
  w->failed |= !digit;
  ev.ever = TF_EVER_ANYWHERE;
  ev.noclip = true;
  ev.exact = ev.whole = ev.demand = false;
  ev.made = NULL;
  for (int i = 0; i < p->n_at_home && digit; i++)
    if (p->at_home[i].tensor == z) all = tf_hull(all, tf_slice_rank(&ev, &p->at_home[i], r, digit));
  return all.len;
}

/* The length along rank r that all instances set aside. */
static int side_of(tf_lanes *w, int z, int r) {
  const tf_plan *p = w->p;
  meeting both[2]; /* the first m-tile, and the one at hand */
  int most = tf_l_int(w, 0), all_alike = tf_l_int(w, 1), n = 0;
  for (int i = 0; i < p->n_at_home && !w->failed; i++) {
    const tf_slice *s = &p->at_home[i];
    if (s->tensor != z) continue;
    both[n > 0] = (meeting){slice_of(w, s, r), spatial_above(p, s->node)};
    w->failed |= !both[n > 0].met.by;
    if (w->failed) break;
    few_corners(w, &both[n > 0].loops);
    most = tf_l(w, TF_T_MAX, most, both[n > 0].met.len);
    if (n++) all_alike = tf_l(w, TF_T_AND, all_alike, alike(w, both));
  }
  return tf_l_sel(w, all_alike, most, tf_l_int(w, everywhere(w, z, r)));
}

int tf_lanes_at_home(tf_lanes *w, int z) {
  const tf_tensor *t = &w->p->wl->tensors[z];
  int words = tf_l_int(w, 1), all = tf_l_real(w, 1);
  for (int r = 0; r < t->rank && !w->failed; r++) {
    const int side = tf_l(w, TF_T_MIN, side_of(w, z, r), tf_l_int(w, t->extent[r]));
    words = tf_l(w, M, words, side);
    all = tf_l(w, TF_T_FMUL, all, tf_l_to(w, side));
  }
  tf_l_small(w, all);
  return words;
}
