/* The dims that a slice depends on, down to those that loops split of whole extents: see beside.h.
 */
#include <string.h>

#include "model/cost/general/beside.h"

/* A range as a rank is: the sum of dims' ranges times coefficients, and of a number. */
typedef tf_beside_rank range;

/* What was found so far: of dim d of op o at node n the range; of an op (dim -1) the dims that must
 * not be empty. */
enum { MOST_FOUND = 96 };
typedef struct {
  int o, d, n;
  uint32_t works;
  range range;
} found;

typedef struct {
  const struct tf_model *m;
  const tf_plan *p;
  tf_beside_map *map;
  int n_found;
  found found[MOST_FOUND];
} mapper;

static const found *look_up(const mapper *k, int o, int d, int n) {
  for (int i = 0; i < k->n_found; i++)
    if (k->found[i].o == o && k->found[i].d == d && k->found[i].n == n) return &k->found[i];
  return NULL;
}

/* False: no room. */
static bool keep(mapper *k, int o, int d, int n, uint32_t works, const range *r) {
  if (k->n_found == MOST_FOUND) return false;
  found *to = &k->found[k->n_found++];
  to->o = o, to->d = d, to->n = n;
  to->works = works;
  if (r) to->range = *r;
  return true;
}

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
        same_loops(o->spatial, d->spatial, d->n_spatial))
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
static bool same_range(const range *a, const range *b) {
  bool same = a->c == b->c && a->n == b->n;
  for (int i = 0; i < a->n && same; i++)
    same = a->term[i].coef == b->term[i].coef && a->term[i].dim == b->term[i].dim;
  return same;
}

static bool map_works(mapper *k, int o, int n, uint32_t *dims);

/* Adds what a reader asks, unless another asks the same; works: the dims of which none is empty
 * where they read.  False: too many, or one reads while another does not. */
static bool add_reader(mapper *k, int o, int n, const range *one, uint32_t *works,
                       tf_beside_hull *to) {
  uint32_t its;
  bool known = false;
  if (!map_works(k, o, n, &its)) return false;
  for (int f = 0; f < to->n; f++)
    known |= same_range(one, &to->of[f]);
  if (known) return true;
  if (to->n == TF_BESIDE_FORMS || (to->n && its != *works)) return false;
  *works = its;
  to->of[to->n++] = *one;
  return true;
}

/* The range of rank r of op o's output that ops below node n read. */
static bool map_readers(mapper *k, int o, int r, int n, range *to) {
  const tf_tensor *z = &k->p->wl->tensors[k->p->wl->ops[o].out];
  tf_beside_hull all = {.z = z, .clamps = z->pad[r] > 0, .r = r};
  uint32_t works = 0;
  TF_EACH_READ (k->p->facts, o, n, at) {
    range one;
    if (!map_index(k, at.op, &k->p->wl->ops[at.op].reads[at.ref].index[r], n, &one) ||
        !add_reader(k, at.op, n, &one, &works, &all))
      return false;
  }
  *to = all.of[0];
  if (all.n == 1 && !all.clamps) return true;
  if (!all.n || k->map->n_hulls == TF_BESIDE_HULLS) return false;
  *to = (range){.n = 1, .term = {{.dim = TF_BESIDE_DIMS + k->map->n_hulls, .coef = 1}}};
  k->map->hull[k->map->n_hulls++] = all;
  return true;
}

uint32_t tf_beside_under(const tf_beside_map *map, int dim) {
  if (dim < TF_BESIDE_DIMS) return UINT32_C(1) << dim;
  if (dim >= TF_BESIDE_PART) {
    const tf_beside_part *s = &map->part[dim - TF_BESIDE_PART];
    uint32_t all = UINT32_C(1) << s->dim | UINT32_C(1) << (dim - TF_BESIDE_PART + TF_BESIDE_DIMS);
    for (int i = 0; i < s->of.n; i++)
      all |= tf_beside_under(map, s->of.term[i].dim);
    return all;
  }
  const tf_beside_hull *h = &map->hull[dim - TF_BESIDE_DIMS];
  uint32_t all = 0;
  for (int f = 0; f < h->n; f++)
    for (int i = 0; i < h->of[f].n; i++)
      all |= tf_beside_under(map, h->of[f].term[i].dim);
  return all;
}

/* The same for a hull. */
static bool hull_moves(const tf_beside_map *map, int hull, int dim, int64_t *by) {
  const tf_beside_hull *h = &map->hull[hull];
  bool alike = true;
  *by = 0;
  if (!(tf_beside_under(map, TF_BESIDE_DIMS + hull) >> dim & 1)) return true;
  for (int f = 0; f < h->n && alike; f++) {
    int64_t one;
    alike = tf_beside_moves(map, &h->of[f], dim, &one) && (!f || one == *by);
    *by = one;
  }
  return alike && !h->clamps;
}

