/* First loads and last stores of several ops (of one op: exposed.c).
 *
 * The leaves of a tree are in the order of execution, and a reader comes after its producers.  So
 * the first leaf is an op that reads only inputs, and the last one makes an output of the workload.
 * Control reaches the first leaf through the first child of every scope, and nothing runs before
 * it: so the proof of exposed.c for an op's first load applies there.  It applies to the last
 * leaf's last store, too, as a Tile hides no store, whatever runs after or beside it.
 *
 * In a tree, the ops of a set run as a Seq or Shar of two parts, A before B, whose times add up: A
 * has the set's first load, B its last store.  Or they run as a Para or Pipe of two, A being the
 * first child, and the longer one counts; A has the first load, B the last store, and they split
 * the units.  No op of A needs one of B.  Parts are split further in the same way. Ops on other
 * units take additional time, or none.
 *
 * With a whole mesh an op counts as on its sides, mesh by mesh (levels.c).  Two ops beside each
 * other are on disjoint rectangles of one mesh, which a line separates: each has a part of one side
 * of it, and the whole of all others.  Of three, a line separates one from two, as any three
 * disjoint rectangles can be separated so.  Further in, and with more ops, n units spread as any
 * product up to n. */
#include "model/demand/ends.h"

#include <math.h>
#include <stdlib.h>

#include "model/demand/ended.h"
#include "model/demand/steps.h"
#include "tileflow/model.h"

enum { OPS = 4, SETS = 1 << OPS, UNITS = 4096 /* most units of which step functions are made */ };
enum {
  PARTED = 3 /* most ops that a line separates */,
  PARTS = 64 /* most parts of a side whose bounds are cached */
};

typedef struct {
  const tf_arch *a;
  const tf_demand *d;
  int u, n, units;
  int op[OPS];
  unsigned needs[OPS]; /* those of the ops that it depends on, as bits */
  bool grid[OPS];
  bool rooms; /* bounds by mesh */
  tf_room room;
  double *kept; /* cached times of ops in parts of the meshes */
  double whole[SETS][TF_END_SIDES];
  double *by[SETS][TF_END_SIDES]; /* [units] with at most k + 1 units */
} ends;

/* ---- which ops are first and last ----------------------------------------------------------- */
/* Which of the ops the i-th depends on, directly or not.  False without memory. */
static bool find_needs(ends *e, int i) {
  const tf_workload *wl = e->d->wl;
  bool *needed = calloc((size_t)wl->n_ops + 1, sizeof *needed);
  if (!needed) return false;
  needed[e->op[i]] = true;
  for (int k = wl->n_ops - 1; k >= 0; k--) {
    const tf_op *op = &wl->ops[wl->topo[k]];
    for (int r = 0; r < op->n_reads && needed[wl->topo[k]]; r++)
      if (wl->tensors[op->reads[r].tensor].producer >= 0)
        needed[wl->tensors[op->reads[r].tensor].producer] = true;
  }
  for (int k = 0; k < e->n; k++)
    e->needs[i] |= k != i && needed[e->op[k]] ? 1u << k : 0;
  free(needed);
  return true;
}

static bool reads_inputs_alone(const tf_workload *wl, const tf_op *op) {
  for (int r = 0; r < op->n_reads; r++)
    if (wl->tensors[op->reads[r].tensor].producer >= 0) return false;
  return true;
}

/* The ends that count: those where only these ops can be first, or last. */
static int sides_of(const tf_demand *d, const bool *mine) {
  const tf_workload *wl = d->wl;
  int sides = TF_END_LOADS | TF_END_STORES;
  for (int o = 0; o < wl->n_ops; o++) {
    const bool counts = mine[o] && tf_demanded_points(d, o) > 0;
    if (!counts && reads_inputs_alone(wl, &wl->ops[o])) sides &= ~TF_END_LOADS;
    if (!counts && !wl->tensors[wl->ops[o].out].n_consumers) sides &= ~TF_END_STORES;
  }
  return sides;
}

/* ---- one op --------------------------------------------------------------------------------- */
static double one_op_time(const ends *e, int i, double units) {
  const tf_unit *u = &e->a->units[e->u];
  return tf_demanded_points(e->d, e->op[i]) / (units * u->rate) + u->pipeline;
}

static double with_mesh(const ends *e, int i, int sides) {
  const tf_end end = {.op = e->op[i], .unit = e->u, .sides = sides};
  return fmax(one_op_time(e, i, tf_bounds_units(e->a, e->u)),
              e->grid[i] ? tf_end_on_mesh(e->a, e->d, &end) : 0);
}

static void with_units(ends *e, int i, int sides, double most) {
  const tf_end end = {.op = e->op[i], .unit = e->u, .sides = sides};
  double *by = e->by[1 << i][sides];
  const bool known = e->grid[i] && tf_end_by_units(e->a, e->d, &end, e->units, most, by);
  for (int k = 0; k < e->units; k++)
    by[k] = known ? fmax(by[k], one_op_time(e, i, k + 1)) : one_op_time(e, i, k + 1);
}

