#include "model/cost/zeros.h"

#include <math.h>
#include <string.h>

#include "model/input/dims.h"

/* ---- once a tree ----------------------------------------------------------------------------- */

static int op_of_slice(const tf_plan *p, int i) { return p->tree->nodes[p->slices[i].node].op; }

static uint64_t reads_that_void(const struct tf_model *m, int i, int what) {
  const tf_plan *p = m->plan;
  const tf_slice *s = &p->slices[i];
  const tf_memory *mem = &p->arch->memories[s->above];
  const int o = op_of_slice(p, i);
  if (tf_zeros_stream(p, o)) return 0;
  const uint64_t skipped = tf_sparse_on(p->sparse, &mem->skipping, o, s->tensor);
  return what == TF_LEFT_TIME ? skipped
                              : skipped | tf_sparse_on(p->sparse, &mem->gating, o, s->tensor);
}

/* Shares of points left by rules of the unit, and by missing operands. */
static void find_work(struct tf_model *m, int o) {
  const tf_plan *p = m->plan;
  const tf_unit *unit = &p->arch->units[p->unit[o]];
  uint64_t on[TF_N_LEFT] = {tf_sparse_on(p->sparse, &unit->skipping, o, -1),
                            tf_sparse_on(p->sparse, &unit->gating, o, -1)};
  on[TF_LEFT_ENERGY] |= on[TF_LEFT_TIME];
  for (int w = 0; w < TF_N_LEFT; w++) {
    for (int r = 0; r < p->wl->ops[o].n_reads; r++)
      on[w] |= m->zeros->voiders[p->op_slice[o] + r - p->n_tile_slices].reads[w];
    m->zeros->point_voiders[o].reads[w] = on[w];
    m->zeros->upper |= !tf_sparse_told(p->sparse, o, on[w]);
    for (int r = 0; r < p->wl->ops[o].n_reads; r++) /* zeros of padding are not counted */
      m->zeros->upper |=
          (on[w] >> r & 1) && tf_is_padded(&p->wl->tensors[p->wl->ops[o].reads[r].tensor]);
    m->zeros->work[o].share[w] = tf_zeros_stream(p, o) ? 1 : tf_sparse_keep(p->sparse, o, on[w]);
  }
}

/* ---- several elements at once ---------------------------------------------------------------- */

/* The elements of one read of an op that several points need at once: how many, and along which
 * loops or dims. */
typedef struct {
  int read;
  uint64_t along; /* a mask that shows whether two reads vary in the same way */
  double count;
  tf_odds odds;
} several;

enum { MOST_SEVERAL = 64 };

/* The probability that at least one of several points has no zero among its reads.  *exact: false
 * if the answer is only a bound: an upper one, or, where `least`, a lower one. */
static double any_point(const several *v, int n, bool least, bool *exact) {
  double any = 1, smallest = 1;
  bool alike = true, apart = true;
  for (int i = 0; i < n; i++) {
    alike &= v[i].odds.kind != TF_ODDS_LOOSE;
    const double some = 1 - tf_odds_none(&v[i].odds, v[i].count);
    any *= some;
    smallest = fmin(smallest, some);
    for (int k = 0; k < i; k++) {
      alike &=
          v[i].along == v[k].along && !(tf_odds_grouped(&v[i].odds) && tf_odds_grouped(&v[k].odds));
      apart &= !(v[i].along & v[k].along);
    }
  }
  if (n < 2 || apart) return any;
  if (n == 2 && alike)
    return tf_odds_pair(&v[0].odds, &v[1].odds, (int)fmin(v[0].count, TF_ODDS_MOST));
  *exact = false;
  if (!least) return smallest;
  double one = 1; /* a single point of them */
  for (int i = 0; i < n; i++)
    one *= v[i].odds.share;
  return one;
}

/* Sets of dims are of an op's dims, in its order. */
static uint64_t of_dim(const tf_op *op, int dim) {
  const int slot = tf_op_slot(op, dim);
  return slot < 0 ? 0 : UINT64_C(1) << slot;
}

