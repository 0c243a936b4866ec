/* Words that enter one instance, new ones and those that neighbours have: see beside.h. */
#include <string.h>

#include "model/cost/general/beside.h"

/* A box that has words: an instance's, as held before the moment, or as needed at it. */
typedef struct {
  int who;
  bool held;
} place;

typedef struct {
  tf_beside *b;
  tf_beside_moments x;
  int n; /* of `had`, and one */
  place had[TF_BESIDE_BOXES];
  const tf_beside_kind *chosen[TF_BESIDE_DIMS];
  const tf_beside_set *part[TF_BESIDE_DIMS];
  tf_beside_shares *shared; /* of groups, then of dims that move no rank */
  int n_shared;
  int64_t others; /* settings of the loops that move nothing */
  tf_beside_words *sum;
  bool other; /* what is held is of the other m-tile's slice */
  bool ok;
} job;

/* ---- sets of a group ------------------------------------------------------------------------ */

static tf_ival of_dim(const job *j, int k, place p) {
  return p.held ? j->chosen[k]->held[p.who] : j->chosen[k]->now[p.who];
}

/* What an instance holds along a dim of the slice in the other m-tile. */
static tf_ival of_old(const job *j, int k, int who) {
  const tf_beside *b = j->b;
  const tf_beside_left alone = {.d = &b->old.dim[k], .at = &b->old_at[k]};
  return b->holder[k] >= 0 ? j->chosen[b->holder[k]]->held[who] : tf_beside_last(&alone, who);
}

static tf_ival range_of(job *j, const tf_beside_rank *of, place p);

/* The tile of a range that instances hold since the loop at a position stood lower: loops further
 * in stood at the last step within the range. */
static int64_t place_held(job *j, const tf_beside_part *s, place p, int64_t len) {
  const tf_beside_dim *d = &j->b->map.dim[s->dim];
  int64_t from = j->chosen[s->dim]->held[p.who].lo;
  for (int g = 0; g < d->n; g++)
    if (d->loop[g].pos > j->x.since[p.who]) from -= (d->loop[g].trip - 1) * d->loop[g].step;
  j->ok &= from < len; /* else it holds what an older step has left */
  for (int g = 0; g < d->n && from < len; g++) {
    if (d->loop[g].pos <= j->x.since[p.who]) continue;
    const int64_t last = (len - 1 - from) / d->loop[g].step;
    from += (last < d->loop[g].trip - 1 ? last : d->loop[g].trip - 1) * d->loop[g].step;
  }
  return from;
}

static tf_ival of_part(job *j, const tf_beside_part *s, place p) {
  const tf_ival all = range_of(j, &s->of, p);
  const int64_t tile = j->b->map.dim[s->dim].tile[0],
                from = p.held ? place_held(j, s, p, all.len) : j->chosen[s->dim]->now[p.who].lo,
                left = all.len - from;
  if (left <= 0 && p.who != TF_SELF && j->b->drops) j->ok = false;
  return (tf_ival){all.lo + from, left < tile ? left > 0 ? left : 0 : tile};
}

static tf_ival of_hull(job *j, const tf_beside_hull *h, place p) {
  tf_ival all = {0, 0};
  for (int f = 0; f < h->n; f++) {
    const tf_ival one = range_of(j, &h->of[f], p);
    all = tf_hull(all, h->clamps && one.len > 0 ? tf_asked(h->z, h->r, one) : one);
  }
  return all;
}

static tf_ival range_of(job *j, const tf_beside_rank *of, place p) {
  const bool other = p.held && j->other;
  const tf_beside_map *map = other ? &j->b->old : &j->b->map;
  tf_ival v = {of->c, 1};
  for (int i = 0; i < of->n; i++) {
    const int k = of->term[i].dim;
    const tf_ival one = k >= TF_BESIDE_PART   ? of_part(j, &map->part[k - TF_BESIDE_PART], p)
                        : k >= TF_BESIDE_DIMS ? of_hull(j, &map->hull[k - TF_BESIDE_DIMS], p)
                        : other               ? of_old(j, k, p.who)
                                              : of_dim(j, k, p);
    if (one.len <= 0) return (tf_ival){v.lo, 0};
    v = tf_index_plus(v, of->term[i].coef, one);
  }
  return v;
}

