/* The capacity curve of one op.
 *
 * A mapping runs an op as one loop nest.  For a tensor Z let p be the place just inside the
 * innermost loop that moves the chip's tile of Z.  The loops inside p run over a box of lengths
 * b[d].  Z's part of the box stays on chip during all of it, so the chip holds prod b[d], d
 * indexing Z, words of Z, and loads that tile T = prod ceil(L[d] / b[d]), d not indexing Z,
 * times.  The places of all tensors are in one nest, so their boxes are nested: for an order of the
 * tensors, from the outermost place in, the lengths never grow.  A dim that indexes Z should be
 * short in Z's box, one that does not should be long: so for a given order, each dim has a sequence
 * of short and long targets, and only where a short target is outside a long one is the length a
 * free variable.
 *
 * Where trip counts do not divide, the loop that moves Z, on a dim d of N = ceil(L[d] / b[d])
 * steps, may have a single step in its last round.  It does not move Z there, and the elements of
 * that step may be moved once instead of T times.  They are at most the L[d] - (N - 1) b[d] of the
 * last step; with fewer than three steps there is one round.
 *
 * Tensors that no memory holds are read at every point. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "search/bound/bound.h"

enum {
  MOST = 1 << 16,     /* most boxes tried for one order; if there are more, lengths are grouped into
                         ranges */
  MOST_ALL = 1 << 21, /* the same for all orders together */
  EACH = 2048,
  WIDTH = 32 /* up to this length every length is listed; beyond it, ranges 1/32 wide */
};

/* Candidate lengths, ascending: the least for each number of steps.  In a coarse list an entry
 * stands for a range. */
typedef struct {
  int n;
  int64_t lo[TF_B_VALUES], hi[TF_B_VALUES];
} values;

static void list_values(int64_t extent, values *v) {
  v->n = 0;
  for (int64_t len = 1;
       len <= extent && v->n < TF_B_VALUES;) { /* the least length of each number of steps */
    int64_t steps = (extent + len - 1) / len, last = v->n < EACH ? len : len + len / WIDTH;
    v->lo[v->n] = len;
    v->hi[v->n++] = last < extent ? last : extent;
    if (steps == 1) break;
    len = v->n <= EACH ? (extent + steps - 2) / (steps - 1) : last + 1;
  }
}

/* Merges every `by` neighbours into one range, which stays a lower bound: held words use the least
 * length of the range, moved words the greatest. */
static void coarsen(values *v, int by) {
  int n = 0;
  for (int i = 0; i < v->n; i += by) {
    int end = i + by - 1 < v->n ? i + by - 1 : v->n - 1;
    v->lo[n] = v->lo[i];
    v->hi[n++] = v->hi[end];
  }
  v->n = n;
}

/* The greatest share of z's elements that avoid reloading, wherever the loop that moves z is. */
static double saved_share(const tf_b_op *op, const tf_b_tensor *z, const int64_t *lo,
                          const int64_t *hi) {
  double most = 0;
  for (int d = 0; d < op->n_dims; d++) {
    int64_t n = tf_ceil_div(op->extent[d], lo[d]), least = tf_ceil_div(op->extent[d], hi[d]);
    if (!(z->dims >> d & 1) || n < 3) continue;
    double last = lo[d] == hi[d] ? (double)(op->extent[d] - (n - 1) * lo[d]) / (double)op->extent[d]
                                 : 1 / (double)(least < 3 ? 3 : least);
    most = fmax(most, last);
  }
  return most;
}

static double moves(const tf_b_op *op, const tf_b_tensor *z, const int64_t *lo, const int64_t *hi) {
  double times = 1;
  for (int d = 0; d < op->n_dims; d++)
    if (!(z->dims >> d & 1)) times *= (double)tf_ceil_div(op->extent[d], hi[d]);
  times -= (times - 1) * saved_share(op, z, lo, hi);
  return z->words * (z->out ? 2 * times - 1 : times);
}

/* Words of a set of tensors that no memory holds: one per point. */
static double direct_words(const tf_b_op *op, unsigned direct) {
  double words = 0;
  for (int i = 0; i < op->n; i++) {
    tf_b_tensor z = op->tensor[i];
    double points = 1;
    for (int d = 0; d < op->n_dims; d++)
      if (!(z.dims >> d & 1)) points *= (double)op->extent[d];
    if (direct >> i & 1) words += z.words * (z.out ? 2 * points - 1 : points);
  }
  return words;
}

/* ---- nested boxes --------------------------------------------------------------------------- */
typedef struct {
  const tf_b_op *op;
  tf_b_curve *out;
  int places, order[TF_B_TENSORS]; /* tensors that a memory holds, outermost place first */
  double direct;                   /* words of the others */
  double most;                     /* number of boxes to try */
  /* one free length: the places from .. to - 1 share it */
  int n_free, dim[TF_B_DIMS * 2], from[TF_B_DIMS * 2], to[TF_B_DIMS * 2];
  values *v;                                                        /* [n_free] */
  int64_t lo[TF_B_TENSORS][TF_B_DIMS], hi[TF_B_TENSORS][TF_B_DIMS]; /* [place] */
} nest;