bool tf_beside_moves(const tf_beside_map *map, const tf_beside_rank *r, int dim, int64_t *by) {
  bool alike = true;
  *by = 0;
  for (int i = 0; i < r->n; i++) {
    int64_t one = r->term[i].dim == dim;
    if (r->term[i].dim >= TF_BESIDE_PART) {
      const tf_beside_part *s = &map->part[r->term[i].dim - TF_BESIDE_PART];
      alike &= tf_beside_moves(map, &s->of, dim, &one);
      one += s->dim == dim;
    } else if (r->term[i].dim >= TF_BESIDE_DIMS)
      alike &= hull_moves(map, r->term[i].dim - TF_BESIDE_DIMS, dim, &one);
    *by += r->term[i].coef * one;
  }
  return alike;
}

/* The part of a range that loops of dim d to node n, from position `from` on, split. */
static bool split_range(mapper *k, int o, int d, int n, int from, range *to) {
  tf_beside_map *map = k->map;
  tf_beside_dim one;
  memset(&one, 0, sizeof one);
  one.n_stages = 1;
  if (map->n_parts == TF_BESIDE_PARTS || !add_stage(k, o, d, n, from, &one)) return false;
  one.extent = one.tile[0];
  for (int g = 0; g < one.n; g++)
    one.extent += (one.loop[g].trip - 1) * one.loop[g].step;
  for (int g = 0; g < one.n_spatial; g++)
    one.extent += (one.spatial[g].trip - 1) * one.spatial[g].step;
  const int dim = add_dim(k, &one);
  if (dim < 0) return false;
  map->dim[dim].alone = true;
  map->part[map->n_parts] = (tf_beside_part){*to, dim};
  *to = (range){.n = 1, .term = {{.dim = TF_BESIDE_PART + map->n_parts++, .coef = 1}}};
  return true;
}

/* Finds the range of dim d of op o on entry to node n. */
static bool find_dim(mapper *k, int o, int d, int n, range *to) {
  const tf_range_from from = tf_range_source(k->p->facts, o, d, n);
  const int lead = k->p->lead[o], up = k->p->tree->nodes[lead].parent;
  tf_beside_dim one;
  if (from.rule == TF_BY_READERS) return map_readers(k, o, from.source, n, to);
  if (from.rule == TF_BY_LEADER) return map_dim(k, from.source, d, n, to);
  memset(&one, 0, sizeof one);
  one.extent = one.tile[0] = k->p->wl->dims[d].extent;
  one.n_stages = 1;
  *to = (range){.n = 1, .term = {{.coef = 1}}};
  if (from.rule == TF_BY_LOOPS) {
    if (up >= 0 && !map_dim(k, o, d, up, to)) return false;
    if (!splits(k, d, n, k->p->path[lead].n) && up >= 0) return true;
    if (to->n != 1 || to->term[0].coef != 1 || to->term[0].dim >= TF_BESIDE_DIMS)
      return split_range(k, o, d, n, k->p->path[lead].n, to); /* of a window */
    if (up >= 0) one = k->map->dim[to->term[0].dim];
    if (!add_stage(k, o, d, n, k->p->path[lead].n, &one)) return false;
  }
  to->term[0].dim = add_dim(k, &one);
  return to->term[0].dim >= 0;
}

static bool map_dim(mapper *k, int o, int d, int n, range *to) {
  const found *was = look_up(k, o, d, n);
  if (was) *to = was->range;
  return was || (find_dim(k, o, d, n, to) && keep(k, o, d, n, 0, to));
}

/* The dims of which none is empty where some of several ops have points: those of one, if the
 * others need these and more. */
static bool join_works(bool any, uint32_t one, uint32_t *all) {
  const uint32_t both = one & *all;
  if (any && both != one && both != *all) return false;
  *all = any ? both : one;
  return true;
}

/* Finds the dims that must not be empty for op o to have points at node n, as bits: its own, and
 * where it makes what others read, theirs. */
