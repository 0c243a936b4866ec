/* Omission of tiles by zeros: a tile fetched from another memory is omitted if zeros of other
 * tensors leave no work for it while it stays (docs/SEMANTICS.md section 8).  Shares follow from
 * the trip counts alone, so they are found before anything is counted, and weigh words where these
 * pass ports. */
#include <math.h>

#include "model/cost/zeros.h"
#include "model/input/dims.h"

/* ---- once per tree --------------------------------------------------------------------------- */

/* Reads of op o whose zeros leave out tiles of slice i. */
static tf_voiders named(const struct tf_model *m, int i, int o) {
  const tf_plan *p = m->plan;
  const tf_memory *mem = &p->arch->memories[p->slices[i].above];
  const uint64_t skipped = tf_sparse_on_tiles(p->sparse, &mem->skipping, o, p->slices[i].tensor),
                 gated = tf_sparse_on_tiles(p->sparse, &mem->gating, o, p->slices[i].tensor);
  return (tf_voiders){{[TF_LEFT_TIME] = skipped, [TF_LEFT_ENERGY] = skipped | gated}};
}

/* The slice of the same tensor in the m-tile that serves slice i. */
static int served_from(const struct tf_model *m, int i) {
  const tf_plan *p = m->plan;
  for (int k = 0; k < p->n_tile_slices; k++)
    if (m->views->server[i] >= 0 && p->slices[k].node == m->views->server[i] &&
        p->slices[k].tensor == p->slices[i].tensor)
      return k;
  return -1;
}

/* Whether the boxes of the reference, at different steps, are the same or disjoint: no rank is
 * moved by several dims. */
static bool cuts_apart(const tf_plan *p, const tf_tiles *t, const tf_ref *ref, int rank) {
  const tf_op *op = &p->wl->ops[t->op];
  bool apart = true;
  for (int r = 0; r < rank; r++)
    for (int k = 0; k < ref->index[r].n_terms; k++)
      apart &= ref->index[r].n_terms < 2 || !t->dims[tf_op_slot(op, ref->index[r].terms[k].dim)];
  return apart;
}

/* Whether at each entry the m-tile finds only its own previous content, or nothing, and no other
 * m-tile finds that content. */
static bool finds_own(const tf_plan *p, int i) {
  bool own = true;
  for (int k = 0; k < p->n_tile_slices; k++)
    for (int c = 0; c < p->slices[k].n_class; c++) {
      const int prev = p->slices[k].classes[c].prev;
      own &= prev < 0 || (prev == i) == (k == i);
    }
  return own;
}

/* The same of slice i and of all that it serves: points that use what others left further in are no
 * use of its tiles. */
static bool all_find_own(const struct tf_model *m, int i) {
  const tf_tiles *t = m->zeros->tiles;
  bool own = true;
  for (int k = 0; k < m->plan->n_tile_slices && own; k++) {
    int j = k;
    while (j >= 0 && j != i)
      j = t[j].from;
    own = j < 0 || finds_own(m->plan, k);
  }
  return own;
}

/* An earlier slice of the same m-tile that the same op reads, with a rule, so that the op's dims
 * are cut equally; -1: none. */
static int twin_of(const struct tf_model *m, int i) {
  const tf_slice *s = m->plan->slices;
  const tf_tiles *t = m->zeros->tiles;
  for (int k = 0; k < i; k++)
    if (t[k].op >= 0 && t[k].op == t[i].op && s[k].node == s[i].node) return k;
  return -1;
}