static const tf_b_tensor *at(const nest *n, int place) { return &n->op->tensor[n->order[place]]; }
static bool is_short(const nest *n, int place, int d) { return at(n, place)->dims >> d & 1; }

static void fix_length(nest *n, int d, int from, int to, int64_t len) {
  for (int p = from; p < to; p++)
    n->lo[p][d] = n->hi[p][d] = len;
}

/* Finds the free lengths of dim d.  The outermost places whose target is long get the whole extent,
 * the innermost whose target is short get 1. */
static void find_free(nest *n, int d) {
  int places = n->places, p = 0, end = places;
  for (int i = 0; i < places; i++) /* no tiling outside of where the tensor stays */
    if (at(n, i)->on_chip && !is_short(n, i, d)) p = i + 1;
  while (p < places && !is_short(n, p, d))
    p++;
  fix_length(n, d, 0, p, n->op->extent[d]);
  while (end > p && is_short(n, end - 1, d))
    end--;
  fix_length(n, d, end, places, 1);
  while (p < end) { /* short targets and the long ones inside them share one length */
    int from = p;
    while (p < end && is_short(n, p, d))
      p++;
    while (p < end && !is_short(n, p, d))
      p++;
    n->dim[n->n_free] = d;
    n->from[n->n_free] = from;
    n->to[n->n_free++] = p;
  }
}

static double held(const tf_b_op *op, const tf_b_tensor *z, const int64_t *len) {
  double words = 1;
  for (int d = 0; d < op->n_dims; d++)
    if (z->dims >> d & 1) words *= (double)len[d];
  return words;
}

static void add_point(nest *n) {
  double capacity = 0, words = n->direct;
  for (int p = 0; p < n->places; p++) {
    const tf_b_tensor *z = at(n, p);
    capacity += held(n->op, z, n->lo[p]) * z->weight;
    words += moves(n->op, z, n->lo[p], n->hi[p]);
  }
  tf_b_add(n->out, capacity, words);
}

static void choose(nest *n, int k) {
  if (k == n->n_free) {
    add_point(n);
    return;
  }
  int d = n->dim[k];
  for (int i = 0; i < n->v[k].n; i++) {
    bool nested = n->from[k] == 0 || n->v[k].lo[i] <= n->hi[n->from[k] - 1][d];
    if (!nested) break;
    for (int p = n->from[k]; p < n->to[k]; p++) {
      n->lo[p][d] = n->v[k].lo[i];
      n->hi[p][d] = n->v[k].hi[i];
    }
    choose(n, k + 1);
  }
}

static void try_order(nest *n) {
  double boxes = 1;
  n->n_free = 0;
  for (int d = 0; d < n->op->n_dims; d++)
    find_free(n, d);
  n->v = malloc(((size_t)n->n_free + 1) * sizeof *n->v);
  if (!n->v) {
    n->out->failed = true;
    return;
  }
  for (int k = 0; k < n->n_free; k++) {
    list_values(n->op->extent[n->dim[k]], &n->v[k]);
    boxes *= n->v[k].n;
  }
  for (int by = 2; boxes > n->most; by = 2) {
    int most = 0;
    for (int k = 0; k < n->n_free; k++)
      if (n->v[k].n > n->v[most].n) most = k;
    boxes /= n->v[most].n;
    coarsen(&n->v[most], by);
    boxes *= n->v[most].n;
  }
  choose(n, 0);
  free(n->v);
}

static void permute(nest *n, int k) {
  if (k >= n->places || k >= TF_B_TENSORS) {
    try_order(n);
    return;
  }
  for (int i = k; i < n->places && i < TF_B_TENSORS; i++) {
    int a = n->order[k];
    n->order[k] = n->order[i], n->order[i] = a;
    permute(n, k + 1);
    a = n->order[k];
    n->order[k] = n->order[i], n->order[i] = a;
  }
}

static void nested(const tf_b_op *op, nest *n, unsigned direct) {
  bool whole = false;
  n->places = 0;
  for (int i = 0; i < op->n; i++) {
    if (!(direct >> i & 1)) n->order[n->places++] = i;
    whole |= (direct >> i & 1) &&
             op->tensor[i].on_chip; /* it stays on the chip, so some memory holds it */
  }
  if (whole) return;
  n->direct = direct_words(op, direct);
  permute(n, 0);
}

void tf_b_op_curve(const tf_b_op *op, tf_b_curve *out) {
  static const int orders[TF_B_TENSORS + 1] = {
      1, 2, 5, 16, 65, 326}; /* the number of ordered subsets of so many tensors */
  nest *n = calloc(1, sizeof *n);
  if (!n) {
    out->failed = true;
    return;
  }
  n->op = op;
  n->out = out;
  n->most = fmin(MOST, MOST_ALL / orders[op->n]);
  for (unsigned direct = 0; direct < 1u << op->n; direct++)
    nested(op, n, direct);
  free(n);
  tf_b_tidy(out);
}