/* Ranks of a reference that the dims move. */
static uint32_t ranks_moved(const tf_op *op, const tf_ref *ref, int rank, uint64_t dims) {
  uint32_t moved = 0;
  for (int r = 0; r < rank; r++)
    for (int k = 0; k < ref->index[r].n_terms; k++)
      if (dims & of_dim(op, ref->index[r].terms[k].dim)) moved |= 1u << r;
  return moved;
}

/* ---- results that are updated at all --------------------------------------------------------- */

/* Whether the reduced dims move every rank of the reference by one of them at most, and along the
 * rank of the tensor's blocks, if they move it, over all of it and over no other rank. */
static bool separates(const tf_tensor *t, const tf_workload *wl, const tf_op *op, const tf_ref *ref,
                      uint64_t dims) {
  for (int r = 0; r < t->rank; r++) {
    int n = 0, last = -1;
    for (int k = 0; k < ref->index[r].n_terms; k++)
      if (dims & of_dim(op, ref->index[r].terms[k].dim)) n++, last = ref->index[r].terms[k].dim;
    if (n > 1) return false;
    const bool blocks = (t->density.fall == TF_FALL_BLOCKS && t->density.rank == r) ||
                        t->density.fall == TF_FALL_TILES || t->density.fall == TF_FALL_KNOWN;
    if (blocks && n && (ref->index[r].n_terms > 1 || wl->dims[last].extent != t->extent[r]))
      return false;
    for (int k = 0; k < t->rank && blocks && n; k++)
      if (k != r && tf_index_coef(&ref->index[k], last)) return false;
  }
  return true;
}

/* ---- accesses that units share --------------------------------------------------------------- */

/* Whether a loop has several trips and splits op o's range itself. */
static bool has_steps(const struct tf_model *m, int o, int loop) {
  const tf_ploop *l = &m->plan->loops[loop];
  bool splits = false;
  for (int k = 0; k < l->n_leader; k++)
    splits |= l->leaders[k] == o;
  return splits && m->ev.trip[loop] > 1;
}

/* Whether some rank of the reference is moved by two dims of the loops in the mask that have
 * several trips: then different settings may touch one element. */
static bool may_repeat(const struct tf_model *m, int i, const tf_ref *ref, int rank,
                       uint64_t loops) {
  const tf_path *path = &m->plan->path[m->plan->slices[i].node];
  const tf_op *op = &m->plan->wl->ops[op_of_slice(m->plan, i)];
  for (int r = 0; r < rank; r++) {
    uint64_t dims = 0;
    for (int k = 0; k < path->n; k++) {
      const int dim = m->plan->loops[path->loops[k]].dim;
      if (loops >> k & 1 && m->ev.trip[path->loops[k]] > 1 && tf_index_coef(&ref->index[r], dim))
        dims |= of_dim(op, dim);
    }
    if (dims & (dims - 1)) return true;
  }
  return false;
}

/* Whether one of the loops with several trips moves the op's range through its readers: then it may
 * move any rank of a reference. */
static bool moves_readers(const struct tf_model *m, int i, uint64_t loops) {
  const tf_path *path = &m->plan->path[m->plan->slices[i].node];
  bool any = false;
  for (int k = 0; k < path->n; k++)
    any |= (loops >> k & 1) && m->ev.trip[path->loops[k]] > 1 &&
           !has_steps(m, op_of_slice(m->plan, i), path->loops[k]);
  return any;
}

static const tf_ref *ref_of(const struct tf_model *m, int i) {
  const tf_touch *t = &m->plan->slices[i].touch[0];
  return t->ref < 0 ? NULL : &m->plan->wl->ops[t->op].reads[t->ref];
}

/* Loops that move what slice i touches; any loops, if a scope retains. */
static uint64_t moving(const struct tf_model *m, int i) {
  return m->plan->n_retains ? ~UINT64_C(0) : m->zeros->moving[i - m->plan->n_tile_slices];
}

