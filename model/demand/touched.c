/* Counts the elements of a tensor that the references to it touch. */
#include <stdlib.h>

#include "model/demand/demand.h"
#include "model/input/dims.h"

enum { MOST_REFS = 8, MOST_SETTINGS = 1 << 16, MOST_TOGETHER = 32 };

static int64_t times(int64_t a, int64_t b) {
  int64_t n;
  if (a == 0 || b == 0) return 0;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &n) ? -1 : n;
}

/* Elements of a box with gaps; -1: more than 2^63 - 1. */
static int64_t count(const tf_coords *part, int rank) {
  int64_t n = 1;
  for (int r = 0; r < rank; r++)
    if (part[r].n == 0) return 0;
  for (int r = 0; r < rank; r++)
    n = times(n, tf_coords_count(&part[r]));
  return n;
}

/* ---- ranks that move together -------------------------------------------------------------- */
/* A group of ranks that share dims, directly or through others, counted by enumeration of
 * settings. */
typedef struct {
  const tf_tensor *tensor;
  const tf_ref *ref;
  const tf_coords *dims; /* of the op */
  tf_arena *arena;
  int n_ranks, rank[MOST_TOGETHER], n_dims, dim[MOST_TOGETHER];
  int64_t n, *seen; /* distinct elements, each encoded as a number */
  int64_t at[MOST_TOGETHER];
} group;

static int index_of(const int *list, int n, int x) {
  int i = 0;
  while (i < n && list[i] != x)
    i++;
  return i < n ? i : -1;
}

/* Adds the ranks that index by the dim to the group; false if there are too many. */
static bool gather_ranks(group *g, int dim) {
  for (int r = 0; r < g->tensor->rank; r++)
    for (int u = 0; u < g->ref->index[r].n_terms; u++) {
      if (g->ref->index[r].terms[u].dim != dim || index_of(g->rank, g->n_ranks, r) >= 0) continue;
      if (g->n_ranks == MOST_TOGETHER) return false;
      g->rank[g->n_ranks++] = r;
    }
  return true;
}

static bool gather(group *g, int first) {
  g->n_dims = 0;
  g->n_ranks = 1;
  g->rank[0] = first;
  for (int i = 0; i < g->n_ranks; i++) {
    const tf_index *ix = &g->ref->index[g->rank[i]];
    for (int t = 0; t < ix->n_terms; t++) {
      if (index_of(g->dim, g->n_dims, ix->terms[t].dim) >= 0) continue;
      if (g->n_dims == MOST_TOGETHER) return false;
      g->dim[g->n_dims++] = ix->terms[t].dim;
      if (!gather_ranks(g, ix->terms[t].dim)) return false;
    }
  }
  return true;
}

static void note(group *g) {
  int64_t flat = 0;
  for (int i = 0; i < g->n_ranks; i++) {
    const tf_index *ix = &g->ref->index[g->rank[i]];
    int64_t x = ix->c, lo = g->tensor->lo[g->rank[i]], extent = g->tensor->extent[g->rank[i]];
    for (int k = 0; k < ix->n_terms; k++)
      x += ix->terms[k].coef * g->at[index_of(g->dim, g->n_dims, ix->terms[k].dim)];
    if (x < lo || x > lo + extent - 1) return;
    flat = flat * extent + (x - lo);
  }
  g->seen[g->n++] = flat;
}

static void each_setting(group *g, int k) {
  if (k == g->n_dims) {
    note(g);
    return;
  }
  const tf_coords *s = &g->dims[g->dim[k]];
  for (int i = 0; i < s->n; i++)
    for (int64_t j = 0; j < s->run[i].n; j++) {
      g->at[k] = s->run[i].lo + j * s->step;
      each_setting(g, k + 1);
    }
}

static int by_value(const void *pa, const void *pb) {
  const int64_t *a = pa, *b = pb;
  return (*a > *b) - (*a < *b);
}

/* The number of distinct elements along the ranks of the group; -1: it cannot be counted. */
static int64_t count_group(group *g) {
  double settings = 1;
  int64_t extents = 1, n = 0;
  for (int k = 0; k < g->n_dims; k++)
    settings *= (double)tf_coords_count(&g->dims[g->dim[k]]);
  for (int i = 0; i < g->n_ranks; i++)
    extents = times(extents, g->tensor->extent[g->rank[i]]);
  if (settings > MOST_SETTINGS || extents < 0) return -1;
  g->seen = TF_ARRAY(g->arena, int64_t, (size_t)settings + 1);
  if (!g->seen) return -1;
  g->n = 0;
  each_setting(g, 0);
  qsort(g->seen, (size_t)g->n, sizeof *g->seen, by_value);
  for (int64_t i = 0; i < g->n; i++)
    n += i == 0 || g->seen[i] != g->seen[i - 1];
  return n;
}