static bool find_works(mapper *k, int o, int n, uint32_t *dims) {
  const tf_op *op = &k->p->wl->ops[o];
  const int up = k->p->tree->nodes[k->p->lead[o]].parent;
  uint32_t all = 0;
  bool asks = false;
  *dims = 0;
  for (int i = 0; i < op->n_dims; i++) {
    range one;
    if (!map_dim(k, o, op->dims[i], n, &one)) return false;
    for (int t = 0; t < one.n; t++)
      for (uint32_t left = tf_beside_under(k->map, one.term[t].dim); left; left &= left - 1)
        if (__builtin_ctz(left) >= TF_BESIDE_DIMS || has_loops(&k->map->dim[__builtin_ctz(left)]))
          *dims |= left & -left;
  }
  if (tf_plan_leads(k->p, o, n)) {
    if (up >= 0 && !map_works(k, o, up, &all)) return false;
    *dims |= all;
    return true;
  }
  TF_EACH_READ (k->p->facts, o, n, at) {
    uint32_t its;
    if (!map_works(k, at.op, n, &its) || !join_works(asks, its, &all)) return false;
    asks = true;
  }
  *dims |= all;
  return asks;
}

static bool map_works(mapper *k, int o, int n, uint32_t *dims) {
  const found *was = look_up(k, o, -1, n);
  if (was) *dims = was->works;
  return was || (find_works(k, o, n, dims) && keep(k, o, -1, n, *dims, NULL));
}

/* Fills rank r of what a reference touches. */
static bool map_rank(mapper *k, tf_touch t, int r, int n, range *to) {
  const tf_op *op = &k->p->wl->ops[t.op];
  return t.ref < 0 ? map_dim(k, t.op, op->dims[r], n, to)
                   : map_index(k, t.op, &op->reads[t.ref].index[r], n, to);
}

/* ---- slices --------------------------------------------------------------------------------- */

static bool used(const tf_beside_map *map, int dim) {
  bool any = false;
  for (int f = 0; f < map->n_forms; f++)
    for (int r = 0; r < map->n_ranks; r++)
      for (int i = 0; i < map->rank[f][r].n; i++)
        any |= tf_beside_under(map, map->rank[f][r].term[i].dim) >> dim & 1;
  return any;
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

static void drop(tf_beside_dim *d) {
  d->n = d->n_spatial = 0;
  d->n_stages = 1;
  d->tile[0] = d->extent;
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
      drop(x);
    }
  return true;
}

/* Leaves dims without loops that matter only where more have points than touch the slice. */
static void drop_others(tf_beside_map *map, uint32_t works) {
  for (int i = 0; i < map->n_dims; i++)
    if (!(works >> i & 1)) drop(&map->dim[i]);
}

/* Adds how a reference touches the ranks, unless another does so, too. */
static bool add_form(mapper *k, tf_touch t, int n) {
  tf_beside_map *to = k->map;
  range own[TF_BESIDE_DIMS];
  bool ok = true, known = false;
  for (int r = 0; r < to->n_ranks && ok; r++)
    ok = map_rank(k, t, r, n, &own[r]);
  for (int f = 0; f < to->n_forms && ok && !known; f++) {
    known = true;
    for (int r = 0; r < to->n_ranks; r++)
      known &= same_range(&own[r], &to->rank[f][r]);
  }
  if (known || !ok) return ok;
  if (to->n_forms == TF_BESIDE_FORMS) return false;
  memcpy(to->rank[to->n_forms++], own, (size_t)to->n_ranks * sizeof own[0]);
  return true;
}

bool tf_beside_map_of(const struct tf_model *m, const tf_slice *s, tf_beside_map *out) {
  const tf_tensor *z = &m->plan->wl->tensors[s->tensor];
  mapper k;
  uint32_t works = 0;
  bool alike = true;
  k.m = m;
  k.p = m->plan;
  k.map = out;
  k.n_found = 0;
  out->n_dims = out->n_hulls = out->n_parts = out->n_forms = 0;
  out->n_ranks = z->rank;
  if (out->n_ranks > TF_BESIDE_DIMS) return false;
  for (int i = 0; i < s->n_touch; i++) {
    uint32_t its;
    if (!map_works(&k, s->touch[i].op, s->node, &its)) return false;
    alike &= !i || its == works;
    if (!join_works(i > 0, its, &works) || !add_form(&k, s->touch[i], s->node)) return false;
  }
  if (out->n_forms > 1 && (!alike || tf_is_padded(z))) return false;
  for (uint32_t left = works >> TF_BESIDE_DIMS; left; left &= left - 1) {
    if (out->n_ranks == TF_BESIDE_DIMS) return false;
    for (int f = 0; f < out->n_forms; f++)
      out->rank[f][out->n_ranks] =
          (range){.n = 1, .term = {{.dim = TF_BESIDE_PART + __builtin_ctz(left), .coef = 1}}};
    out->n_ranks++;
  }
  drop_others(out, works);
  return drop_parts(out);
}