/* Spatial loops whose instances share an access of slice i.  *exact: false if others may, too. */
static uint64_t sharers(const struct tf_model *m, int i, bool *exact) {
  const tf_plan *p = m->plan;
  const tf_slice *s = &p->slices[i];
  const tf_unit *unit = &p->arch->units[p->unit[op_of_slice(p, i)]];
  const tf_ref *ref = ref_of(m, i);
  if (!(s->makes ? unit->reduce : unit->multicast)) return 0;
  const bool many =
      p->n_retains || (ref && (moves_readers(m, i, s->merge) ||
                               may_repeat(m, i, ref, p->wl->tensors[s->tensor].rank, s->merge)));
  *exact &= !many;
  return many ? s->merge : s->merge & ~moving(m, i);
}

/* Whether some read that can leave the access out may differ among units that share it. */
static bool may_differ(const struct tf_model *m, int i, uint64_t on) {
  const tf_plan *p = m->plan;
  const int o = op_of_slice(p, i);
  bool any = false;
  for (int r = 0; r < p->wl->ops[o].n_reads; r++)
    any |= (on >> r & 1) && (p->slices[i].merge & moving(m, p->op_slice[o] + r));
  return any;
}

/* The elements of read r that the sharers of slice i need at one step. */
static several of_sharers(const struct tf_model *m, int i, int r, bool *exact) {
  const tf_plan *p = m->plan;
  const int o = op_of_slice(p, i);
  const tf_op *op = &p->wl->ops[o];
  const tf_ref *ref = &op->reads[r];
  const tf_tensor *t = &p->sparse->tensors[ref->tensor];
  const tf_path *path = &p->path[p->slices[i].node];
  several v = {.read = r, .count = 1};
  const uint64_t loops = sharers(m, i, exact) & moving(m, p->op_slice[o] + r);
  uint64_t dims = 0;
  for (int k = 0; k < path->n; k++) {
    const int64_t trip = m->ev.trip[path->loops[k]];
    if (!(loops >> k & 1) || trip < 2) continue;
    *exact &= has_steps(m, o, path->loops[k]);
    v.count *= (double)trip;
    v.along |= UINT64_C(1) << k;
    dims |= of_dim(op, p->loops[path->loops[k]].dim);
  }
  const uint32_t ranks =
      moves_readers(m, i, loops) ? UINT32_MAX : ranks_moved(op, ref, t->rank, dims);
  v.odds = tf_sparse_odds(p->sparse, ref->tensor, ranks, false, exact);
  if (v.count > 1) *exact &= !may_repeat(m, i, ref, t->rank, loops) && m->quick && !m->partial;
  *exact &= !tf_is_padded(t);
  return v;
}

/* The number of parts into which spatial loops divide a reduced dim of the op among instances of
 * the memory that serves slice i: each of these begins a result by itself. */
static double divided(const struct tf_model *m, int i, int dim) {
  const tf_plan *p = m->plan;
  const int server = m->views->server[i];
  const tf_path *path = &p->path[server < 0 ? 0 : server];
  double by = 1;
  for (int k = 0; server >= 0 && k < path->n; k++) {
    const tf_ploop *l = &p->loops[path->loops[k]];
    if (l->axis != TF_TEMPORAL && l->dim == dim && has_steps(m, op_of_slice(p, i), path->loops[k]))
      by *= (double)m->ev.trip[path->loops[k]];
  }
  return by;
}

/* Whether that depends on trip counts. */
static bool may_divide(const struct tf_model *m, int i) {
  const tf_plan *p = m->plan;
  const tf_op *op = &p->wl->ops[op_of_slice(p, i)];
  const int server = m->views->server[i];
  bool may = false;
  for (int k = 0; server >= 0 && k < p->path[server].n; k++) {
    const tf_ploop *l = &p->loops[p->path[server].loops[k]];
    may |= l->axis != TF_TEMPORAL && tf_op_slot(op, l->dim) >= op->n_out_dims;
  }
  return may;
}