/* ---- one reference --------------------------------------------------------------------------- */
/* Counts one reference.  part: by rank, with dims that several ranks have fixed. */
static int64_t count_together(const tf_demand *d, int o, const tf_ref *ref, const tf_coords *part) {
  group g = {.tensor = &d->wl->tensors[ref->tensor],
             .ref = ref,
             .dims = tf_demand_dims(d, o),
             .arena = d->arena};
  int64_t n = 1;
  uint64_t done = 0;
  if (g.tensor->rank > 64) return count(part, g.tensor->rank);
  for (int r = 0; r < g.tensor->rank; r++) {
    if (done >> r & 1) continue;
    bool small = gather(&g, r);
    int64_t here = small && g.n_ranks > 1 ? count_group(&g) : -1, least = 1;
    for (int i = 0; i < g.n_ranks; i++) {
      done |= UINT64_C(1) << g.rank[i];
      least = times(least, tf_coords_count(&part[g.rank[i]]));
    }
    n = times(n, here >= 0 ? here : least);
  }
  return n;
}

/* ---- all references ------------------------------------------------------------------------- */
typedef struct {
  const tf_demand *d;
  int rank, n;
  tf_coords *part[MOST_REFS];
  bool exact;
  int64_t sum;
} joint;

/* Inclusion and exclusion: adds the intersections of references k .. with those chosen so far, with
 * alternating signs. */
static void include(joint *j, int k, const tf_coords *common, int chosen) {
  for (; k < j->n && j->exact; k++) {
    tf_coords *here = TF_ARRAY(j->d->arena, tf_coords, (size_t)j->rank + 1);
    if (!here) {
      j->exact = false;
      return;
    }
    for (int r = 0; r < j->rank; r++) {
      here[r] = common ? tf_coords_meet(j->d->arena, &common[r], &j->part[k][r]) : j->part[k][r];
      j->exact &= here[r].exact;
    }
    int64_t n = count(here, j->rank);
    j->exact &= n >= 0;
    if (n <= 0) continue;
    j->exact &= !__builtin_add_overflow(j->sum, chosen % 2 ? -n : n, &j->sum);
    include(j, k + 1, here, chosen + 1);
  }
}

/* Adds the part of a reference, unless it is there already. */
static void add_part(joint *j, tf_coords *part) {
  for (int i = 0; i < j->n; i++) {
    bool same = true;
    for (int r = 0; r < j->rank && same; r++)
      same = tf_coords_same(&j->part[i][r], &part[r]);
    if (same) return;
  }
  if (j->n < MOST_REFS) j->part[j->n++] = part;
}

/* Elements touched by a reference that moves with both of the mask's dims, if each has a rank of
 * its own; else 0. */
static int64_t count_band(const tf_demand *d, int o, const tf_ref *ref, const tf_coords *part) {
  const double pairs = tf_demanded_pairs(d, o);
  int64_t n = pairs < 0x1p53 ? (int64_t)pairs : 0;
  for (int r = 0; r < d->wl->tensors[ref->tensor].rank; r++) {
    const tf_index *ix = &ref->index[r];
    const bool mine = tf_index_coef(ix, d->mask.l) != 0 || tf_index_coef(ix, d->mask.q) != 0;
    const int dim = mine ? ix->terms[0].dim : 0;
    if (mine && (ix->n_terms != 1 || tf_coords_count(&part[r]) != tf_demanded(d, o, dim))) return 0;
    if (!mine) n = times(n, tf_coords_count(&part[r]));
  }
  return n;
}

int64_t tf_demand_touched(const tf_demand *d, int z) {
  const tf_workload *wl = d->wl;
  joint j = {.d = d, .rank = wl->tensors[z].rank, .exact = true};
  int64_t best = 0;
  for (int o = 0; o < wl->n_ops; o++)
    for (int k = 0; k < wl->ops[o].n_reads; k++) {
      const tf_ref *ref = &wl->ops[o].reads[k];
      tf_coords *part = TF_ARRAY(d->arena, tf_coords, (size_t)j.rank + 1);
      if (ref->tensor != z || !part || tf_demanded_points(d, o) <= 0) continue;
      bool apart = tf_demand_part(d, o, ref, part);
      const bool band = tf_demand_in_band(d, o, ref);
      int64_t n = band    ? apart ? count_band(d, o, ref, part) : 0
                  : apart ? count(part, j.rank)
                          : count_together(d, o, ref, part);
      if (n < 0) return -1;
      best = n > best ? n : best;
      if (apart && !band && n > 0) add_part(&j, part);
    }
  include(&j, 0, NULL, 0);
  return j.exact && j.sum > best ? j.sum : best;
}
