/* The dims that a slice depends on, down to those that loops split of whole extents: see beside.h.
 */
#include <string.h>

#include "model/cost/general/beside.h"

typedef struct {
  const struct tf_model *m;
  const tf_plan *p;
  tf_beside_map *map;
  int left; /* ops that may still be looked at */
} mapper;

enum { MOST_LOOKS = 512 };

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

/* Whether loops from position `from` on of node n's path split dim d. */
static bool splits(const mapper *k, int d, int n, int from) {
  return from < TF_MAX_PATH && k->p->over[n * k->p->wl->n_dims + d] >> from;
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

/* A range as a rank is: the sum of dims' ranges times coefficients, and of a number. */
typedef tf_beside_rank range;

static bool map_dim(mapper *k, int o, int d, int n, range *to);

/* Adds `coef` times a range.  False: too many terms. */
static bool add_range(range *to, int64_t coef, const range *one) {
  to->c += coef * one->c;
  if (to->n + one->n > TF_BESIDE_TERMS) return false;
  for (int i = 0; i < one->n; i++, to->n++) {
    to->term[to->n] = one->term[i];
    to->term[to->n].coef *= coef;
  }
  return true;
}

/* Fills the range that an index of op o reads below node n. */
static bool map_index(mapper *k, int o, const tf_index *ix, int n, range *to) {
  *to = (range){.c = ix->c};
  for (int i = 0; i < ix->n_terms; i++) {
    range one;
    if (ix->terms[i].coef &&
        (!map_dim(k, o, ix->terms[i].dim, n, &one) || !add_range(to, ix->terms[i].coef, &one)))
      return false;
  }
  return true;
}

/* Whether both ranges are the same at all settings. */
static bool same_range(const tf_beside_map *map, const range *a, const range *b) {
  bool same = a->c == b->c && a->n == b->n;
  for (int i = 0; i < a->n && same; i++) {
    const tf_beside_dim *x = &map->dim[a->term[i].dim], *y = &map->dim[b->term[i].dim];
    same = a->term[i].coef == b->term[i].coef &&
           (a->term[i].dim == b->term[i].dim ||
            (!has_loops(x) && !has_loops(y) && same_tiles(x, y) && x->extent == y->extent));
  }
  return same;
}

/* The range of rank r of op o's output that ops below node n read: if all read the same. */
static bool map_readers(mapper *k, int o, int r, int n, range *to) {
  bool any = false;
  TF_EACH_READ (k->p->facts, o, n, at) {
    range one;
    if (!map_index(k, at.op, &k->p->wl->ops[at.op].reads[at.ref].index[r], n, &one) ||
        (any && !same_range(k->map, &one, to)))
      return false;
    *to = one;
    any = true;
  }
  return any;
}

/* Fills the range of dim d of op o on entry to node n. */
static bool map_dim(mapper *k, int o, int d, int n, range *to) {
  const tf_range_from from = tf_range_source(k->p->facts, o, d, n);
  const int lead = k->p->lead[o], up = k->p->tree->nodes[lead].parent;
  tf_beside_dim one;
  if (--k->left < 0) return false;
  if (from.rule == TF_BY_READERS) return map_readers(k, o, from.source, n, to);
  if (from.rule == TF_BY_LEADER) return map_dim(k, from.source, d, n, to);
  memset(&one, 0, sizeof one);
  one.extent = one.tile[0] = k->p->wl->dims[d].extent;
  one.n_stages = 1;
  *to = (range){.n = 1, .term = {{.coef = 1}}};
  if (from.rule == TF_BY_LOOPS) {
    if (up >= 0 && !map_dim(k, o, d, up, to)) return false;
    if (!splits(k, d, n, k->p->path[lead].n) && up >= 0) return true;
    if (to->n != 1 || to->term[0].coef != 1) return false; /* the loops split a window */
    if (up >= 0) one = k->map->dim[to->term[0].dim];
    if (!add_stage(k, o, d, n, k->p->path[lead].n, &one)) return false;
  }
  to->term[0].dim = add_dim(k, &one);
  return to->term[0].dim >= 0;
}

/* Adds the dims that must not be empty for op o to have points at node n, as bits: its own, and
 * where it makes what others read, theirs. */
static bool map_works(mapper *k, int o, int n, uint32_t *dims) {
  const tf_op *op = &k->p->wl->ops[o];
  bool asks = false;
  for (int i = 0; i < op->n_dims; i++) {
    range one;
    if (!map_dim(k, o, op->dims[i], n, &one)) return false;
    for (int t = 0; t < one.n; t++)
      if (has_loops(&k->map->dim[one.term[t].dim])) *dims |= UINT32_C(1) << one.term[t].dim;
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
static bool map_rank(mapper *k, tf_touch t, int r, int n, range *to) {
  const tf_op *op = &k->p->wl->ops[t.op];
  return t.ref < 0 ? map_dim(k, t.op, op->dims[r], n, to)
                   : map_index(k, t.op, &op->reads[t.ref].index[r], n, to);
}

/* ---- slices --------------------------------------------------------------------------------- */

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
      range one;
      if (!map_rank(&k, s->touch[i], r, s->node, i ? &one : &out->rank[r]) ||
          (i && !same_range(out, &one, &out->rank[r])))
        return false;
    }
  }
  return drop_parts(out);
}
