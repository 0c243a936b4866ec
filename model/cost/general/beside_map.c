/* The dims that a slice depends on, down to those that loops split of whole extents: see beside.h.
 */
#include <string.h>

#include "model/cost/general/beside.h"

/* A range: that of a dim of the map, and so far from it; dim -1: not among them. */
typedef struct {
  int dim;
  int64_t by;
} mapped;

typedef struct {
  const struct tf_model *m;
  const tf_plan *p;
  tf_beside_map *map;
  int left; /* ops that may still be looked at */
} mapper;

enum { MOST_LOOKS = 64 };

/* ---- chains --------------------------------------------------------------------------------- */

static bool same_loops(const struct tf_beside_loop *a, const struct tf_beside_loop *b, int n) {
  bool same = true;
  for (int k = 0; k < n; k++)
    same &= a[k].pos == b[k].pos && a[k].stage == b[k].stage && a[k].step == b[k].step;
  return same;
}

static bool same_tiles(const tf_beside_dim *a, const tf_beside_dim *b) {
  return a->n_stages == b->n_stages &&
         !memcmp(a->tile, b->tile, (size_t)a->n_stages * sizeof a->tile[0]);
}

static bool has_loops(const tf_beside_dim *d) { return d->n || d->n_spatial; }

/* Adds a dim to the map unless it is there; its number, -1: no room. */
static int add_dim(mapper *k, const tf_beside_dim *d) {
  tf_beside_map *to = k->map;
  for (int i = 0; i < to->n_dims; i++) {
    const tf_beside_dim *o = &to->dim[i];
    if (o->extent == d->extent && o->n == d->n && o->n_spatial == d->n_spatial &&
        same_tiles(o, d) && same_loops(o->loop, d->loop, d->n) &&
        same_loops(o->spatial, d->spatial, d->n_spatial) && has_loops(d))
      return i;
  }
  if (to->n_dims == TF_BESIDE_DIMS) return -1;
  to->dim[to->n_dims] = *d;
  return to->n_dims++;
}

/* Adds the loops of dim d to node n, from position `from` on, as a stage in which op o splits it.
 */
static bool add_stage(const mapper *k, int o, int d, int n, int from, tf_beside_dim *to) {
  const tf_plan *p = k->p;
  const uint64_t over = from < TF_MAX_PATH ? p->over[n * p->wl->n_dims + d] >> from << from : 0;
  if (!over) return true;
  const int stage = has_loops(to) || to->n_stages > 1 ? to->n_stages : 0;
  if (stage == TF_BESIDE_STAGES) return false;
  to->n_stages = stage + 1;
  for (uint64_t left = over; left; left &= left - 1) {
    const int pos = __builtin_ctzll(left), l = p->path[n].loops[pos];
    const bool time = p->path[n].temporal >> pos & 1;
    const struct tf_beside_loop one = {pos, stage, k->m->ev.trip[l],
                                       k->m->ev.step[o * p->n_loops + l]};
    to->tile[stage] = one.step;
    if (one.trip <= 1) continue;
    if ((time ? to->n : to->n_spatial) == TF_BESIDE_LOOPS) return false;
    *(time ? &to->loop[to->n++] : &to->spatial[to->n_spatial++]) = one;
  }
  return true;
}

/* ---- ranges --------------------------------------------------------------------------------- */

static bool map_dim(mapper *k, int o, int d, int n, tf_beside_dim *to, int64_t *by);

/* The range of rank r of op o's output that ops below node n read: if it is that of one dim, moved
 * along, of each of them. */
static bool map_readers(mapper *k, int o, int r, int n, tf_beside_dim *to, int64_t *by) {
  bool any = false;
  TF_EACH_READ (k->p->facts, o, n, at) {
    const tf_index *ix = &k->p->wl->ops[at.op].reads[at.ref].index[r];
    tf_beside_dim one;
    int64_t off;
    if (ix->n_terms != 1 || ix->terms[0].coef != 1 ||
        !map_dim(k, at.op, ix->terms[0].dim, n, &one, &off))
      return false;
    off += ix->c;
    if (any && (off != *by || memcmp(&one, to, sizeof one) != 0)) return false;
    *to = one;
    *by = off;
    any = true;
  }
  return any;
}

/* Fills the loops that determine the range of dim d of op o on entry to node n, and how far it is
 * moved. */
static bool map_dim(mapper *k, int o, int d, int n, tf_beside_dim *to, int64_t *by) {
  const tf_range_from from = tf_range_source(k->p->facts, o, d, n);
  const int64_t extent = k->p->wl->dims[d].extent;
  if (--k->left < 0) return false;
  if (from.rule == TF_BY_READERS) return map_readers(k, o, from.source, n, to, by);
  if (from.rule == TF_BY_LEADER) return map_dim(k, from.source, d, n, to, by);
  memset(to, 0, sizeof *to);
  *by = 0;
  to->extent = to->tile[0] = extent;
  to->n_stages = 1;
  if (from.rule == TF_BY_EXTENT) return true;
  const int lead = k->p->lead[o], up = k->p->tree->nodes[lead].parent;
  if (up >= 0 && !map_dim(k, o, d, up, to, by)) return false;
  return add_stage(k, o, d, n, k->p->path[lead].n, to);
}

