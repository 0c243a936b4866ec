/* A slice, what it finds, and its instances: see beside.h. */
#include <stdlib.h>
#include <string.h>

#include "model/cost/general/beside.h"
#include "model/flow/layout.h"
#include "model/flow/plan_class.h"

enum { ALL_DIMS = (1 << TF_BESIDE_DIMS) - 1 };

static int64_t trip_at(const tf_beside *b, int pos) { return b->m->ev.trip[b->path->loops[pos]]; }

/* The dims with loops that rank r depends on, now, or as the other m-tile has left it. */
static uint32_t dims_of(const tf_beside *b, int r, bool other) {
  const tf_beside_map *map = other ? &b->old : &b->map;
  uint32_t dims = other ? dims_of(b, r, false) : 0;
  for (int f = 0; f < map->n_forms; f++)
    for (int i = 0; i < map->rank[f][r].n; i++)
      for (uint32_t left = tf_beside_under(map, map->rank[f][r].term[i].dim) & ALL_DIMS; left;
           left &= left - 1) {
        const int own = __builtin_ctz(left), k = other ? b->holder[own] : own;
        if (k >= 0 && (b->map.dim[k].n || b->map.dim[k].n_spatial)) dims |= UINT32_C(1) << k;
      }
  return dims;
}

/* Adds a rank to the groups that share dims with it, which become one.  False: too many ranks. */
static bool add_rank(tf_beside *b, int r, bool other) {
  tf_beside_group all = {dims_of(b, r, other), 1, {(unsigned char)r}};
  int n = 0;
  for (int g = 0; g < b->n_groups; g++) {
    const tf_beside_group *of = &b->group[g];
    if (!(of->dims & all.dims)) {
      b->group[n++] = *of;
      continue;
    }
    if (all.n_rank + of->n_rank > TF_BESIDE_RANKS) return false;
    all.dims |= of->dims;
    memcpy(&all.rank[all.n_rank], of->rank, (size_t)of->n_rank);
    all.n_rank += of->n_rank;
  }
  b->group[n++] = all;
  b->n_groups = n;
  b->ranked |= all.dims;
  return true;
}

bool tf_beside_regroup(tf_beside *b, bool other) {
  bool ok = true;
  b->n_groups = 0;
  b->ranked = 0;
  for (int r = 0; r < b->map.n_ranks && ok; r++)
    ok = add_rank(b, r, other);
  return ok;
}

/* Whether another slice may leave its content where slice i's is. */
static bool has_sibling(const struct tf_model *m, int i) {
  const tf_plan *p = m->plan;
  const tf_slice *s = &p->slices[i];
  bool has = false;
  for (int j = 0; j < p->n_tile_slices; j++)
    has |= j != i && p->slices[j].tensor == s->tensor && p->slices[j].level == s->level &&
           tf_plan_same_split(p, p->slices[j].node, s->node);
  return has;
}

/* Whether what entries find is of the slice, or of one in another m-tile. */
static bool finds_one(tf_beside *b) {
  bool ok = true;
  for (int c = 0; c < b->s->n_class && ok; c++) {
    const tf_reuse_case *k = &b->s->classes[c];
    ok = !k->if_idle[0] && !k->if_idle[1];
    b->drops |= k->prev < 0 && (k->stepping >= 0 || k->zero_from > 0);
    if (k->prev < 0 || k->prev == b->i) continue;
    ok = ok && k->common >= 0 && (b->from < 0 || b->from == k->prev);
    b->from = k->prev;
    b->n_common = ok ? b->m->plan->path[k->common].n : 0;
  }
  b->drops |= b->i < b->m->plan->n_tile_slices && has_sibling(b->m, b->i);
  return ok;
}

/* Whether references move rank r by different distances along dim k, so that the hull grows. */
static bool moves_unlike(const tf_beside_map *map, int r, int k) {
  bool unlike = false;
  int64_t first = 0, by;
  for (int f = 0; f < map->n_forms; f++) {
    unlike |= !tf_beside_moves(map, &map->rank[f][r], k, &by) || (f && by != first);
    first = by;
  }
  return unlike;
}