/* Fills the rule of slice i, whose tiles zeros of `on` may leave out. */
static bool add_rule(struct tf_model *m, int i, tf_tiles *t) {
  const tf_plan *p = m->plan;
  const tf_slice *s = &p->slices[i];
  const tf_op *op = &p->wl->ops[t->op];
  uint64_t all = 0;
  t->dims = TF_ARRAY(m->arena, uint64_t, (size_t)op->n_dims + 1);
  t->twin = twin_of(m, i);
  t->len = t->twin >= 0 ? m->zeros->tiles[t->twin].len
                        : TF_ARRAY(m->arena, int64_t, (size_t)op->n_dims + 1);
  t->any_nonzero = TF_ARRAY(m->arena, double, (size_t)op->n_reads + 1);
  if (!t->dims || !t->len || !t->any_nonzero) return false;
  for (int r = 0; r < p->wl->tensors[s->tensor].rank; r++)
    t->moves |= tf_slice_mask(p, s, r);
  t->known = s->n_touch == 1 && !tf_is_padded(&p->wl->tensors[s->tensor]) && !p->clips &&
             !p->cuts && !p->n_retains && !p->skips && !m->views->peers;
  for (int d = 0; d < op->n_dims; d++) {
    t->dims[d] = tf_dim_mask(p, t->op, op->dims[d], s->node);
    t->known &= !(all & t->dims[d]);
    all |= t->dims[d];
  }
  t->known =
      t->known && cuts_apart(p, t, &op->reads[s->touch[0].ref], p->wl->tensors[s->tensor].rank);
  return true;
}

static bool add_tiles(struct tf_model *m, int i, bool *any) {
  const tf_plan *p = m->plan;
  const tf_slice *s = &p->slices[i];
  tf_tiles *t = &m->zeros->tiles[i];
  *t = (tf_tiles){.from = served_from(m, i), .op = -1};
  for (int k = 0; k < s->n_touch && !s->leaf && !s->makes; k++) {
    const tf_voiders on =
        tf_zeros_stream(p, s->touch[k].op) ? (tf_voiders){{0}} : named(m, i, s->touch[k].op);
    if (!on.reads[TF_LEFT_ENERGY] || t->op >= 0) continue;
    t->op = s->touch[k].op;
    t->voiders = on;
    *any = true;
  }
  return t->op < 0 || add_rule(m, i, t);
}

static bool any_rule(const tf_arch *a) {
  bool any = false;
  for (int l = 0; l < a->n_memories; l++)
    for (int w = 0; w < 2; w++) {
      const tf_rules *rules = w ? &a->memories[l].gating : &a->memories[l].skipping;
      for (int i = 0; i < rules->n; i++)
        any |= rules->list[i].tiles;
    }
  return any;
}

/* Whether a rule leaves out slice i, or a slice that serves it. */
static bool is_ruled(const struct tf_zeros *z, int i) {
  bool ruled = false;
  for (int j = i; j >= 0 && !ruled; j = z->tiles[j].from)
    ruled = z->tiles[j].op >= 0;
  return ruled;
}

static bool alike(const tf_voiders *on) {
  return on->reads[TF_LEFT_TIME] == on->reads[TF_LEFT_ENERGY];
}

/* Whether the rules that leave out slice i, or what serves it, save time wherever they save
 * energy. */
static bool rules_alike(const struct tf_zeros *z, int i) {
  bool all = true;
  for (int j = i; j >= 0 && all; j = z->tiles[j].from)
    all = alike(&z->tiles[j].voiders);
  return all;
}

static bool add_arrays(struct tf_model *m) {
  const tf_plan *p = m->plan;
  struct tf_zeros *z = m->zeros;
  tf_arena *a = m->arena;
  const size_t slices = (size_t)p->n_slices + 1, ops = (size_t)p->wl->n_ops;
  z->tiles = TF_ARRAY(a, tf_tiles, slices);
  z->fetched = TF_ARRAY(a, tf_fetched, slices);
  z->fetched_share = TF_ARRAY(a, tf_shares, slices);
  z->own_work = TF_ARRAY(a, tf_shares, ops);
  z->own = TF_ARRAY(a, double, slices);
  z->up = TF_ARRAY(a, double, slices);
  z->still = TF_ARRAY(a, int64_t, (size_t)p->n_loops + 1);
  z->boxes = TF_NEW(a, tf_chunks_memo);
  return z->tiles && z->fetched && z->fetched_share && z->own_work && z->own && z->up && z->still &&
         z->boxes;
}

