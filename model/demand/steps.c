/* Lower bounds on the steps that ops take on a mesh of units.
 *
 * One op.  A mapping gives each dim d a number of instances on each axis, x[d] and y[d]; their
 * products are at most the mesh.  If the op's tiles are the boxes of one grid, dim by dim, it runs
 * at least prod ceil(E[d] / (x[d] y[d])) steps: the tiles cover the E[d] values of d, and each
 * takes whole steps.  The minimum is found by branch and bound over the dims, shortest first; the
 * last takes all that is left of the mesh.
 *
 * Several ops.  In a tree, a set of ops runs as Seq or Shar of two parts (times add up) or as Para
 * or Pipe of two (the longer one counts, and the units are split), and so on for each part.  So the
 * least time of a set is a step function of its number of units, composed of those of its parts.
 * There, n units spread as any product up to n, whatever the axes.
 *
 * Each op takes additional steps to fill its unit's pipeline: they add up where times do. */
#include "model/demand/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/demand/on_mesh.h"
#include "model/input/dims.h"

enum {
  DIMS = 16,
  NODES = 20000, /* of the branch and bound */
  OPS = 4,       /* most ops of which step functions are made */
  SETS = 1 << OPS
};

typedef struct {
  const tf_demand *d;
  double mesh[2], units;
  double fill; /* additional steps of an op */
  tf_grids grids;
} search;

/* ---- ops whose tiles are a grid ------------------------------------------------------------- */
enum { NO_GRID = -1 };

static int *leader_at(const tf_grids *g, int o, int i) {
  return &g->leader[o * g->d->wl->n_dims + i];
}

/* The leader of rank i of the tensor that a reference of the reader reads: the only dim that moves
 * it. */
static int led_by(const tf_grids *g, int reader, const tf_ref *ref, int i) {
  const tf_index *ix = &ref->index[i];
  int dim = -1;
  for (int k = 0; k < ix->n_terms; k++) {
    const bool moves = g->d->wl->dims[ix->terms[k].dim].extent > 1 || ix->n_terms == 1;
    if (moves && (dim >= 0 || ix->terms[k].coef != 1)) return NO_GRID;
    if (moves) dim = ix->terms[k].dim;
  }
  const int slot = dim < 0 || ix->c != 0 ? -1 : tf_op_slot(&g->d->wl->ops[reader], dim);
  return slot < 0 ? NO_GRID : *leader_at(g, reader, slot);
}

/* The dim whose loops tile dim i of op o in a scope that it shares with its readers; NO_GRID: the
 * readers differ, or their tiles may overlap or leave gaps. */
static int find_leader(const tf_grids *g, int o, int i) {
  const tf_workload *wl = g->d->wl;
  const tf_op *op = &wl->ops[o];
  const tf_tensor *made = &wl->tensors[op->out];
  int leader = op->dims[i];
  bool first = true;
  if (tf_demanded(g->d, o, leader) != wl->dims[leader].extent) return NO_GRID;
  if (i >= op->n_out_dims) return leader;
  if (tf_is_viewed(wl, op->out)) return NO_GRID;
  for (int c = 0; c < made->n_consumers; c++)
    for (int r = 0; r < wl->ops[made->consumers[c]].n_reads; r++) {
      const tf_ref *ref = &wl->ops[made->consumers[c]].reads[r];
      if (ref->tensor != op->out) continue;
      const int of = led_by(g, made->consumers[c], ref, i);
      if (!first && of != leader) return NO_GRID;
      leader = of;
      first = false;
    }
  return leader;
}

bool tf_grids_of(const tf_demand *d, tf_grids *g) {
  const tf_workload *wl = d->wl;
  *g = (tf_grids){d, malloc(((size_t)wl->n_ops * (size_t)wl->n_dims + 1) * sizeof *g->leader)};
  for (int k = wl->n_ops - 1; k >= 0 && g->leader; k--)
    for (int i = 0; i < wl->ops[wl->topo[k]].n_dims; i++)
      *leader_at(g, wl->topo[k], i) = find_leader(g, wl->topo[k], i);
  return g->leader;
}

bool tf_on_grid(const tf_grids *g, int o) {
  const tf_op *op = &g->d->wl->ops[o];
  if (g->d->masked || op->n_dims > DIMS) return false;
  for (int i = 0; i < op->n_dims; i++) {
    const int leader = *leader_at(g, o, i);
    bool own = leader != NO_GRID;
    for (int k = 0; k < i; k++)
      own &= *leader_at(g, o, k) != leader;
    if (!own) return false;
  }
  return true;
}

/* Whether every mapping tiles the op by boxes of one grid; fills in the extents of its dims longer
 * than 1. */