/* ---- sets ----------------------------------------------------------------------------------- */
/* Whether no op of the set a needs one of b. */
static bool may_precede(const ends *e, unsigned a, unsigned b) {
  for (int i = 0; i < e->n; i++)
    if (a >> i & 1 && e->needs[i] & b) return false;
  return true;
}

/* The least time of two step functions in units side by side on n units. */
static double beside(const double *a, const double *b, int n) {
  int lo = 1, hi = n - 1; /* the fewest units with which a takes no longer than b */
  while (lo < hi) {
    const int mid = (lo + hi) / 2;
    if (a[mid - 1] > b[n - mid - 1])
      lo = mid + 1;
    else
      hi = mid;
  }
  double best = INFINITY;
  for (int k = lo > 1 ? lo - 1 : lo; k <= lo && k < n; k++)
    best = fmin(best, fmax(a[k - 1], b[n - k - 1]));
  return best;
}

/* Cycles of an op with a part of a side of the mesh that Tiles of memory t spread over; monotonic
 * in the part only where all of them are known. */
static double in_part(ends *e, unsigned op, int sides, int t, int axis, int64_t part) {
  const int i = __builtin_ctz(op);
  const tf_end end = {.op = e->op[i], .unit = e->u, .sides = sides};
  const int64_t at = (((t * 2 + axis) * OPS + i) * TF_END_SIDES + sides) * PARTS + part;
  double *kept = part < PARTS ? &e->kept[at] : NULL;
  if (kept && *kept > 0) return *kept;
  const double units = (double)e->units * (double)part / (double)e->room.side[t][axis];
  tf_room room = e->room;
  room.side[t][axis] = part;
  const double least = e->rooms && e->grid[i] ? tf_end_in_room(e->a, e->d, &end, &room) : 0;
  e->rooms &= !e->grid[i] || least > 0;
  if (kept) *kept = fmax(one_op_time(e, i, units), least);
  return fmax(one_op_time(e, i, units), least);
}

static int size_of(unsigned set) { return __builtin_popcount(set); }

/* The same for one op or two.  A line may separate these on any mesh: they count as beside each
 * other on as many units. */
static double of_part(ends *e, unsigned set, int sides, int t, int axis, int64_t part) {
  const int load = sides & TF_END_LOADS, store = sides & TF_END_STORES;
  const int units = (int)(e->units * part / e->room.side[t][axis]);
  double best = INFINITY;
  if (size_of(set) == 1) return in_part(e, set, sides, t, axis, part);
  for (unsigned a = (set - 1) & set; a; a = (a - 1) & set) {
    const unsigned b = set ^ a;
    if (!may_precede(e, a, b)) continue;
    best = fmin(best, in_part(e, a, load, t, axis, part) + in_part(e, b, store, t, axis, part));
    if (units > 1) best = fmin(best, beside(e->by[a][load], e->by[b][store], units));
  }
  return best;
}

/* The least time of two sets on the two sides of a line; 0: no bound is known. */
static double beside_line(ends *e, unsigned a, int a_sides, unsigned b, int b_sides) {
  double best = INFINITY;
  for (int t = 0; t <= e->a->units[e->u].below; t++)
    for (int axis = 0; axis < 2; axis++) {
      const int64_t all = e->room.side[t][axis];
      int64_t lo = 1, hi = all - 1; /* the least part with which a takes no longer than b */
      while (lo < hi && e->rooms) {
        const int64_t mid = (lo + hi) / 2;
        if (of_part(e, a, a_sides, t, axis, mid) > of_part(e, b, b_sides, t, axis, all - mid))
          lo = mid + 1;
        else
          hi = mid;
      }
      for (int64_t k = lo > 1 ? lo - 1 : lo; k <= lo && k < all; k++)
        best = fmin(best, fmax(of_part(e, a, a_sides, t, axis, k),
                               of_part(e, b, b_sides, t, axis, all - k)));
    }
  return e->rooms ? best : 0;
}

/* The least time of two or three ops that a line separates.  Of two, the one that may come first
 * has the first load.  Of three, one or two are on either side, and the first or last op may be on
 * either. */
static double on_lines(ends *e, unsigned set, int sides) {
  double best = INFINITY;
  for (unsigned a = (set - 1) & set; a && e->rooms; a = (a - 1) & set)
    for (int own = 0; own < TF_END_SIDES; own++) {
      const bool pair = size_of(set) == 2;
      if ((own & sides) != own ||
          (pair && (own != (sides & TF_END_LOADS) || !may_precede(e, a, set ^ a))))
        continue;
      if (!pair && size_of(a) == 1) continue; /* the same as with a and b exchanged */
      best = fmin(best, beside_line(e, a, own, set ^ a, sides & ~own));
    }
  return e->rooms ? best : 0;
}