/* Marks the dims that move ranks. */
static void mark_ranked(tf_beside *b) {
  const tf_tensor *z = &b->m->plan->wl->tensors[b->s->tensor];
  for (int r = 0; r < b->map.n_ranks; r++) {
    const uint32_t dims = dims_of(b, r, false);
    const bool padded = r < z->rank && z->pad[r] > 0;
    for (int k = 0; k < b->map.n_dims; k++) {
      b->map.dim[k].ranked |= dims >> k & 1;
      b->map.dim[k].alone |= (dims >> k & 1) && (padded || moves_unlike(&b->map, r, k));
    }
  }
  for (int k = 0; k < b->map.n_dims; k++) {
    const tf_beside_dim *d = &b->map.dim[k];
    for (int g = 0; g < d->n && d->ranked; g++)
      b->moving |= UINT64_C(1) << d->loop[g].pos;
    for (int g = 0; g < d->n_spatial && d->ranked; g++)
      b->moving |= UINT64_C(1) << d->spatial[g].pos;
  }
}

/* ---- the slice in another m-tile ------------------------------------------------------------ */

static int below(const struct tf_beside_loop *l, int n, int pos) {
  int k = 0;
  while (k < n && l[k].pos < pos)
    k++;
  return k;
}

static bool same(const struct tf_beside_loop *a, const struct tf_beside_loop *b, int n) {
  bool ok = true;
  for (int k = 0; k < n; k++)
    ok &= a[k].pos == b[k].pos && !a[k].stage && !b[k].stage && a[k].step == b[k].step;
  return ok;
}

/* Whether the loops common to both split dims a and b alike; *n: those in time. */
static bool goes_along(const tf_beside *b, const tf_beside_dim *a, const tf_beside_dim *o, int *n) {
  const int spatial = below(o->spatial, o->n_spatial, b->n_common);
  *n = below(o->loop, o->n, b->n_common);
  return a->extent == o->extent && below(a->loop, a->n, b->n_common) == *n &&
         below(a->spatial, a->n_spatial, b->n_common) == spatial && same(a->loop, o->loop, *n) &&
         same(a->spatial, o->spatial, spatial);
}

/* Finds the dim beside the k-th of the other slice, if common loops move that.  False: there is
 * none. */
static bool find_holder(tf_beside *b, int k) {
  const tf_beside_dim *o = &b->old.dim[k];
  int n;
  b->holder[k] = -1;
  if (!below(o->loop, o->n, b->n_common)) return true;
  for (int d = 0; d < b->map.n_dims && b->holder[k] < 0; d++)
    if (!b->left[d].d && goes_along(b, &b->map.dim[d], o, &n)) b->holder[k] = d;
  if (b->holder[k] < 0) return false;
  tf_beside_left *to = &b->left[b->holder[k]];
  *to = (tf_beside_left){.d = o, .at = &b->old_at[k], .shared = n};
  return true;
}

/* Whether dim k moves a rank otherwise than what the other slice has left of it. */
static bool leaves_unlike(const tf_beside *b, int k) {
  bool unlike = b->map.n_forms > 1 || b->old.n_forms > 1;
  for (int r = 0; r < b->map.n_ranks && !unlike; r++) {
    int64_t coef, by;
    unlike = !tf_beside_moves(&b->map, &b->map.rank[0][r], k, &coef);
    for (int d = 0; d < b->old.n_dims; d++) {
      if (b->holder[d] != k) continue;
      unlike |= !tf_beside_moves(&b->old, &b->old.rank[0][r], d, &by);
      coef -= by;
    }
    unlike |= coef != 0;
  }
  return unlike;
}

/* Pairs the loops that choose one instance in both m-tiles. */
static void pair_loops(tf_beside *b, const int64_t *trip) {
  int i = b->n_common, k = b->n_common;
  b->n_pairs = 0;
  for (;; i++, k++) {
    while (i < b->path->n && (b->path->temporal >> i & 1 || trip[b->path->loops[i]] <= 1))
      i++;
    while (k < b->old_path->n &&
           (b->old_path->temporal >> k & 1 || trip[b->old_path->loops[k]] <= 1))
      k++;
    if (i >= b->path->n || k >= b->old_path->n) return;
    b->pair[b->n_pairs][0] = b->path->loops[i];
    b->pair[b->n_pairs++][1] = b->old_path->loops[k];
  }
}

/* Begins with the slice in the other m-tile, whose content the slice finds if their instances are
 * the same ones. */
