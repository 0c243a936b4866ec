/* One op's staircase.
 *
 * A mapping runs an op as one nest of loops.  For a tensor Z let p be the place just inside the innermost temporal loop that
 * moves what the chip holds of Z.  The loops inside p run over a box of lengths b[d] (spatial loops counted as inside: all
 * instances together).  Z's part of the box stays for all of it, so the chip holds  prod b[d], d indexing Z,  words
 * of Z, and moves Z  prod ceil(L[d] / b[d]), d not indexing Z,  times.  The places of all tensors lie on one nest, so their boxes are
 * nested: for an order of the tensors, from the outermost place in, the lengths never grow.  What indexes Z should be
 * short in its box, what does not should be long: in an order, each dim has a row of short and long wishes, and the only
 * lengths open are those where a short wish stands outside a long one.
 *
 * Tensors that no memory holds are read at every step of the units: their box is what these do at once, with no more points
 * than there are units, and the others' boxes are at least as long. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/bound.h"

enum {
  MOST = 1 << 16,    /* boxes of an order that are tried; more are taken in ranges */
  MOST_ONE = 1 << 19 /* boxes of a single memory; beyond, nested boxes are the bound */
};

/* Lengths that give different numbers of steps, ascending: the least for each number.  A coarse list stands for ranges. */
typedef struct {
  int n;
  int64_t lo[TF_B_VALUES], hi[TF_B_VALUES];
} values;

static void list_values(int64_t extent, values *v) {
  v->n = 0;
  for (int64_t len = 1; len <= extent;) { /* the least length of each number of steps */
    int64_t steps = (extent + len - 1) / len;
    if (v->n == TF_B_VALUES) { /* beyond: one range to the end */
      v->hi[TF_B_VALUES - 1] = extent;
      return;
    }
    v->lo[v->n] = v->hi[v->n] = len;
    v->n++;
    if (steps == 1) break;
    len = (extent + steps - 2) / (steps - 1);
  }
}

/* Every `by` neighbours become one range: held words count its least length, moves its greatest. */
static void coarsen(values *v, int by) {
  int n = 0;
  for (int i = 0; i < v->n; i += by) {
    int end = i + by - 1 < v->n ? i + by - 1 : v->n - 1;
    v->lo[n] = v->lo[i];
    v->hi[n++] = v->hi[end];
  }
  v->n = n;
}

static double moves(const tf_b_op *op, const tf_b_tensor *z, const int64_t *len) {
  double times = 1;
  for (int d = 0; d < op->n_dims; d++)
    if (!(z->dims >> d & 1)) times *= (double)((op->extent[d] + len[d] - 1) / len[d]);
  return z->words * (z->out ? 2 * times - 1 : times);
}

/* ---- what no memory holds ----------------------------------------------------------------------------- */
typedef struct {
  const tf_b_op *op;
  unsigned direct; /* tensors */
  int64_t len[TF_B_DIMS];
  double best;
} at_once;

/* Lengths of dims d .. of what the units do at once, with `room` points left. */
static void fill_units(at_once *u, int d, double room) {
  const tf_b_op *op = u->op;
  if (d == op->n_dims) {
    double words = 0;
    for (int z = 0; z < op->n; z++)
      if (u->direct >> z & 1) words += moves(op, &op->tensor[z], u->len);
    u->best = fmin(u->best, words);
    return;
  }
  bool useful = false; /* a dim that indexes all of them spares nothing */
  for (int z = 0; z < op->n; z++)
    useful |= (u->direct >> z & 1) && !(op->tensor[z].dims >> d & 1);
  int64_t before = 0;
  for (int64_t len = 1; len <= op->extent[d] && (double)len <= room;) {
    u->len[d] = len;
    fill_units(u, d + 1, room / (double)len);
    int64_t steps = (op->extent[d] + len - 1) / len;
    before = len;
    if (steps == 1 || !useful) break;
    len = (op->extent[d] + steps - 2) / (steps - 1);
    if (len <= before) break;
  }
}