static bool on_grid(const search *s, int o, int *n, double *extent) {
  const tf_op *op = &s->d->wl->ops[o];
  *n = 0;
  if (!tf_on_grid(&s->grids, o)) return false;
  for (int i = 0; i < op->n_dims; i++)
    if (s->d->wl->dims[op->dims[i]].extent > 1)
      extent[(*n)++] = (double)s->d->wl->dims[op->dims[i]].extent;
  return true;
}

/* ---- one op on the whole mesh --------------------------------------------------------------- */
typedef struct {
  int n, nodes;                          /* nodes left */
  double extent[DIMS], behind[DIMS + 1]; /* points of the dims from each on */
  double best;
} spread;

static void sort(int n, double *extent) {
  for (int i = 1; i < n; i++)
    for (int k = i; k > 0 && extent[k] < extent[k - 1]; k--) {
      const double e = extent[k];
      extent[k] = extent[k - 1], extent[k - 1] = e;
    }
}

static void spread_dim(spread *s, int k, int64_t x, int64_t y, double steps) {
  const double e = s->extent[k];
  if (s->nodes-- <= 0) return;
  if (k == s->n - 1) {
    s->best = fmin(s->best, steps * ceil(e / ((double)x * (double)y)));
    return;
  }
  for (tf_spread way = {(int64_t)e, x, y, 0, 0}; tf_spread_next(&way);) {
    const int64_t left_x = x / way.on_x, left_y = y / way.on_y;
    const double now = steps * ceil(e / ((double)way.on_x * (double)way.on_y));
    if (now * fmax(1, s->behind[k + 1] / ((double)left_x * (double)left_y)) < s->best)
      spread_dim(s, k + 1, left_x, left_y, now);
  }
}

static double least_of_one(const search *s, int o) {
  spread of = {.nodes = NODES, .best = INFINITY};
  const double least = tf_demanded_points(s->d, o) / s->units;
  if (!on_grid(s, o, &of.n, of.extent)) return least + s->fill;
  if (of.n == 0) return 1 + s->fill;
  sort(of.n, of.extent);
  of.behind[of.n] = 1;
  for (int k = of.n - 1; k >= 0; k--)
    of.behind[k] = of.behind[k + 1] * of.extent[k];
  spread_dim(&of, 0, (int64_t)s->mesh[0], (int64_t)s->mesh[1], 1);
  return (of.nodes >= 0 ? fmax(of.best, least) : least) + s->fill;
}

/* ---- step functions ------------------------------------------------------------------------- */
/* steps[b]: the least with fewer units than EDGE^(b + 1), and at most all units.  Units are kept as
 * logarithms. */
#define EDGE 1.002
typedef struct {
  int n;
  double *low;         /* [n] EDGE^b */
  double *steps[SETS]; /* [set of ops][n] */
  double *units,
      *before; /* [n] for the dims spread so far: least logarithm of units, and least steps */
  double *with_dim[2]; /* [n] the same with one more dim */
} step_function;

static int bin_of(const step_function *st, double log_units) {
  const int b = (int)floor(log_units / log(EDGE) + 1e-9);
  return b < st->n ? b : st->n - 1;
}

/* All spreads so far, times a dim of extent e on any number of instances. */
static void add_dim(const search *s, step_function *st, double e) {
  const double most = log(s->units) + 1e-9;
  for (int b = 0; b < st->n; b++)
    st->with_dim[0][b] = st->with_dim[1][b] = INFINITY;
  double on = fmin(e, s->units);
  while (on >= 1) {
    const double steps = ceil(e / on);
    on = ceil(e / steps); /* the fewest instances with so many steps */
    const double more = log(on);
    for (int b = 0; b < st->n; b++) {
      if (isinf(st->before[b])) continue;
      if (st->units[b] + more > most) break;
      const int to = bin_of(st, st->units[b] + more);
      st->with_dim[0][to] = fmin(st->with_dim[0][to], st->units[b] + more);
      st->with_dim[1][to] = fmin(st->with_dim[1][to], st->before[b] * steps);
    }
    on--;
  }
  memcpy(st->units, st->with_dim[0], (size_t)st->n * sizeof *st->units);
  memcpy(st->before, st->with_dim[1], (size_t)st->n * sizeof *st->before);
}

static void steps_of_one(const search *s, step_function *st, int o, double *steps) {
  double extent[DIMS];
  int n;
  const bool grid = on_grid(s, o, &n, extent);
  for (int b = 0; b < st->n; b++)
    st->units[b] = st->before[b] = INFINITY;
  st->units[0] = 0, st->before[0] = 1;
  for (int k = 0; k < n && grid; k++)
    add_dim(s, st, extent[k]);
  for (int b = 0; b < st->n; b++) {
    const double least = tf_demanded_points(s->d, o) / fmin(s->units, st->low[b] * EDGE);
    steps[b] = grid ? fmin(st->before[b] + s->fill, b ? steps[b - 1] : INFINITY) : least + s->fill;
  }
}