/* The elements of read r that one result needs over all its points, in one instance. */
static several of_result(const struct tf_model *m, int i, int r, uint64_t reduced, bool *exact) {
  const tf_workload *wl = m->plan->wl;
  const tf_op *op = &wl->ops[op_of_slice(m->plan, i)];
  const tf_ref *ref = &op->reads[r];
  const tf_tensor *t = &m->plan->sparse->tensors[ref->tensor];
  several x = {.read = r, .count = 1};
  *exact &= separates(t, wl, op, ref, reduced) && !tf_is_padded(t);
  for (int d = op->n_out_dims; d < op->n_dims; d++) {
    const double extent = (double)wl->dims[op->dims[d]].extent, by = divided(m, i, op->dims[d]);
    if (!tf_ref_moves(ref, t->rank, op->dims[d]) || extent < 2) continue;
    x.count *= extent / by;
    x.along |= UINT64_C(1) << d;
    *exact &= by < 2 || (m->quick && !m->partial && t->density.fall <= TF_FALL_UNIFORM);
  }
  x.odds = tf_sparse_odds(m->plan->sparse, ref->tensor, ranks_moved(op, ref, t->rank, reduced),
                          true, exact);
  return x;
}

/* The share of results updated by slice i that are updated at all, if zeros of the reads `on` leave
 * updates out. */
static double updated(const struct tf_model *m, int i, uint64_t on, bool *exact) {
  const int o = op_of_slice(m->plan, i);
  const tf_op *op = &m->plan->wl->ops[o];
  several v[MOST_SEVERAL];
  double keep = 1;
  int n = 0;
  uint64_t reduced = 0;
  for (int d = op->n_out_dims; d < op->n_dims; d++)
    reduced |= UINT64_C(1) << d;
  for (int r = 0; r < op->n_reads; r++) {
    if (!(on >> r & 1)) continue;
    const several x = of_result(m, i, r, reduced, exact);
    if (x.count > 1)
      v[n++] = x;
    else
      keep *= x.odds.share;
  }
  *exact &= !m->plan->skips && tf_sparse_known(m->plan->sparse, o, on) < 2;
  if (!*exact) return tf_sparse_keep_least(m->plan->sparse, o, on);
  return keep * any_point(v, n, true, exact);
}

/* The share of slice i's accesses that remain if the zeros of several reads are known: accesses
 * shared by several points are bounded by the zeros of each single read. */
static double remaining_of_known(const struct tf_model *m, int i, uint64_t on, bool *exact) {
  const int o = op_of_slice(m->plan, i);
  double most = 1, count = 1;
  for (int r = 0; r < m->plan->wl->ops[o].n_reads; r++) {
    if (!(on >> r & 1)) continue;
    const several x = of_sharers(m, i, r, exact);
    count *= x.count;
    most = fmin(most, 1 - tf_odds_none(&x.odds, x.count));
  }
  if (count > 1) {
    *exact = false;
    return most;
  }
  *exact &= tf_sparse_told(m->plan->sparse, o, on);
  return tf_sparse_keep(m->plan->sparse, o, on);
}

/* The share of slice i's accesses that remain. */
static double remaining(const struct tf_model *m, int i, uint64_t on, bool *exact) {
  several v[MOST_SEVERAL];
  double keep = 1;
  int n = 0;
  if (tf_sparse_known(m->plan->sparse, op_of_slice(m->plan, i), on) > 1)
    return remaining_of_known(m, i, on, exact);
  for (int r = 0; r < m->plan->wl->ops[op_of_slice(m->plan, i)].n_reads; r++) {
    if (!(on >> r & 1)) continue;
    const several x = of_sharers(m, i, r, exact);
    if (x.count > 1)
      v[n++] = x;
    else
      keep *= x.odds.share;
  }
  return keep * any_point(v, n, false, exact);
}

/* The reads whose zeros count for leaving out accesses of slice i.  If only stored elements of the
 * accessed tensor move, the overlap of its known zeros with those of another tensor is not
 * counted. */
static uint64_t counted(const struct tf_model *m, int i, uint64_t on) {
  const tf_plan *p = m->plan;
  const tf_op *op = &p->wl->ops[op_of_slice(p, i)];
  for (int r = 0;
       r < op->n_reads && p->sparse->tensors[p->slices[i].tensor].density.fall == TF_FALL_KNOWN;
       r++)
    if (p->sparse->tensors[op->reads[r].tensor].density.fall == TF_FALL_KNOWN)
      on &= ~(UINT64_C(1) << r);
  return on;
}