static bool begin_other(struct tf_model *m, tf_beside *b) {
  const bool irregular = m->ev.irregular;
  memset(b->left, 0, sizeof b->left);
  b->torn = false;
  b->apart = 0;
  if (b->from < 0) return true;
  const bool agree = tf_layouts_agree(&m->ev, &m->scratch, b->i, b->from);
  m->ev.irregular = irregular;
  if (!agree) b->from = -1;
  if (!agree) return true;
  b->old_path = &m->plan->path[m->plan->slices[b->from].node];
  bool ok =
      tf_beside_map_of(m, &m->plan->slices[b->from], &b->old) && !b->map.n_parts && !b->old.n_parts;
  for (int k = 0; k < b->old.n_dims && ok; k++)
    ok = find_holder(b, k);
  for (int k = 0; k < b->map.n_dims && ok; k++)
    if (leaves_unlike(b, k)) b->apart |= UINT32_C(1) << k;
  pair_loops(b, m->ev.trip);
  return ok;
}

/* ---- a slice -------------------------------------------------------------------------------- */

/* The longest that rank r of a box may be. */
static double longest(const tf_beside *b, int r) {
  const double extent = (double)b->m->plan->wl->tensors[b->s->tensor].extent[r];
  double most = 1;
  for (int f = 0; f < b->map.n_forms; f++)
    for (int i = 0; i < b->map.rank[f][r].n; i++) {
      const int k = b->map.rank[f][r].term[i].dim;
      if (k >= TF_BESIDE_DIMS || b->map.n_forms > 1) return extent;
      const tf_beside_dim *d = &b->map.dim[k];
      const double by = (double)b->map.rank[f][r].term[i].coef;
      most += (by < 0 ? -by : by) * (double)(d->tile[d->n_stages - 1] - 1);
    }
  return most < extent ? most : extent;
}

/* Whether no sum exceeds 2^60. */
static bool small(const tf_beside *b) {
  const tf_tensor *z = &b->m->plan->wl->tensors[b->s->tensor];
  double most = 1;
  for (int k = 0; k < b->path->n; k++)
    most *= (double)trip_at(b, k);
  for (int r = 0; r < z->rank && !b->s->leaf; r++)
    most *= longest(b, r);
  return most < 0x1p60;
}

/* Dims whose loops over instances that share a transfer bring boxes that are told apart by place: a
 * rank that but one of those not yet told moves, by one distance, and no border clips. */
static uint32_t told(const tf_beside *b, const uint64_t *on) {
  const tf_tensor *z = &b->m->plan->wl->tensors[b->s->tensor];
  uint32_t all = 0, before;
  do {
    before = all;
    for (int r = 0; r < b->map.n_ranks; r++) {
      uint32_t by = 0;
      bool apart = r >= z->rank || z->pad[r] > 0;
      for (int k = 0; k < b->map.n_dims; k++) {
        if (!(dims_of(b, r, false) >> k & 1) || !on[k] || all >> k & 1) continue;
        int64_t coef;
        by |= UINT32_C(1) << k;
        apart |= moves_unlike(&b->map, r, k) ||
                 !tf_beside_moves(&b->map, &b->map.rank[0][r], k, &coef) || !coef;
      }
      if (by && !(by & (by - 1)) && !apart) all |= by;
    }
  } while (all != before);
  return all;
}

/* Finds the loops over instances that may bring equal boxes to several that share; false: too
 * many. */
static bool find_shared(tf_beside *b) {
  uint64_t on[TF_BESIDE_DIMS] = {0};
  int64_t n = 1;
  b->shared = 0;
  for (int k = 0; k < b->map.n_dims; k++)
    for (int g = 0;
         g < b->map.dim[k].n_spatial && b->map.dim[k].ranked && b->i < b->m->plan->n_slices; g++)
      on[k] |= b->s->merge & UINT64_C(1) << b->map.dim[k].spatial[g].pos;
  const uint32_t by_place = told(b, on);
  for (int k = 0; k < b->map.n_dims; k++)
    if (!(by_place >> k & 1)) b->shared |= on[k];
  for (uint64_t left = b->shared; left && n <= TF_BESIDE_TOGETHER; left &= left - 1)
    n *= trip_at(b, __builtin_ctzll(left));
  b->n = (int)n;
  return n <= TF_BESIDE_TOGETHER;
}

/* Room for the kinds of settings of b->n instances, and what they have in common. */
static bool make_room(tf_beside *b, bool shares) {
  const size_t dims = (size_t)b->map.n_dims + 1, each = (size_t)TF_BESIDE_KINDS * 2 * (size_t)b->n;
  b->kinds = malloc(dims * sizeof *b->kinds);
  b->room = malloc(dims * each * sizeof *b->room);
  if (shares && b->n > 1)
    b->shares = malloc((size_t)(b->map.n_ranks + b->map.n_dims + 1) * sizeof *b->shares);
  else
    b->sets = malloc((size_t)(b->map.n_ranks + 1) * sizeof *b->sets);
  for (size_t k = 0; k < dims && b->kinds && b->room; k++)
    b->kinds[k].room = b->room + k * each;
  return b->kinds && b->room && (b->sets || b->shares);
}