bool tf_tiles_new(struct tf_model *m) {
  const tf_plan *p = m->plan;
  struct tf_zeros *z = m->zeros;
  bool any = false;
  if (!z || !any_rule(p->arch)) return true;
  if (!add_arrays(m)) return false;
  for (int i = 0; i < p->n_slices; i++) {
    z->own[i] = m->views->own[i], z->up[i] = m->views->up[i];
    z->fetched[i] = (tf_fetched){{1, 1}, {1, 1}};
    if (!add_tiles(m, i, &any)) return false;
  }
  for (int i = 0; i < p->n_slices; i++) {
    z->tiles[i].same_savings = rules_alike(z, i);
    z->tiles[i].known = z->tiles[i].known && all_find_own(m, i);
  }
  for (int o = 0; o < p->wl->n_ops; o++)
    z->own_work[o] = z->work[o];
  if (!any) z->tiles = NULL;
  for (int i = p->n_tile_slices; i < p->n_slices && any; i++) {
    z->fetched_share[i - p->n_tile_slices] = (tf_shares){{1, 1}};
    z->turns[i - p->n_tile_slices] |= is_ruled(z, i);
  }
  z->any_turns |= any;
  return true;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Temporal loops above slice i's node, innermost first, at whose steps the tile stays. */
static uint64_t stay_loops(const struct tf_model *m, int i) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_path *path = &m->plan->path[s->node];
  uint64_t stay = 0;
  for (uint64_t left = path->temporal; left;) {
    const int k = 63 - __builtin_clzll(left);
    left ^= UINT64_C(1) << k;
    if (m->ev.trip[path->loops[k]] < 2) continue;
    bool finds = false;
    for (int c = 0; c < s->n_class; c++)
      finds |= s->classes[c].stepping == k && s->classes[c].prev == i;
    if ((m->zeros->tiles[i].moves >> k & 1) || !finds) break;
    stay |= UINT64_C(1) << k;
  }
  return stay;
}

/* Spatial loops whose instances take one tile together. */
static uint64_t sharing_loops(const struct tf_model *m, int i) {
  const tf_slice *s = &m->plan->slices[i];
  return m->plan->arch->memories[s->level].multicast ? s->merge & ~m->zeros->tiles[i].moves : 0;
}

/* The steps of the loops in the mask; *apart: a loop that is not in `of` is between them, from the
 * innermost on. */
static double steps_of(const struct tf_model *m, const tf_path *path, uint64_t mask, uint64_t of,
                       bool *apart) {
  double steps = 1;
  bool other = false;
  for (uint64_t left = mask; left;) {
    const int k = 63 - __builtin_clzll(left);
    left ^= UINT64_C(1) << k;
    const int64_t trip = m->ev.trip[path->loops[k]];
    if (trip < 2) continue;
    if (of >> k & 1)
      steps *= (double)trip, *apart |= other;
    else
      other = true;
  }
  return steps;
}

/* Whether some loop of the mask above slice i's node has more than one step. */
static bool steps_in(const struct tf_model *m, int i, uint64_t mask) {
  const tf_path *path = &m->plan->path[m->plan->slices[i].node];
  bool some = false;
  for (; mask && !some; mask &= mask - 1)
    some = m->ev.trip[path->loops[__builtin_ctzll(mask)]] > 1;
  return some;
}

/* Whether slice i's tiles cut the op's points into equal parts. */
static bool divides(const struct tf_model *m, const tf_eval *ev, int i) {
  const tf_plan *p = m->plan;
  const tf_tiles *t = &m->zeros->tiles[i];
  if (t->twin >= 0 && m->zeros->tiles[t->twin].known) return m->zeros->tiles[t->twin].known_now;
  const tf_op *op = &p->wl->ops[t->op];
  const int node = p->slices[i].node;
  bool even = true, apart = false;
  for (int d = 0; d < op->n_dims && even; d++) {
    const double steps = steps_of(m, &p->path[node], t->dims[d], t->dims[d], &apart);
    t->len[d] = tf_dim_range(ev, t->op, op->dims[d], node, m->zeros->still).len;
    even = fabs((double)t->len[d] * steps - (double)p->wl->dims[op->dims[d]].extent) < 0.5;
  }
  return even;
}