/* The least time of a Para of two sets on the units of bin b: one gets at least those of bin i, the
 * other the rest. */
static double side_by_side(const search *s, const step_function *st, int one, int other, int b) {
  const double units = fmin(s->units, st->low[b] * EDGE), *a = st->steps[one],
               *c = st->steps[other];
  int lo = 0, hi = b; /* the first bin with which `one` takes no longer than `other` */
  while (lo < hi) {
    const int mid = (lo + hi) / 2;
    const double left = units - st->low[mid];
    if (left >= 1 && a[mid] > c[bin_of(st, log(left))])
      lo = mid + 1;
    else
      hi = mid;
  }
  double best = INFINITY;
  for (int i = lo > 0 ? lo - 1 : 0; i <= lo; i++)
    if (units - st->low[i] >= 1)
      best = fmin(best, fmax(a[i], c[bin_of(st, log(units - st->low[i]))]));
  return best;
}

static void join(const search *s, step_function *st, int set) {
  for (int b = 0; b < st->n; b++)
    st->steps[set][b] = INFINITY;
  for (int part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set)
    for (int b = 0; b < st->n; b++) {
      const double after = st->steps[part][b] + st->steps[set ^ part][b];
      st->steps[set][b] =
          fmin(st->steps[set][b], fmin(after, side_by_side(s, st, part, set ^ part, b)));
    }
}

/* The least of all n ops if some run side by side; whole[set]: of each set if none do. */
static double least_joined(const search *s, const step_function *st, int n, double *whole) {
  for (int set = 1; set < 1 << n; set++)
    for (int part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
      whole[set] = fmin(whole[set], whole[part] + whole[set ^ part]);
      whole[set] = fmin(whole[set], side_by_side(s, st, part, set ^ part, st->n - 1));
    }
  return whole[(1 << n) - 1];
}

static bool make_step_functions(const search *s, int n, step_function *st, double **all) {
  st->n = (int)floor(log(s->units) / log(EDGE) + 1e-9) + 1;
  const size_t length = (size_t)st->n;
  double *at = *all = malloc(((size_t)(1 << n) + 5) * length * sizeof *at);
  if (!at) return false;
  st->low = at, st->units = at + length, st->before = at + 2 * length;
  st->with_dim[0] = at + 3 * length, st->with_dim[1] = at + 4 * length;
  for (int set = 0; set < 1 << n; set++)
    st->steps[set] = at + (5 + (size_t)set) * length;
  for (int b = 0; b < st->n; b++)
    st->low[b] = exp(b * log(EDGE)) * (1 - 1e-9);
  return true;
}

/* `after`: the time of each op with all units. */
static double least_of_few(const search *s, const int *ops, int n, const double *after) {
  step_function st;
  double *all, whole[SETS];
  if (!make_step_functions(s, n, &st, &all)) return -1;
  for (int set = 1; set < 1 << n; set++) {
    whole[set] = INFINITY;
    if (set & (set - 1)) {
      join(s, &st, set);
      continue;
    }
    const int k = __builtin_ctz((unsigned)set);
    whole[set] = after[k];
    steps_of_one(s, &st, ops[k], st.steps[set]);
  }
  const double least = least_joined(s, &st, n, whole);
  free(all);
  return least;
}

double tf_least_steps(const tf_demand *d, const bool *mine, const double mesh[2], double fill,
                      double known) {
  search s = {d, {mesh[0], mesh[1]}, mesh[0] * mesh[1], fill, {0}};
  int ops[OPS] = {0}, n = 0;
  double after[OPS], points = 0, seq = 0, longest = 0;
  if (!tf_grids_of(d, &s.grids)) return -1;
  for (int o = 0; o < d->wl->n_ops; o++) {
    if (!mine[o] || tf_demanded_points(d, o) <= 0) continue;
    const double one = least_of_one(&s, o);
    points += tf_demanded_points(d, o);
    seq += one;
    longest = fmax(longest, one);
    if (n < OPS) ops[n] = o, after[n] = one;
    n++;
  }
  double least = n ? fmax(points / s.units + fill, longest) : 0;
  if (n <= OPS && n > 1 && seq > fmax(least, known) * (1 + 1e-12)) {
    const double few = least_of_few(&s, ops, n, after);
    least = few < 0 ? few : fmax(least, few);
  }
  free(s.grids.leader);
  return least;
}
