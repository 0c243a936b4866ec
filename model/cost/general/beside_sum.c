/* Words that enter one instance, new ones and those that neighbours have: see beside.h. */
#include <stdlib.h>
#include <string.h>

#include "model/cost/general/beside.h"
#include "model/flow/plan_class.h"

enum { MOST_SETS = 256 };

/* Settings of a group's dims at which the instance's ranges are as long, and the others' lie as far
 * from them: [rank][0] is what the instance needs, then what it need not take from further out. */
typedef struct {
  int64_t n;
  tf_ival box[TF_BESIDE_RANKS][TF_BESIDE_BOXES];
} set;

struct tf_beside_set {
  int n;
  set at[MOST_SETS];
};

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
  const set *part[TF_BESIDE_DIMS];
  int64_t others; /* settings of the loops that move nothing */
  tf_beside_words *sum;
  bool ok;
} job;

/* ---- a slice -------------------------------------------------------------------------------- */

static int64_t trip_at(const tf_beside *b, int pos) { return b->m->ev.trip[b->path->loops[pos]]; }

/* The dims with loops that rank r depends on. */
static uint32_t dims_of(const tf_beside *b, int r) {
  uint32_t dims = 0;
  for (int i = 0; i < b->map.rank[r].n; i++) {
    const int k = b->map.rank[r].term[i].dim;
    if (b->map.dim[k].n || b->map.dim[k].n_spatial) dims |= UINT32_C(1) << k;
  }
  return dims;
}