static tf_ival of_rank(job *j, int r, place p) {
  const tf_beside *b = j->b;
  const bool other = p.held && j->other;
  const tf_beside_map *map = other ? &b->old : &b->map;
  const tf_tensor *z = &b->m->plan->wl->tensors[b->s->tensor];
  tf_ival all = {0, 0};
  if (r >= z->rank) return (tf_ival){0, range_of(j, &map->rank[0][r], p).len > 0};
  for (int f = 0; f < map->n_forms; f++) {
    const tf_ival v = range_of(j, &map->rank[f][r], p);
    all = tf_hull(all, tf_clip(z, r, v));
  }
  return all;
}

/* Adds the settings of the chosen kinds to those like them. */
static void add_set(job *j, const tf_beside_group *g, tf_beside_sets *to, int64_t n) {
  tf_beside_set one;
  for (int i = 0; i < g->n_rank; i++) {
    const tf_ival need = of_rank(j, g->rank[i], j->had[0]);
    if (need.len <= 0) return;
    one.box[i][0] = (tf_ival){0, need.len};
    for (int t = 1; t < j->n; t++) {
      const tf_ival both = tf_common_part(need, of_rank(j, g->rank[i], j->had[t]));
      one.box[i][t] = both.len > 0 ? (tf_ival){both.lo - need.lo, both.len} : (tf_ival){0, 0};
    }
  }
  for (int k = 0; k < to->n; k++) {
    bool same = true;
    for (int i = 0; i < g->n_rank && same; i++)
      same = !memcmp(to->at[k].box[i], one.box[i], (size_t)j->n * sizeof one.box[i][0]);
    if (!same) continue;
    to->at[k].n += n;
    return;
  }
  j->ok &= to->n < TF_BESIDE_SETS;
  if (!j->ok) return;
  one.n = n;
  to->at[to->n++] = one;
}

/* ---- sets of those that share --------------------------------------------------------------- */

typedef struct {
  tf_ival need[TF_BESIDE_RANKS], both[TF_BESIDE_RANKS];
} ranges;

static tf_beside_share share_of(job *j, const tf_beside_group *g, int who, ranges *r) {
  tf_beside_share s = {1, j->x.finds, who, who};
  memset(r, 0, sizeof *r);
  for (uint32_t left = g->dims; left; left &= left - 1)
    if (j->chosen[__builtin_ctz(left)]->now[who].len <= 0) s.words = 0;
  for (int i = 0; i < g->n_rank && s.words; i++) {
    r->need[i] = of_rank(j, g->rank[i], (place){who, false});
    s.words *= r->need[i].len > 0 ? r->need[i].len : 0;
    if (!j->x.finds) continue;
    r->both[i] = tf_common_part(r->need[i], of_rank(j, g->rank[i], (place){who, true}));
    if (r->both[i].len <= 0) r->both[i] = (tf_ival){0, 0};
    s.kept *= r->both[i].len;
  }
  return s;
}

static void add_share_set(job *j, const tf_beside_group *g, tf_beside_shares *to, int64_t n) {
  ranges r[TF_BESIDE_TOGETHER];
  tf_beside_share_set one;
  bool any = false;
  one.n = n;
  for (int i = 0; i < j->x.n; i++) {
    tf_beside_share *s = &one.of[i];
    *s = j->x.there >> i & 1 ? share_of(j, g, i, &r[i]) : (tf_beside_share){0, 0, i, i};
    any |= s->words > 0;
    for (int e = i - 1; e >= 0 && s->words; e--) {
      if (!one.of[e].words || memcmp(r[e].need, r[i].need, sizeof r[e].need) != 0) continue;
      s->box = e;
      if (!memcmp(r[e].both, r[i].both, sizeof r[e].both)) s->found = e;
    }
  }
  const size_t size = (size_t)j->x.n * sizeof one.of[0];
  for (int k = 0; k < to->n && any; k++) {
    if (memcmp(to->at[k].of, one.of, size) != 0) continue;
    to->at[k].n += n;
    return;
  }
  j->ok &= to->n < TF_BESIDE_SETS;
  if (any && j->ok) to->at[to->n++] = one;
}