/* All steps of the loops `of` above slice i's node. */
typedef struct {
  const struct tf_model *m;
  int slice;
  uint64_t of;
} step_set;

/* The range of dim d over all these steps; *apart: it is not a single range. */
static double range_over(const step_set *x, int d, bool *apart) {
  const tf_plan *p = x->m->plan;
  const tf_tiles *t = &x->m->zeros->tiles[x->slice];
  const int at = tf_op_slot(&p->wl->ops[t->op], d);
  return (double)t->len[at] *
         steps_of(x->m, &p->path[p->slices[x->slice].node], t->dims[at], x->of, apart);
}

/* Whether dim d moves another rank of the reference than r. */
static bool moves_another(const tf_ref *ref, int rank, int r, int d) {
  bool moves = false;
  for (int k = 0; k < rank; k++)
    moves |= k != r && tf_index_coef(&ref->index[k], d);
  return moves;
}

/* Elements of rank r that these steps read; *exact: false if there are fewer.  *grid: false if
 * boxes along it do not tile all of the rank. */
static int64_t along(const step_set *x, const tf_ref *ref, int r, bool *exact, bool *grid) {
  const tf_workload *wl = x->m->plan->wl;
  const tf_tensor *t = &wl->tensors[ref->tensor];
  const tf_index *index = &ref->index[r];
  double span = 1, product = 1;
  bool apart = false, ones = true;
  for (int k = 0; k < index->n_terms; k++) {
    const double n = range_over(x, index->terms[k].dim, &apart);
    span += fabs((double)index->terms[k].coef) * (n - 1);
    product *= n;
    ones &= index->terms[k].coef == 1;
    if (!moves_another(ref, t->rank, r, index->terms[k].dim)) continue;
    *exact = false;
    *grid = false;
  }
  if (index->n_terms == 1) {
    const tf_dim *d = &wl->dims[index->terms[0].dim];
    *grid &= !apart && ones && index->c == 0 && t->lo[r] == 0 && d->extent == t->extent[r];
    return (int64_t)product;
  }
  *grid &= index->n_terms == 0 && t->extent[r] == 1;
  *exact &= index->n_terms == 0 || (ones && !apart);
  return (int64_t)fmin(fmin(apart ? product : span, product), (double)t->extent[r]);
}

/* The probability that read r has a nonzero element among all that are combined with a tile of
 * slice i while it stays; shared: in at least one of the instances that take it together. */
static double find_some(const struct tf_model *m, int i, int r, bool shared) {
  const tf_plan *p = m->plan;
  struct tf_zeros *z = m->zeros;
  const tf_ref *ref = &p->wl->ops[z->tiles[i].op].reads[r];
  const step_set x = {m, i, z->tiles[i].stay | (shared ? sharing_loops(m, i) : 0)};
  const int rank = p->wl->tensors[ref->tensor].rank;
  tf_chunks b = {.grid = true};
  bool exact = !tf_is_padded(&p->wl->tensors[ref->tensor]);
  for (int k = 0; k < rank; k++)
    b.len[k] = along(&x, ref, k, &exact, &b.grid);
  const double some = tf_sparse_some(p->sparse, ref->tensor, &b, z->boxes, &exact);
  z->tiles_upper |= !exact;
  return some;
}

/* ---- each evaluation ------------------------------------------------------------------------- */

/* The share that rules leave of accesses that a tile serves, as a product. */
typedef struct {
  double each;  /* over tensors with random zeros */
  double known; /* of one with known zeros; of several, an upper bound */
  int n_known;
  uint64_t taken; /* reads that are included */
} leaving;

static bool is_known(const tf_plan *p, int o, int r) {
  return p->sparse->tensors[p->wl->ops[o].reads[r].tensor].density.fall == TF_FALL_KNOWN;
}