/* Adds a rank to the groups that share dims with it, which become one.  False: too many ranks. */
static bool add_rank(tf_beside *b, int r) {
  tf_beside_group all = {dims_of(b, r), 1, {(unsigned char)r}};
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
  return true;
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

/* Whether the moments of the slice stand for themselves: what an entry finds is of the slice. */
static bool stands_alone(tf_beside *b) {
  bool ok = true;
  for (int c = 0; c < b->s->n_class && ok; c++) {
    const tf_reuse_case *k = &b->s->classes[c];
    ok = (k->prev == b->i || k->prev < 0) && !k->if_idle[0] && !k->if_idle[1];
    b->drops |= k->prev < 0 && (k->stepping >= 0 || k->zero_from > 0);
  }
  b->drops |= b->i < b->m->plan->n_tile_slices && has_sibling(b->m, b->i);
  return ok;
}

/* Marks the dims that move ranks. */
static bool begin_dims(tf_beside *b) {
  const tf_tensor *z = &b->m->plan->wl->tensors[b->s->tensor];
  bool ok = true;
  for (int r = 0; r < z->rank && ok; r++) {
    const uint32_t dims = dims_of(b, r);
    for (int k = 0; k < b->map.n_dims; k++) {
      b->map.dim[k].ranked |= dims >> k & 1;
      b->map.dim[k].alone |= (dims >> k & 1) && z->pad[r] > 0;
    }
    ok = add_rank(b, r);
  }
  for (int k = 0; k < b->map.n_dims; k++) {
    const tf_beside_dim *d = &b->map.dim[k];
    for (int g = 0; g < d->n && d->ranked; g++)
      b->moving |= UINT64_C(1) << d->loop[g].pos;
    for (int g = 0; g < d->n_spatial && d->ranked; g++)
      b->moving |= UINT64_C(1) << d->spatial[g].pos;
  }
  return ok;
}

/* Whether no sum exceeds 2^60. */
static bool small(const tf_beside *b) {
  const tf_tensor *z = &b->m->plan->wl->tensors[b->s->tensor];
  double most = 1;
  for (int k = 0; k < b->path->n; k++)
    most *= (double)trip_at(b, k);
  for (int r = 0; r < z->rank && !b->s->leaf; r++)
    most *= (double)z->extent[r];
  return most < 0x1p60;
}

bool tf_beside_begin(struct tf_model *m, int i, tf_beside *b) {
  const tf_slice *s = tf_slice_at(m->plan, i);
  b->m = m;
  b->i = i;
  b->s = s;
  b->path = &m->plan->path[s->node];
  b->n_groups = 0;
  b->turning = b->moving = 0;
  b->drops = false;
  b->kinds = NULL;
  b->sets = NULL;
  for (int k = 0; k < b->path->n; k++)
    if (b->path->temporal >> k & 1 && trip_at(b, k) > 1) b->turning |= UINT64_C(1) << k;
  if (!stands_alone(b) || !tf_beside_map_of(m, s, &b->map) || !begin_dims(b) || !small(b))
    return false;
  b->kinds = malloc((size_t)(b->map.n_dims + 1) * sizeof *b->kinds);
  b->sets = malloc((size_t)(b->n_groups + 1) * sizeof *b->sets);
  m->starved |= !b->kinds || !b->sets;
  return b->kinds && b->sets;
}

void tf_beside_end(tf_beside *b) {
  free(b->kinds);
  free(b->sets);
}

/* The place that spatial loops give an instance along dim k.  False: beyond what they split. */
static bool place_along(tf_beside *b, const int64_t *cur, int k, int who) {
  const tf_beside_dim *d = &b->map.dim[k];
  tf_beside_place *at = &b->at[k];
  int64_t sum = 0;
  for (int s = 0, g = 0; s < d->n_stages; s++) {
    for (; g < d->n_spatial && d->spatial[g].stage == s; g++)
      sum += cur[b->path->loops[d->spatial[g].pos]] * d->spatial[g].step;
    at->upto[s][who] = sum;
  }
  at->all[who] = sum;
  bool works = sum < d->extent;
  for (int s = 0; s < d->n_stages - 1; s++)
    works &= sum - at->upto[s][who] < d->tile[s];
  return works;
}

static void place_at(tf_beside *b, const int64_t *cur, int who) {
  bool works = true;
  for (int k = 0; k < b->map.n_dims; k++)
    works &= place_along(b, cur, k, who);
  if (works) b->there |= 1u << who;
}

void tf_beside_put(tf_beside *b, int64_t *cur, bool alone) {
  int64_t was[TF_MAX_PATH];
  b->there = b->round = 0;
  memset(b->at, 0, (size_t)b->map.n_dims * sizeof *b->at);
  place_at(b, cur, TF_SELF);
  for (int k = 0; k < b->path->n; k++)
    was[k] = cur[b->path->loops[k]];
  for (int w = 0; w < TF_N_BESIDE && !alone; w++) {
    bool round;
    if (!tf_peers_beside(b->m, b->i, (tf_source)w, cur, &round)) continue;
    place_at(b, cur, 1 + w);
    if (round) b->round |= 2u << w;
    for (int k = 0; k < b->path->n; k++)
      cur[b->path->loops[k]] = was[k];
  }
}

/* ---- sets of a group ------------------------------------------------------------------------ */

static tf_ival of_dim(const job *j, int k, place p) {
  return p.held ? j->chosen[k]->held[p.who] : j->chosen[k]->now[p.who];
}

static tf_ival of_rank(const job *j, int r, place p) {
  const tf_beside *b = j->b;
  const tf_beside_rank *of = &b->map.rank[r];
  tf_ival v = {of->c, 1};
  for (int i = 0; i < of->n; i++)
    v = tf_index_plus(v, of->term[i].coef, of_dim(j, of->term[i].dim, p));
  return tf_clip(&b->m->plan->wl->tensors[b->s->tensor], r, v);
}

/* Adds the settings of the chosen kinds to those like them. */
static void add_set(job *j, const tf_beside_group *g, struct tf_beside_set *to, int64_t n) {
  set one;
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
  j->ok &= to->n < MOST_SETS;
  if (!j->ok) return;
  one.n = n;
  to->at[to->n++] = one;
}

static void choose(job *j, const tf_beside_group *g, struct tf_beside_set *to, uint32_t dims,
                   int64_t n) {
  if (!dims) {
    add_set(j, g, to, n);
    return;
  }
  const int k = __builtin_ctz(dims);
  const tf_beside_kinds *of = &j->b->kinds[k];
  for (int i = 0; i < of->n && j->ok; i++) {
    j->chosen[k] = &of->at[i];
    choose(j, g, to, dims & (dims - 1), n * of->at[i].n);
  }
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* Adds what enters at n moments, at which the boxes are those of the chosen sets. */
static void add_words(job *j, int64_t n) {
  const tf_beside *b = j->b;
  tf_ival box[TF_BESIDE_BOXES][TF_MAX_RANK];
  tf_peer_boxes q = {.rank = b->m->plan->wl->tensors[b->s->tensor].rank};
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

/* The boxes that have words, in the order in which they are asked. */
static void list_boxes(job *j) {
  const tf_beside *b = j->b;
  j->n = 1;
  j->had[0] = (place){TF_SELF, false};
  if (j->x.finds) j->had[j->n++] = (place){TF_SELF, true};
  for (int w = 0; w < TF_N_BESIDE; w++) {
    const unsigned bit = 2u << w;
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
    j->ok = tf_beside_kinds_of(&b->map.dim[k], &j->x, &b->at[k], &b->kinds[k]);
    int64_t all = 0;
    for (int i = 0; i < b->kinds[k].n && j->ok; i++)
      all += b->kinds[k].at[i].n;
    if (!all) return;
    if (!b->map.dim[k].ranked) n *= all;
    j->chosen[k] = &b->kinds[k].at[0];
  }
  if (j->x.rests && b->drops) j->ok = false;
  list_boxes(j);
  for (int g = 0; g < b->n_groups && j->ok; g++) {
    b->sets[g].n = 0;
    choose(j, &b->group[g], &b->sets[g], b->group[g].dims, 1);
  }
  if (j->ok) combine(j, 0, n);
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
  j->x.since[who] = j->x.carry;
  each_way(j, who + 1);
  for (int k = 0; k < b->map.n_dims && j->ok; k++)
    for (int g = 0; g < b->map.dim[k].n && may_rest(b, k, who); g++) {
      if (b->map.dim[k].loop[g].pos > j->x.carry) break;
      j->x.rests |= 1u << who;
      j->x.since[who] = b->map.dim[k].loop[g].pos;
      each_way(j, who + 1);
      j->x.rests &= ~(1u << who);
    }
}

bool tf_beside_sum(tf_beside *b, int carry, bool finds, uint64_t zero, tf_beside_words *sum) {
  job j = {.b = b,
           .x = {.carry = carry, .finds = finds, .zero = zero, .there = b->there},
           .others = 1,
           .sum = sum,
           .ok = true};
  uint64_t rest = b->turning;
  if (!(b->there & 1)) return true;
  if (carry >= 0 && carry < TF_MAX_PATH && zero >> carry & 1) return true;
  for (int k = 0; k < b->map.n_dims; k++)
    for (int g = 0; g < b->map.dim[k].n; g++)
      rest &= ~(UINT64_C(1) << b->map.dim[k].loop[g].pos);
  for (; rest; rest &= rest - 1) {
    const int pos = __builtin_ctzll(rest);
    if (pos > carry || zero >> pos & 1) continue;
    j.others *= trip_at(b, pos) - (pos == carry);
  }
  j.x.since[TF_SELF] = carry;
  each_way(&j, 1);
  return j.ok;
}