/* in_turn, apart: the least of the splits so far. */
static void join(ends *e, unsigned a, unsigned b, int sides, double *in_turn, double *apart) {
  const int load = sides & TF_END_LOADS, store = sides & TF_END_STORES;
  const double *x = e->by[a][load], *y = e->by[b][store];
  double *by = e->by[a | b][sides];
  *in_turn = fmin(*in_turn, e->whole[a][load] + e->whole[b][store]);
  *apart = fmin(*apart, beside(x, y, e->units));
  for (int k = 0; k < e->units && (a | b) != (1u << e->n) - 1; k++)
    by[k] = fmin(by[k], fmin(x[k] + y[k], beside(x, y, k + 1)));
}

static void join_set(ends *e, unsigned set, int sides) {
  double in_turn = INFINITY, apart = INFINITY;
  for (int k = 0; k < e->units; k++)
    e->by[set][sides][k] = INFINITY;
  for (unsigned a = (set - 1) & set; a; a = (a - 1) & set)
    if (may_precede(e, a, set ^ a)) join(e, a, set ^ a, sides, &in_turn, &apart);
  if (e->rooms && size_of(set) <= PARTED && apart < in_turn)
    apart = fmax(apart, on_lines(e, set, sides));
  e->whole[set][sides] = fmin(in_turn, apart);
}

static void join_all(ends *e) {
  for (unsigned set = 1; set < 1u << e->n; set++)
    for (int sides = 0; sides < TF_END_SIDES && size_of(set) > 1; sides++)
      join_set(e, set, sides);
}

/* Whether another of the ops needs the i-th. */
static bool is_needed(const ends *e, int i) {
  for (int k = 0; k < e->n; k++)
    if (e->needs[k] >> i & 1) return true;
  return false;
}

/* Upper limit of the bound: the ops in turn, each with the whole mesh. */
static double in_turn(const ends *e, int sides) {
  double all = 0, load = INFINITY, store = INFINITY;
  for (int i = 0; i < e->n; i++) {
    const double *whole = e->whole[1 << i];
    all += whole[0];
    if (!e->needs[i]) load = fmin(load, whole[sides & TF_END_LOADS] - whole[0]);
    if (!is_needed(e, i)) store = fmin(store, whole[sides & TF_END_STORES] - whole[0]);
  }
  return all + load + store;
}

static bool sum_sets(ends *e, double most) {
  double *all = malloc((size_t)TF_END_SIDES * ((size_t)1 << e->n) * (size_t)e->units * sizeof *all),
         *at = all;
  e->kept = calloc((size_t)2 * (TF_ENDED_INNER + 1) * OPS * TF_END_SIDES * PARTS, sizeof *e->kept);
  if (!all || !e->kept) {
    free(e->kept);
    free(all);
    return false;
  }
  for (int set = 0; set < 1 << e->n; set++)
    for (int sides = 0; sides < TF_END_SIDES; sides++, at += e->units)
      e->by[set][sides] = at;
  for (int i = 0; i < e->n; i++)
    for (int sides = 0; sides < TF_END_SIDES; sides++)
      with_units(e, i, sides, most);
  join_all(e);
  free(e->kept);
  free(all);
  return true;
}

double tf_least_ends(const tf_arch *a, const tf_demand *d, int u, const bool *mine, double known) {
  ends e = {.a = a, .d = d, .u = u};
  tf_grids grids;
  const double units = tf_bounds_units(a, u);
  const int sides = tf_ends_show(a, d) ? sides_of(d, mine) : 0;
  for (int o = 0; o < d->wl->n_ops; o++) {
    if (!mine[o] || tf_demanded_points(d, o) <= 0) continue;
    if (e.n < OPS) e.op[e.n] = o;
    e.n++;
  }
  if (a->overlap == TF_OVERLAP_PERFECT || e.n < 2 || e.n > OPS || units < 2 || units > UNITS)
    return 0;
  e.units = (int)units;
  e.rooms = tf_room_of(a, u, &e.room);
  if (!tf_grids_of(d, &grids)) return -1;
  bool ok = true;
  for (int i = 0; i < e.n && ok; i++) {
    e.grid[i] = tf_on_grid(&grids, e.op[i]);
    ok = find_needs(&e, i);
    for (int s = 0; s < TF_END_SIDES && ok; s++)
      e.whole[1 << i][s] = with_mesh(&e, i, s);
  }
  free(grids.leader);
  const double most = in_turn(&e, sides);
  if (!ok || most <= known) return ok ? 0 : -1;
  double worst = 0;
  for (int i = 0; i < e.n; i++)
    worst += e.whole[1 << i][TF_END_SIDES - 1];
  if (!sum_sets(&e, worst)) return -1;
  return e.whole[(1 << e.n) - 1][sides];
}