/* Whether the shares are exact. */
static bool find_left(struct tf_model *m, int i) {
  struct tf_zeros *z = m->zeros;
  const int at = i - m->plan->n_tile_slices;
  bool all = true;
  for (int w = 0; w < TF_N_LEFT; w++) {
    const uint64_t on = counted(m, i, z->voiders[at].reads[w]);
    bool exact = on == z->voiders[at].reads[w];
    tf_left *left = &z->left[at].left[w];
    if (m->plan->slices[i].makes) left->first = exact ? updated(m, i, on, &exact) : 0;
    left->read = left->update = remaining(m, i, on, &exact);
    all &= exact;
  }
  return all;
}

static bool add_arrays(tf_arena *a, const tf_plan *p, struct tf_zeros *z) {
  const size_t leaves = (size_t)(p->n_slices - p->n_tile_slices) + 1, ops = (size_t)p->wl->n_ops;
  z->voiders = TF_ARRAY(a, tf_voiders, leaves);
  z->left = TF_ARRAY(a, tf_lefts, leaves);
  z->turns = TF_ARRAY(a, bool, leaves);
  z->moving = TF_ARRAY(a, uint64_t, leaves);
  bool parts = false;
  for (int t = 0; t < p->wl->n_tensors; t++)
    parts |= p->sparse->part[t] && p->skips;
  z->ran = parts ? TF_ARRAY(a, tf_lefts, leaves) : NULL;
  z->work = TF_ARRAY(a, tf_shares, ops);
  z->point_voiders = TF_ARRAY(a, tf_voiders, ops);
  z->res.counts = TF_ARRAY(a, tf_kept_counts, (size_t)(p->arch->n_memories * p->wl->n_tensors));
  z->res.ops = TF_ARRAY(a, tf_kept_points, ops);
  z->res.held = TF_ARRAY(a, int64_t, (size_t)p->arch->n_memories);
  z->res.most = TF_ARRAY(a, int64_t, (size_t)p->arch->n_memories);
  z->res.share = p->sparse->share;
  return (z->ran || !parts) && z->voiders && z->left && z->turns && z->moving && z->work &&
         z->point_voiders && z->res.counts && z->res.ops && z->res.held && z->res.most;
}

static bool keep_lefts(struct tf_model *m) {
  const tf_plan *p = m->plan;
  struct tf_zeros *z = m->zeros;
  bool ok = (z->spatial = TF_ARRAY(m->arena, int, (size_t)p->n_loops + 1)) &&
            (z->trips = TF_ARRAY(m->arena, int64_t, (size_t)p->n_loops + 1));
  for (int l = 0; l < p->n_loops && ok; l++)
    if (p->loops[l].axis != TF_TEMPORAL) z->spatial[z->n_spatial++] = l;
  for (int k = 0; k < TF_LEFTS_KEPT && ok; k++) {
    z->kept[k].trips = TF_ARRAY(m->arena, int64_t, (size_t)z->n_spatial + 1);
    z->kept[k].left = TF_ARRAY(m->arena, tf_lefts, (size_t)(p->n_slices - p->n_tile_slices) + 1);
    ok = z->kept[k].trips && z->kept[k].left;
  }
  return ok;
}