/* Least words of a set of tensors that no memory holds. */
static double direct_words(const tf_b_op *op, unsigned direct) {
  at_once u = {.op = op, .direct = direct, .best = INFINITY};
  double words = 0, boxes = 1;
  if (!direct) return 0;
  for (int d = 0; d < op->n_dims; d++)
    boxes *= 2 * sqrt(fmin((double)op->extent[d], op->units));
  if (boxes < MOST_ONE || op->units == 1) {
    fill_units(&u, 0, op->units);
    return u.best;
  }
  for (int z = 0; z < op->n; z++) { /* each for itself: no word serves more points at once than there are units */
    double times = 1;
    for (int d = 0; d < op->n_dims; d++)
      if (!(op->tensor[z].dims >> d & 1)) times *= (double)op->extent[d];
    times = fmax(1, ceil(times / op->units));
    if (direct >> z & 1) words += op->tensor[z].words * (op->tensor[z].out ? 2 * times - 1 : times);
  }
  return words;
}

/* ---- nested boxes ----------------------------------------------------------------------------------- */
typedef struct {
  const tf_b_op *op;
  tf_b_stairs *out;
  int places, order[TF_B_TENSORS]; /* tensors that a memory holds, outermost place first */
  double direct;                   /* words of the others */
  int64_t floor[TF_B_DIMS];        /* lengths of what the units do at once: no box is shorter */
  int n_open, dim[TF_B_DIMS * 2], from[TF_B_DIMS * 2], to[TF_B_DIMS * 2]; /* open lengths: places from .. to - 1 share one */
  values *v;               /* [n_open] */
  int64_t lo[TF_B_TENSORS][TF_B_DIMS], hi[TF_B_TENSORS][TF_B_DIMS]; /* [place] */
} nest;

static const tf_b_tensor *at(const nest *n, int place) { return &n->op->tensor[n->order[place]]; }
static bool is_short(const nest *n, int place, int d) { return at(n, place)->dims >> d & 1; }

static void fix(nest *n, int d, int from, int to, int64_t len) {
  for (int p = from; p < to; p++)
    n->lo[p][d] = n->hi[p][d] = len;
}

/* Finds which lengths of dim d are open: outermost long wishes get all of it, innermost short ones 1. */
static void open_lengths(nest *n, int d) {
  int places = n->places, p = 0, end = places;
  for (int i = 0; i < places; i++) /* cut nowhere outside of where it stays */
    if (at(n, i)->whole && !is_short(n, i, d)) p = i + 1;
  while (p < places && !is_short(n, p, d))
    p++;
  fix(n, d, 0, p, n->op->extent[d]);
  while (end > p && is_short(n, end - 1, d))
    end--;
  fix(n, d, end, places, n->floor[d]);
  while (p < end) { /* short ones, then long ones: one length */
    int from = p;
    while (p < end && is_short(n, p, d))
      p++;
    while (p < end && !is_short(n, p, d))
      p++;
    n->dim[n->n_open] = d;
    n->from[n->n_open] = from;
    n->to[n->n_open++] = p;
  }
}

static double held(const tf_b_op *op, const tf_b_tensor *z, const int64_t *len) {
  double words = 1;
  for (int d = 0; d < op->n_dims; d++)
    if (z->dims >> d & 1) words *= (double)len[d];
  return words;
}

static void weigh(nest *n) {
  double capacity = 0, words = n->direct;
  for (int p = 0; p < n->places; p++) {
    const tf_b_tensor *z = at(n, p);
    capacity += held(n->op, z, n->lo[p]) * z->weight;
    words += moves(n->op, z, n->hi[p]);
  }
  tf_b_add(n->out, capacity, words);
}