static void choose(job *j, int i, const tf_beside_group *g, uint32_t dims, int64_t n) {
  if (!dims && j->shared)
    add_share_set(j, g, &j->shared[i], n);
  else if (!dims)
    add_set(j, g, &j->b->sets[i], n);
  if (!dims) return;
  const int k = __builtin_ctz(dims);
  const tf_beside_kinds *of = &j->b->kinds[k];
  for (int v = 0; v < of->n && j->ok; v++) {
    j->chosen[k] = &of->at[v];
    choose(j, i, g, dims & (dims - 1), n * of->at[v].n);
  }
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* Adds what enters at n moments, at which the boxes are those of the chosen sets. */
static void add_words(job *j, int64_t n) {
  const tf_beside *b = j->b;
  tf_ival box[TF_BESIDE_BOXES][TF_MAX_RANK];
  tf_peer_boxes q = {.rank = b->map.n_ranks};
  for (int g = 0; g < b->n_groups; g++)
    for (int i = 0; i < b->group[g].n_rank; i++)
      for (int t = 0; t < j->n; t++)
        box[t][b->group[g].rank[i]] = j->part[g]->box[i][t];
  int64_t left = tf_ival_volume(box[0], q.rank);
  for (int t = 1; t < j->n && left; t++) {
    const int64_t words = tf_peer_ask(&q, box[0], box[t]);
    left -= words;
    if (j->had[t].who != TF_SELF) {
      j->sum->from[j->had[t].who - 1] += n * words;
      j->sum->load += n * words;
    }
  }
  j->sum->above += n * left;
  j->sum->load += n * left;
}

static void combine(job *j, int g, int64_t n) {
  if (g == j->b->n_groups) {
    add_words(j, n);
    return;
  }
  for (int i = 0; i < j->b->sets[g].n; i++) {
    j->part[g] = &j->b->sets[g].at[i];
    combine(j, g + 1, n * j->part[g]->n);
  }
}

/* Adds what enters those that share at n moments. */
static void add_shared_words(job *j, const tf_beside_share *all, int64_t n) {
  for (int i = 0; i < j->x.n; i++) {
    bool again = false;
    const int64_t words = all[i].words - all[i].kept;
    for (int e = 0; e < i && !again; e++)
      again = all[e].words && all[e].box == all[i].box && !all[e].kept == !all[i].kept &&
              (!all[i].kept || all[e].found == all[i].found);
    j->sum[i].load += n * words;
    j->sum[i].above += again ? 0 : n * words;
  }
}

/* The same for all sets of groups from g on. */
static void combine_shared(job *j, int g, const tf_beside_share *all, int64_t n) {
  if (g == j->n_shared) {
    add_shared_words(j, all, n);
    return;
  }
  for (int v = 0; v < j->shared[g].n; v++) {
    const tf_beside_share *of = j->shared[g].at[v].of;
    tf_beside_share next[TF_BESIDE_TOGETHER];
    for (int i = 0; i < j->x.n; i++) {
      next[i] = (tf_beside_share){all[i].words * of[i].words, all[i].kept * of[i].kept, i, i};
      for (int e = i - 1; e >= 0; e--) {
        if (!next[e].words || all[e].box != all[i].box || of[e].box != of[i].box) continue;
        next[i].box = e;
        if (all[e].found == all[i].found && of[e].found == of[i].found) next[i].found = e;
      }
    }
    combine_shared(j, g + 1, next, n * j->shared[g].at[v].n);
  }
}

/* Sums over the chosen kinds of settings of those that share. */
static void sum_shared(job *j) {
  const tf_beside *b = j->b;
  tf_beside_share all[TF_BESIDE_TOGETHER];
  for (int i = 0; i < j->x.n; i++)
    all[i] = (tf_beside_share){1, j->x.finds, 0, 0};
  for (int k = 0; k < b->map.n_dims && j->ok; k++) {
    const tf_beside_group alone = {.dims = UINT32_C(1) << k};
    if (b->ranked >> k & 1) continue;
    j->shared[j->n_shared].n = 0;
    choose(j, j->n_shared++, &alone, alone.dims, 1);
  }
  if (j->ok) combine_shared(j, 0, all, j->others);
}

/* The boxes that have words, in the order in which they are asked. */
static void list_boxes(job *j) {
  const tf_beside *b = j->b;
  j->n = 1;
  j->had[0] = (place){TF_SELF, false};
  if (j->x.finds) j->had[j->n++] = (place){TF_SELF, true};
  for (int w = 0; w < TF_N_BESIDE; w++) {
    const uint64_t bit = UINT64_C(2) << w;
    const bool first = (w == TF_LESS_X || w == TF_LESS_Y) && !(b->round & bit);
    if (!(b->there & bit)) continue;
    if (j->x.finds) j->had[j->n++] = (place){1 + w, true};
    if (first && !(j->x.rests & bit)) j->had[j->n++] = (place){1 + w, false};
  }
}

/* Sums over the moments at which these neighbours sit out. */
static void sum_moments(job *j) {
  tf_beside *b = j->b;
  int64_t n = j->others;
  for (int k = 0; k < b->map.n_dims && j->ok; k++) {
    const tf_beside_left *left = j->other && b->left[k].d ? &b->left[k] : NULL;
    j->x.each = j->other && b->apart >> k & 1;
    j->ok = tf_beside_kinds_of(&b->map.dim[k], &j->x, &b->at[k], left, &b->kinds[k]);
    int64_t all = 0;
    for (int i = 0; i < b->kinds[k].n && j->ok; i++)
      all += b->kinds[k].at[i].n;
    if (!all) return;
    if (!(b->ranked >> k & 1) && !j->shared) n *= all;
    j->chosen[k] = &b->kinds[k].at[0];
  }
  if (j->x.rests && b->drops) j->ok = false;
  if (!j->shared) list_boxes(j);
  for (int g = 0; g < b->n_groups && j->ok; g++) {
    *(j->shared ? &j->shared[g].n : &b->sets[g].n) = 0;
    choose(j, g, &b->group[g], b->group[g].dims, 1);
  }
  j->n_shared = b->n_groups;
  if (j->ok && j->shared)
    sum_shared(j);
  else if (j->ok)
    combine(j, 0, n);
}

/* Whether a neighbour sits out moments of the instance that the loops of dim k choose. */
static bool may_rest(const tf_beside *b, int k, int who) {
  const tf_beside_dim *d = &b->map.dim[k];
  int64_t most = 0;
  for (int g = 0; g < d->n; g++)
    most += (d->loop[g].trip - 1) * d->loop[g].step;
  const int64_t *at = b->at[k].all, own = d->extent - 1 - at[TF_SELF];
  return d->n_stages > 1 || (most < own ? most : own) + at[who] >= d->extent;
}

/* Sums over all ways in which neighbours from `who` on work or sit out. */
static void each_way(job *j, int who) {
  const tf_beside *b = j->b;
  while (who < TF_ABOUT && !(b->there >> who & 1))
    who++;
  if (who == TF_ABOUT) {
    sum_moments(j);
    return;
  }
  j->x.since[who] = j->x.stepping;
  each_way(j, who + 1);
  for (int k = 0; k < b->map.n_dims && j->ok; k++)
    for (int g = 0; g < b->map.dim[k].n && may_rest(b, k, who); g++) {
      if (b->map.dim[k].loop[g].pos > j->x.stepping) break;
      j->x.rests |= UINT64_C(1) << who;
      j->x.since[who] = b->map.dim[k].loop[g].pos;
      each_way(j, who + 1);
      j->x.rests &= ~(UINT64_C(1) << who);
    }
}

/* Fills what all moments have in common.  False: there are none, or (*ok false) they are left to
 * the walk. */
static bool begin(tf_beside *b, tf_beside_found found, job *j) {
  const int stepping = j->x.stepping;
  uint64_t rest = b->turning;
  j->b = b;
  j->x.finds = found != TF_FIND_NOTHING;
  j->x.there = b->there;
  j->other = found == TF_FIND_OTHER;
  j->others = 1;
  j->ok = true;
  if (!b->there || (!j->x.shares && !(b->there & 1))) return false;
  if (stepping >= 0 && stepping < TF_MAX_PATH && j->x.zero >> stepping & 1) return false;
  j->ok = !b->torn && tf_beside_regroup(b, j->other);
  for (int k = 0; k < b->map.n_dims; k++)
    for (int g = 0; g < b->map.dim[k].n; g++)
      rest &= ~(UINT64_C(1) << b->map.dim[k].loop[g].pos);
  for (; rest; rest &= rest - 1) {
    const int pos = __builtin_ctzll(rest);
    if (pos > stepping || j->x.zero >> pos & 1) continue;
    j->others *= b->m->ev.trip[b->path->loops[pos]] - (pos == stepping);
  }
  return j->ok;
}

bool tf_beside_sum(tf_beside *b, int stepping, tf_beside_found found, uint64_t zero,
                   tf_beside_words *sum) {
  job j = {.x = {.stepping = stepping, .n = b->n, .zero = zero}, .sum = sum};
  if (!begin(b, found, &j)) return j.ok;
  j.x.since[TF_SELF] = stepping;
  each_way(&j, 1);
  return j.ok;
}

bool tf_beside_sum_shared(tf_beside *b, int stepping, tf_beside_found found, uint64_t zero,
                          tf_beside_words *sum) {
  if (b->n == 1) return tf_beside_sum(b, stepping, found, zero, sum);
  job j = {.x = {.stepping = stepping, .n = b->n, .shares = true, .zero = zero}, .sum = sum};
  if (!begin(b, found, &j)) return j.ok;
  for (int i = 0; i < b->n; i++)
    j.x.since[i] = stepping;
  j.shared = b->shares;
  sum_moments(&j);
  return j.ok;
}