static void leave(struct tf_model *m, leaving *x, int o, int r, double some) {
  if (!is_known(m->plan, o, r)) {
    x->each *= some;
    return;
  }
  m->zeros->tiles_upper |= x->n_known++ > 0;
  x->known = fmin(x->known, some);
}

/* Multiplies by the shares that the tiles leave, from slice i outwards. */
static void leave_from(struct tf_model *m, leaving *x, int i, int w) {
  const struct tf_zeros *z = m->zeros;
  for (int j = i; j >= 0; j = z->tiles[j].from) {
    const tf_tiles *t = &z->tiles[j];
    for (uint64_t on = t->voiders.reads[w] & ~x->taken; on; on &= on - 1)
      leave(m, x, t->op, __builtin_ctzll(on), t->any_nonzero[__builtin_ctzll(on)]);
    x->taken |= t->voiders.reads[w];
  }
}

/* The known zeros of two tensors depend on each other, so a tile of one is not omitted for those of
 * the other. */
static double left_of(struct tf_model *m, const leaving *x, int tensor) {
  const bool both = x->n_known && m->plan->sparse->tensors[tensor].density.fall == TF_FALL_KNOWN;
  m->zeros->tiles_upper |= both;
  return x->each * (both ? 1 : x->known);
}

/* [read] the probability that some element is nonzero, for slice i, if instances take one tile
 * together. */
static const double *together(struct tf_model *m, int i, double some[64]) {
  const tf_tiles *t = &m->zeros->tiles[i];
  if (t->op < 0 || !t->known_now || !steps_in(m, i, sharing_loops(m, i))) return t->any_nonzero;
  for (uint64_t on = t->voiders.reads[TF_LEFT_ENERGY]; on; on &= on - 1)
    some[__builtin_ctzll(on)] = find_some(m, i, __builtin_ctzll(on), true);
  return some;
}

/* Slice i's own rule, with these probabilities that some element of a read is nonzero. */
static double shared_from(struct tf_model *m, int i, int w, const double *some) {
  const tf_tiles *t = &m->zeros->tiles[i];
  leaving x = {.each = 1, .known = 1};
  int differ = 0;
  for (uint64_t on = t->op < 0 ? 0 : t->voiders.reads[w]; on; on &= on - 1) {
    const int r = __builtin_ctzll(on);
    differ += some[r] > t->any_nonzero[r];
    leave(m, &x, t->op, r, some[r]);
    x.taken |= UINT64_C(1) << r;
  }
  m->zeros->tiles_upper |= differ > 1;
  leave_from(m, &x, t->from, w);
  return left_of(m, &x, m->plan->slices[i].tensor);
}

static void find_fetched(struct tf_model *m, int i) {
  struct tf_zeros *z = m->zeros;
  tf_fetched *f = &z->fetched[i];
  double of[64];
  const double *some = together(m, i, of);
  for (int w = 0; w < TF_N_LEFT; w++) {
    if (w && z->tiles[i].same_savings) {
      f->fill[w] = f->fill[0], f->read[w] = f->read[0];
      continue;
    }
    leaving x = {.each = 1, .known = 1};
    leave_from(m, &x, i, w);
    f->fill[w] = left_of(m, &x, m->plan->slices[i].tensor);
    f->read[w] = shared_from(m, i, w, some);
  }
  m->views->own[i] = z->own[i] * f->fill[TF_LEFT_TIME];
  m->views->up[i] = z->up[i] * f->read[TF_LEFT_TIME];
}

/* Finds the share of a leaf's accesses that remain, beside the effect of zeros of its points. */
static void find_fetched_share(struct tf_model *m, int i, int o) {
  const tf_plan *p = m->plan;
  struct tf_zeros *z = m->zeros;
  const int at = i - p->n_tile_slices;
  for (int w = 0; w < TF_N_LEFT; w++) {
    if (w && z->tiles[i].same_savings && alike(&z->voiders[at])) {
      z->fetched_share[at].share[w] = z->fetched_share[at].share[0];
      continue;
    }
    leaving x = {.each = 1, .known = 1, .taken = z->voiders[at].reads[w]};
    leave_from(m, &x, z->tiles[i].from, w);
    if (x.n_known && tf_sparse_known(p->sparse, o, z->voiders[at].reads[w]))
      x.known = 1, z->tiles_upper = true;
    z->fetched_share[at].share[w] = left_of(m, &x, p->slices[i].tensor);
  }
}