static void choose(nest *n, int k) {
  if (k == n->n_open) {
    weigh(n);
    return;
  }
  int d = n->dim[k];
  for (int i = 0; i < n->v[k].n; i++) {
    if (n->v[k].hi[i] < n->floor[d]) continue;
    bool nested = n->from[k] == 0 || n->v[k].lo[i] <= n->hi[n->from[k] - 1][d];
    if (!nested) break;
    for (int p = n->from[k]; p < n->to[k]; p++) {
      n->lo[p][d] = n->v[k].lo[i] > n->floor[d] ? n->v[k].lo[i] : n->floor[d];
      n->hi[p][d] = n->v[k].hi[i];
    }
    choose(n, k + 1);
  }
}

static void try_order(nest *n) {
  double boxes = 1;
  n->n_open = 0;
  for (int d = 0; d < n->op->n_dims; d++)
    open_lengths(n, d);
  n->v = malloc(((size_t)n->n_open + 1) * sizeof *n->v);
  if (!n->v) {
    n->out->failed = true;
    return;
  }
  for (int k = 0; k < n->n_open; k++) {
    list_values(n->op->extent[n->dim[k]], &n->v[k]);
    boxes *= n->v[k].n;
  }
  for (int by = 2; boxes > MOST; by = 2) {
    int most = 0;
    for (int k = 0; k < n->n_open; k++)
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

/* What the units do at once, to within a factor of 2 along each dim: shortest for what the boxes must hold, longest for
 * what is moved.  With no more than one unit, or with too many dims, it is one point, and `least` is all that is known. */
static void by_floors(nest *n, unsigned direct, double least, int d, double room) {
  const tf_b_op *op = n->op;
  if (d == op->n_dims) {
    int64_t most[TF_B_DIMS];
    n->direct = 0;
    for (int e = 0; e < op->n_dims; e++)
      most[e] = 2 * n->floor[e] - 1 < op->extent[e] ? 2 * n->floor[e] - 1 : op->extent[e];
    for (int z = 0; z < op->n; z++)
      if (direct >> z & 1) n->direct += moves(op, &op->tensor[z], most);
    n->direct = fmax(n->direct, least);
    permute(n, 0);
    return;
  }
  for (n->floor[d] = 1; n->floor[d] <= op->extent[d] && (double)n->floor[d] <= room; n->floor[d] *= 2) {
    int64_t here = n->floor[d];
    by_floors(n, direct, least, d + 1, room / (double)here);
    n->floor[d] = here;
  }
}

static void nested(const tf_b_op *op, nest *n, unsigned direct) {
  bool whole = false;
  n->places = 0;
  for (int i = 0; i < op->n; i++) {
    if (!(direct >> i & 1)) n->order[n->places++] = i;
    whole |= (direct >> i & 1) && op->tensor[i].whole; /* it stays, so some memory holds it */
  }
  if (whole) return;
  double least = direct_words(op, direct);
  for (int d = 0; d < op->n_dims; d++)
    n->floor[d] = 1;
  n->direct = least;
  if (direct == 0 || n->places == 0 || op->units == 1 || op->n_dims > 5)
    permute(n, 0);
  else
    by_floors(n, direct, least, 0, op->units);
}

/* ---- one box ------------------------------------------------------------------------------------------- */
/* A single memory: one box, whose lengths are free, the loops outside in some order, some tensors held by no memory. */
typedef struct {
  const tf_b_op *op;
  tf_b_stairs *out;
  values *v;
  int64_t len[TF_B_DIMS], steps[TF_B_DIMS];
  unsigned direct; /* tensors that no memory holds */
  double words;    /* theirs */
} box;

/* Least moves over the orders of the loops outside: only the innermost one that turns lets tensors stay that it does not
 * move, and behind it the next, as long as these lack it, too. */
static double least_moves(const box *b, unsigned left, unsigned moved, double so_far) {
  double best = INFINITY;
  const tf_b_op *op = b->op;
  unsigned turning = 0;
  for (int d = 0; d < op->n_dims; d++)
    if ((left >> d & 1) && b->steps[d] > 1) turning |= 1u << d;
  unsigned all = (1u << op->n) - 1;
  if (!turning || (moved | b->direct) == all) {
    double words = so_far;
    for (int z = 0; z < op->n; z++) {
      if (!((moved | b->direct) >> z & 1)) words += op->tensor[z].words;
    }
    return words;
  }
  for (int d = 0; d < op->n_dims; d++) { /* d is the next loop outwards */
    if (!(turning >> d & 1)) continue;
    double words = so_far;
    unsigned now = moved;
    for (int z = 0; z < op->n; z++) {
      const tf_b_tensor *t = &op->tensor[z];
      if ((moved | b->direct) >> z & 1 || !(t->dims >> d & 1)) continue;
      double times = 1; /* from here out every loop counts that does not index it */
      for (int e = 0; e < op->n_dims; e++)
        if ((left >> e & 1) && e != d && !(t->dims >> e & 1)) times *= (double)b->steps[e];
      words += t->words * (t->out ? 2 * times - 1 : times);
      now |= 1u << z;
    }
    words = least_moves(b, left & ~(1u << d), now, words);
    best = words < best ? words : best;
  }
  return best;
}

static void weigh_box(box *b) {
  double words = b->words, capacity = 0;
  for (int d = 0; d < b->op->n_dims; d++)
    b->steps[d] = (b->op->extent[d] + b->len[d] - 1) / b->len[d];
  for (int z = 0; z < b->op->n; z++)
    if (!(b->direct >> z & 1)) capacity += held(b->op, &b->op->tensor[z], b->len) * b->op->tensor[z].weight;
  tf_b_add(b->out, capacity, least_moves(b, ~0u, 0, words));
}

static void choose_box(box *b, int d) {
  if (d == b->op->n_dims) {
    weigh_box(b);
    return;
  }
  unsigned all = ~0u;
  for (int z = 0; z < b->op->n; z++)
    all &= b->direct >> z & 1 ? ~0u : b->op->tensor[z].dims;
  int n = all >> d & 1 ? 1 : b->v[d].n; /* what indexes all tensors has length 1 */
  for (int i = 0; i < n; i++) {
    b->len[d] = b->v[d].lo[i];
    choose_box(b, d + 1);
  }
}

/* False where there are too many. */
static bool one_box(const tf_b_op *op, tf_b_stairs *out) {
  box b = {.op = op, .out = out, .v = calloc((size_t)op->n_dims + 1, sizeof *b.v)};
  double boxes = 1;
  if (!b.v) return false;
  for (int d = 0; d < op->n_dims; d++) {
    list_values(op->extent[d], &b.v[d]);
    unsigned all = ~0u;
    for (int z = 0; z < op->n; z++)
      all &= op->tensor[z].dims;
    boxes *= all >> d & 1 ? 1 : b.v[d].n;
    if (b.v[d].n == TF_B_VALUES) boxes = INFINITY;
  }
  bool few = boxes <= MOST_ONE && op->n_dims <= 5;
  unsigned sets = op->units == 1 ? 1u << op->n : 1; /* with more units only where memory holds all: boxes else */
  for (b.direct = 0; few && b.direct < sets; b.direct++) {
    b.words = direct_words(op, b.direct);
    choose_box(&b, 0);
  }
  free(b.v);
  return few;
}

bool tf_b_op_stairs(const tf_b_op *op, tf_b_stairs *out) {
  bool attained = false, whole = false;
  for (int z = 0; z < op->n; z++)
    whole |= op->tensor[z].whole;
  if (op->one_box && !whole) attained = one_box(op, out);
  bool done = attained && op->units == 1;
  nest *n = done ? NULL : calloc(1, sizeof *n);
  if (n) {
    n->op = op;
    n->out = out;
    for (unsigned direct = attained ? 1 : 0; direct < 1u << op->n; direct++)
      nested(op, n, direct);
    free(n);
  } else if (!done) {
    out->failed = true;
  }
  tf_b_tidy(out);
  return done;
}