bool tf_zeros_new(struct tf_model *m) {
  const tf_plan *p = m->plan;
  if (!p->sparse) return true;
  struct tf_zeros *z = m->zeros = TF_NEW(m->arena, struct tf_zeros);
  if (!z || !add_arrays(m->arena, p, z)) return false;
  z->sparse = p->sparse;
  for (int i = p->n_tile_slices; i < p->n_slices; i++)
    for (int r = 0; r < p->wl->tensors[p->slices[i].tensor].rank; r++)
      z->moving[i - p->n_tile_slices] |= tf_slice_mask(p, &p->slices[i], r);
  for (int i = p->n_tile_slices; i < p->n_slices; i++) {
    const int at = i - p->n_tile_slices;
    for (int w = 0; w < TF_N_LEFT; w++) {
      z->voiders[at].reads[w] = reads_that_void(m, i, w);
      z->turns[at] |= may_differ(m, i, z->voiders[at].reads[w]);
      z->turns[at] |= p->slices[i].makes && z->voiders[at].reads[w] && may_divide(m, i);
    }
    z->any_turns |= z->turns[at];
    z->upper |= !find_left(m, i);
  }
  for (int o = 0; o < p->wl->n_ops; o++)
    find_work(m, o);
  for (int i = 0; i < p->arch->n_memories * p->wl->n_tensors; i++)
    z->upper |= p->sparse->packed[i].upper;
  return keep_lefts(m);
}

const tf_lefts *tf_zeros_left(const struct tf_model *m, int i) {
  const tf_lefts *of = m->zeros->ran ? m->zeros->ran : m->zeros->left;
  return &of[i - m->plan->n_tile_slices];
}

/* ---- each evaluation ------------------------------------------------------------------------- */

/* Subtracts the savings by zeros from what a leaf moves. */
static void take_flow(const struct tf_model *m, int i, tf_flow *v) {
  const tf_left *left = &tf_zeros_left(m, i)->left[TF_LEFT_TIME];
  v->read =
      m->plan->slices[i].makes ? tf_left_reads(left, v->read, v->update) : v->read * left->read;
  v->update *= left->update;
}

/* Fills the shares of slices that depend on trip counts.  Returns whether they are exact. */
static bool find_turning(struct tf_model *m) {
  const tf_plan *p = m->plan;
  struct tf_zeros *z = m->zeros;
  const size_t leaves = (size_t)(p->n_slices - p->n_tile_slices), n = (size_t)z->n_spatial;
  uint64_t hash = (uint64_t)m->quick * 2 + m->partial;
  for (int k = 0; k < z->n_spatial; k++) {
    z->trips[k] = m->ev.trip[z->spatial[k]];
    hash = (hash ^ (uint64_t)z->trips[k]) * UINT64_C(0x9e3779b97f4a7c15), hash ^= hash >> 32;
  }
  tf_lefts_kept *kept = &z->kept[hash % TF_LEFTS_KEPT];
  const bool known = kept->known && kept->quick == m->quick && kept->partial == m->partial &&
                     !memcmp(kept->trips, z->trips, n * sizeof *z->trips);
  if (known) {
    memcpy(z->left, kept->left, leaves * sizeof *z->left);
    return kept->exact;
  }
  bool exact = true;
  for (int i = p->n_tile_slices; i < p->n_slices; i++)
    if (z->turns[i - p->n_tile_slices]) exact &= find_left(m, i);
  *kept = (tf_lefts_kept){true, m->quick, m->partial, exact, kept->trips, kept->left};
  memcpy(kept->trips, z->trips, n * sizeof *z->trips);
  memcpy(kept->left, z->left, leaves * sizeof *z->left);
  return exact;
}

/* Removes accesses to tiles that were not fetched. */
static void take_unfetched(struct tf_model *m) {
  const tf_plan *p = m->plan;
  struct tf_zeros *z = m->zeros;
  for (int i = p->n_tile_slices; i < p->n_slices; i++)
    for (int w = 0; w < TF_N_LEFT && !p->slices[i].makes; w++)
      z->left[i - p->n_tile_slices].left[w].read *= z->fetched_share[i - p->n_tile_slices].share[w];
}

/* The share of all of op o's points that run: a mask leaves the steps of the others out. */
static double ran(const struct tf_model *m, int o) {
  const double points = (double)m->res.ops[o].points;
  return points > 0 ? points / (points + (double)m->res.ops[o].skipped) : 1;
}

/* Shares of all points and accesses become those of steps that run, where zeros of the mask's band
 * count: all others are in these steps. */