/* The share of the points left by op o's own rules that have all operands.  If several operands
 * depend on one tensor, the tile of one may be there without that of another. */
static leaving served(struct tf_model *m, int o, int w) {
  const tf_plan *p = m->plan;
  struct tf_zeros *z = m->zeros;
  const uint64_t own = z->point_voiders[o].reads[w];
  double most[64];
  uint64_t included = own, known = 0;
  for (int r = 0; r < p->wl->ops[o].n_reads; r++) {
    uint64_t seen = own;
    for (int j = z->tiles[p->op_slice[o] + r].from; j >= 0; j = z->tiles[j].from) {
      const tf_tiles *t = &z->tiles[j];
      for (uint64_t on = t->voiders.reads[w] & ~seen; on; on &= on - 1) {
        const int k = __builtin_ctzll(on);
        z->tiles_upper |= (included >> k & 1) && fabs(most[k] - t->any_nonzero[k]) > 1e-12;
        most[k] = included >> k & 1 ? fmin(most[k], t->any_nonzero[k]) : t->any_nonzero[k];
        included |= UINT64_C(1) << k;
      }
      seen |= t->voiders.reads[w];
    }
  }
  leaving x = {.each = 1, .known = 1};
  for (uint64_t on = included & ~own; on; on &= on - 1) {
    leave(m, &x, o, __builtin_ctzll(on), most[__builtin_ctzll(on)]);
    known |= is_known(p, o, __builtin_ctzll(on));
  }
  if (known && tf_sparse_known(p->sparse, o, own)) x.known = 1, z->tiles_upper = true;
  return x;
}

static void find_work(struct tf_model *m, int o) {
  struct tf_zeros *z = m->zeros;
  bool same = alike(&z->point_voiders[o]);
  for (int r = 0; r < m->plan->wl->ops[o].n_reads; r++)
    same &= z->tiles[m->plan->op_slice[o] + r].same_savings;
  leaving x = served(m, o, 0);
  for (int w = 0; w < TF_N_LEFT; w++) {
    if (w && !same) x = served(m, o, w);
    z->work[o].share[w] = z->own_work[o].share[w] * x.each * x.known;
  }
}

void tf_tiles_begin(struct tf_model *m) {
  const tf_plan *p = m->plan;
  struct tf_zeros *z = m->zeros;
  if (!z || !z->tiles) return;
  tf_eval ev = m->ev;
  ev.keep = NULL;
  const bool steps = tf_eval_steps(&ev) && !ev.irregular && !ev.mixed;
  z->tiles_upper = false;
  for (int i = 0; i < p->n_tile_slices; i++) {
    tf_tiles *t = &z->tiles[i];
    t->known_now = t->op >= 0 && t->known && steps && !m->open && divides(m, &ev, i);
    if (t->known_now) t->stay = stay_loops(m, i);
    for (uint64_t on = t->op < 0 ? 0 : t->voiders.reads[TF_LEFT_ENERGY]; on; on &= on - 1) {
      const int r = __builtin_ctzll(on);
      t->any_nonzero[r] = t->known_now ? find_some(m, i, r, false)
                          : t->known && m->open
                              ? tf_sparse_keep_least(p->sparse, t->op, UINT64_C(1) << r)
                              : 1;
    }
    z->tiles_upper |= t->op >= 0 && !t->known_now;
  }
  for (int i = 0; i < p->n_tile_slices; i++)
    if (is_ruled(z, i)) find_fetched(m, i);
  for (int o = 0; o < p->wl->n_ops; o++) {
    for (int r = 0; r < p->wl->ops[o].n_reads; r++)
      find_fetched_share(m, p->op_slice[o] + r, o);
    find_work(m, o);
  }
}