/* Adds the dims that must not be empty for op o to have points at node n, as bits: its own, and
 * where it makes what others read, theirs. */
static bool map_works(mapper *k, int o, int n, uint32_t *dims) {
  const tf_op *op = &k->p->wl->ops[o];
  bool asks = false;
  for (int i = 0; i < op->n_dims; i++) {
    tf_beside_dim one;
    int64_t by;
    if (!map_dim(k, o, op->dims[i], n, &one, &by)) return false;
    const int at = add_dim(k, &one);
    if (at < 0) return false;
    *dims |= has_loops(&one) ? UINT32_C(1) << at : 0;
  }
  const int lead = k->p->lead[o], up = k->p->tree->nodes[lead].parent;
  if (tf_plan_leads(k->p, o, n)) return up < 0 || map_works(k, o, up, dims);
  uint32_t all = 0;
  TF_EACH_READ (k->p->facts, o, n, at) {
    uint32_t its = 0;
    if (--k->left < 0 || !map_works(k, at.op, n, &its) || (asks && its != all)) return false;
    all = its;
    asks = true;
  }
  *dims |= all;
  return asks;
}

/* Fills rank r of what a reference touches. */
static bool map_rank(mapper *k, tf_touch t, int r, int n, tf_beside_rank *to) {
  const tf_op *op = &k->p->wl->ops[t.op];
  const tf_index *ix = t.ref < 0 ? NULL : &op->reads[t.ref].index[r];
  *to = (tf_beside_rank){.c = ix ? ix->c : 0};
  for (int i = 0; i < (ix ? ix->n_terms : 1); i++) {
    const int64_t coef = ix ? ix->terms[i].coef : 1;
    tf_beside_dim one;
    int64_t by;
    if (!map_dim(k, t.op, ix ? ix->terms[i].dim : op->dims[r], n, &one, &by)) return false;
    if (!coef) continue;
    to->c += coef * by;
    to->term[to->n].coef = coef;
    to->term[to->n].dim = add_dim(k, &one);
    if (to->term[to->n++].dim < 0 || to->n == TF_BESIDE_DIMS) return false;
  }
  return true;
}

/* ---- slices --------------------------------------------------------------------------------- */

static bool same_rank(const tf_beside_map *map, const tf_beside_rank *a, const tf_beside_rank *b) {
  bool same = a->c == b->c && a->n == b->n;
  for (int i = 0; i < a->n && same; i++) {
    const tf_beside_dim *x = &map->dim[a->term[i].dim], *y = &map->dim[b->term[i].dim];
    same = a->term[i].coef == b->term[i].coef &&
           (a->term[i].dim == b->term[i].dim ||
            (!has_loops(x) && !has_loops(y) && same_tiles(x, y) && x->extent == y->extent));
  }
  return same;
}

static bool used(const tf_beside_map *map, int dim) {
  for (int r = 0; r < map->n_ranks; r++)
    for (int i = 0; i < map->rank[r].n; i++)
      if (map->rank[r].term[i].dim == dim) return true;
  return false;
}

static uint64_t positions(const tf_beside_dim *d) {
  uint64_t at = 0;
  for (int g = 0; g < d->n; g++)
    at |= UINT64_C(1) << d->loop[g].pos;
  for (int g = 0; g < d->n_spatial; g++)
    at |= UINT64_C(1) << d->spatial[g].pos;
  return at;
}

/* Whether a's loops are the first of b's. */
static bool begins(const tf_beside_dim *a, const tf_beside_dim *b) {
  return a->extent == b->extent && a->n <= b->n && a->n_spatial <= b->n_spatial &&
         same_loops(a->loop, b->loop, a->n) && same_loops(a->spatial, b->spatial, a->n_spatial);
}

/* Drops dims that are not empty if others are not; false: some loop splits two of those left. */
static bool drop_parts(tf_beside_map *map) {
  for (int a = 0; a < map->n_dims; a++)
    for (int b = 0; b < map->n_dims; b++) {
      tf_beside_dim *x = &map->dim[a];
      if (a == b || !(positions(x) & positions(&map->dim[b]))) continue;
      if (!begins(x, &map->dim[b]) || used(map, a)) {
        if (!begins(&map->dim[b], x) || used(map, b)) return false;
        continue; /* b is dropped when its turn comes, or has been */
      }
      x->n = x->n_spatial = 0;
      x->n_stages = 1;
      x->tile[0] = x->extent;
    }
  return true;
}

bool tf_beside_map_of(const struct tf_model *m, const tf_slice *s, tf_beside_map *out) {
  const tf_plan *p = m->plan;
  mapper k = {m, p, out, MOST_LOOKS};
  uint32_t works = 0;
  out->n_dims = 0;
  out->n_ranks = p->wl->tensors[s->tensor].rank;
  if (out->n_ranks > TF_BESIDE_DIMS) return false;
  for (int i = 0; i < s->n_touch; i++) {
    uint32_t its = 0;
    if (!map_works(&k, s->touch[i].op, s->node, &its) || (i && its != works)) return false;
    works = its;
    for (int r = 0; r < out->n_ranks; r++) {
      tf_beside_rank one;
      if (!map_rank(&k, s->touch[i], r, s->node, i ? &one : &out->rank[r]) ||
          (i && !same_rank(out, &one, &out->rank[r])))
        return false;
    }
  }
  return drop_parts(out);
}