static void take_steps(struct tf_model *m) {
  const tf_plan *p = m->plan;
  struct tf_zeros *z = m->zeros;
  for (int o = 0; o < p->wl->n_ops; o++) {
    const uint64_t parts = tf_sparse_parts(p->sparse, o);
    for (int w = 0; w < TF_N_LEFT && parts && !tf_zeros_stream(p, o); w++) {
      const uint64_t on = z->point_voiders[o].reads[w];
      z->work[o].share[w] = tf_sparse_keep(p->sparse, o, on);
      if (on & parts) z->work[o].share[w] = fmin(1, z->work[o].share[w] / ran(m, o));
    }
  }
  for (int i = p->n_tile_slices; i < p->n_slices; i++) {
    const int at = i - p->n_tile_slices, o = op_of_slice(p, i);
    z->ran[at] = z->left[at];
    for (int w = 0; w < TF_N_LEFT; w++) {
      tf_left *left = &z->ran[at].left[w];
      if (!(z->voiders[at].reads[w] & tf_sparse_parts(p->sparse, o))) continue;
      left->read = fmin(1, left->read / ran(m, o));
      left->update = fmin(1, left->update / ran(m, o));
      left->first = fmin(1, left->first / ran(m, o));
    }
  }
}

void tf_zeros_take(struct tf_model *m) {
  const tf_plan *p = m->plan;
  if (!m->zeros) return;
  m->zeros->res.upper = m->zeros->upper || m->zeros->tiles_upper;
  if (m->zeros->any_turns) m->zeros->res.upper |= !find_turning(m);
  if (m->zeros->tiles) take_unfetched(m);
  if (m->zeros->ran) take_steps(m);
  for (int i = p->n_tile_slices; i < p->n_slices; i++) {
    take_flow(m, i, &m->flows[i]);
    for (int k = 0; m->each && k < m->each->n; k++)
      take_flow(m, i, &m->each->flows[k * p->n_slices + i]);
  }
}

/* Subtracts a leaf's omitted accesses from the counts of the memory that serves it. */
static void take(struct tf_model *m, int i) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_left *left = &tf_zeros_left(m, i)->left[TF_LEFT_ENERGY];
  tf_kept_counts *c = &m->zeros->res.counts[s->above * m->plan->wl->n_tensors + s->tensor];
  const double read = (double)m->moves[i].read, update = (double)m->moves[i].update;
  c->read -= s->makes ? read - tf_left_reads(left, read, update) : read * (1 - left->read);
  c->update -= update * (1 - left->update);
}

/* The same for tiles that are not fetched. */
static void take_tile(struct tf_model *m, int i) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_fetched *f = &m->zeros->fetched[i];
  tf_kept_counts *c = m->zeros->res.counts + s->tensor;
  c[s->level * m->plan->wl->n_tensors].fill -=
      (double)m->moves[i].fill * (1 - f->fill[TF_LEFT_ENERGY]);
  c[s->above * m->plan->wl->n_tensors].read -=
      (double)m->moves[i].read * (1 - f->read[TF_LEFT_ENERGY]);
}

void tf_zeros_count(struct tf_model *m) {
  const tf_plan *p = m->plan;
  struct tf_zeros *z = m->zeros;
  for (int i = 0; i < p->arch->n_memories * p->wl->n_tensors; i++) {
    const tf_counts *c = &m->res.counts[i];
    z->res.counts[i] =
        (tf_kept_counts){(double)c->fill, (double)c->read, (double)c->update, (double)c->drain, 0};
  }
  for (int i = p->n_tile_slices; i < p->n_slices; i++)
    take(m, i);
  for (int i = 0; i < p->n_tile_slices && z->tiles; i++)
    take_tile(m, i);
  for (int o = 0; o < p->wl->n_ops; o++) {
    const double points = (double)m->res.ops[o].points;
    z->res.ops[o] = (tf_kept_points){
        points * z->work[o].share[TF_LEFT_ENERGY],
        points * (z->work[o].share[TF_LEFT_TIME] - z->work[o].share[TF_LEFT_ENERGY]),
        points * (1 - z->work[o].share[TF_LEFT_TIME])};
  }
}