bool tf_beside_begin(struct tf_model *m, int i, bool shares, tf_beside *b) {
  const tf_slice *s = tf_slice_at(m->plan, i);
  b->m = m;
  b->i = i;
  b->s = s;
  b->path = &m->plan->path[s->node];
  b->n_groups = 0;
  b->turning = b->moving = 0;
  b->drops = false;
  b->from = -1;
  b->kinds = NULL;
  b->room = NULL;
  b->sets = NULL;
  b->shares = NULL;
  b->shared = 0;
  b->n = TF_ABOUT;
  for (int k = 0; k < b->path->n; k++)
    if (b->path->temporal >> k & 1 && trip_at(b, k) > 1) b->turning |= UINT64_C(1) << k;
  if (!finds_one(b) || !tf_beside_map_of(m, s, &b->map) || !small(b) || !begin_other(m, b))
    return false;
  mark_ranked(b);
  if (shares && !find_shared(b)) return false;
  const bool ok = make_room(b, shares);
  m->starved |= !ok;
  return ok;
}

void tf_beside_end(tf_beside *b) {
  free(b->kinds);
  free(b->room);
  free(b->sets);
  free(b->shares);
}

/* The place that spatial loops give an instance along a dim.  False: beyond what they split. */
static bool place_along(const tf_beside_dim *d, const tf_path *path, const int64_t *cur, int who,
                        tf_beside_place *at) {
  int64_t sum = 0;
  for (int s = 0, g = 0; s < d->n_stages; s++) {
    for (; g < d->n_spatial && d->spatial[g].stage == s; g++)
      sum += cur[path->loops[d->spatial[g].pos]] * d->spatial[g].step;
    at->upto[s][who] = sum;
  }
  at->all[who] = sum;
  bool works = sum < d->extent;
  for (int s = 0; s < d->n_stages - 1; s++)
    works &= sum - at->upto[s][who] < d->tile[s];
  return works;
}

static void place_at(tf_beside *b, int64_t *cur, int who, bool shares) {
  bool works = true, other = true;
  for (int k = 0; k < b->map.n_dims; k++)
    works &= place_along(&b->map.dim[k], b->path, cur, who, &b->at[k]);
  if (works) b->there |= UINT64_C(1) << who;
  b->torn |= !shares && b->from < 0 && b->drops && !works; /* others may have left content there */
  if (b->from < 0) return;
  for (int k = 0; k < b->n_pairs; k++)
    cur[b->pair[k][1]] = cur[b->pair[k][0]];
  for (int k = 0; k < b->old.n_dims; k++)
    other &= place_along(&b->old.dim[k], b->old_path, cur, who, &b->old_at[k]);
  b->torn |= works != other && (works || !shares);
}

static void begin_places(tf_beside *b) {
  b->there = b->round = 0;
  b->torn = false;
}

void tf_beside_put(tf_beside *b, int64_t *cur) {
  int64_t was[TF_MAX_PATH];
  begin_places(b);
  place_at(b, cur, TF_SELF, false);
  for (int k = 0; k < b->path->n; k++)
    was[k] = cur[b->path->loops[k]];
  for (int w = 0; w < TF_N_BESIDE; w++) {
    bool round;
    if (!tf_peers_beside(b->m, b->i, (tf_source)w, cur, &round)) continue;
    place_at(b, cur, 1 + w, false);
    if (round) b->round |= 2u << w;
    for (int k = 0; k < b->path->n; k++)
      cur[b->path->loops[k]] = was[k];
  }
}

bool tf_beside_next_shared(const tf_beside *b, int64_t *cur) {
  for (uint64_t left = b->shared; left;) {
    const int pos = 63 - __builtin_clzll(left), l = b->path->loops[pos];
    if (++cur[l] < b->m->ev.trip[l]) return true;
    cur[l] = 0;
    left &= ~(UINT64_C(1) << pos);
  }
  return false;
}

void tf_beside_put_shared(tf_beside *b, int64_t *cur) {
  int who = 0;
  begin_places(b);
  do
    place_at(b, cur, who++, true);
  while (tf_beside_next_shared(b, cur));
}
