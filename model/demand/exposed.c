/* First loads and last stores of an op.
 *
 * Theorem.  Let a workload have one op, without a mask, on one kind of unit, and the machine have
 * `overlap: double-buffer` or `none`.  A mapping runs dim d, of E[d] values, in q[d] steps
 * (settings of the temporal loops), in the first of which w[d] values are worked on at once.  Then,
 * if all steps take q = q[0] q[1] ..:
 *
 * 1. w[d] >= ceil(E[d] / q[d]).  No step works on more values than the first, whose end is clipped
 * least. The w fit on the mesh: w[d] <= x[d] y[d], and the products of the x and of the y are at
 * most its sides.
 * 2. The first step works on w[Z] different words of a tensor Z: the product over its ranks of the
 * different coordinates.  An index that adds up dims has at least the sum of their w[d], less one
 * for each but the first (sums of two sets of integers); coordinates outside of the tensor, at most
 * as many as it can ever reach there, are not loaded.  If some memory inside of the outermost holds
 * Z, these words are all among those that the outermost such Tile takes in, or gives back, in its
 * own first step.  They pass one port, the outermost memory's, whatever the number of instances,
 * and nothing hides them (SEMANTICS D18): the Tile takes its child's time, plus these w[Z] words at
 * that port's width.  A Tile adds the loads of all its tensors and their stores, and Tiles further
 * out add theirs.
 * 3. If no memory holds Z, each step reads (or updates) its words there: in all |Z| times the q[d]
 * of the dims that Z does not have, as each value of a dim is worked on in one of its steps; |Z|
 * the words that any execution touches.  The op takes at least the time of these at that port.
 *
 * So with the held tensors H the run takes at least
 *
 *      max(q / rate, port(Z not in H)) + pipeline + sum of w[Z] / width, Z in H,
 *
 * and at least the port's time for all words.  The bound is the minimum over all H, q and meshes.
 * Tensors of unhandled form (several references, a dim in two ranks, another home) count as no
 * words. Of several ops, ends.c says whose loads and stores count. */
#include "model/demand/exposed.h"

#include <math.h>

#include "model/demand/ended.h"
#include "model/demand/on_mesh.h"

enum {
  DIMS = TF_ENDED_DIMS,
  NODES = 100000,
  LOOKS = 400000 /* most spreads of all dims that are tried: less than a second */
};

typedef tf_ended_part part;

typedef struct {
  tf_ended op;
  int nodes, looks;
  double steps[DIMS], wide[DIMS]; /* q and w of the dims chosen so far */
  double best;
  double floor;     /* lower limit of the search; 0: not known */
  double *by_units; /* [units - 1] the least with exactly so many; NULL: on the mesh */
} search;

/* ---- one spread ----------------------------------------------------------------------------- */
static double port(const tf_memory *m, double in, double back) {
  if (m->one_port) return (in + back) / m->read_bw;
  return fmax(in / m->read_bw, back / m->write_bw);
}

/* Words that are read and updated if no memory holds the tensor. */
static void direct(const search *s, const part *z, double *in, double *back) {
  double words = z->words;
  for (int d = 0; d < s->op.n; d++)
    if (!(z->dims >> d & 1)) words *= s->steps[d];
  *in += z->weight * (z->out ? words - z->words : words);
  *back += z->out ? z->weight * words : 0;
}

/* The number of different coordinates of a rank in the first step. */
static double coordinates(const search *s, const part *z, int r) {
  double n = 1;
  for (int d = 0; d < s->op.n; d++)
    if (z->rank[r] >> d & 1) n += s->wide[d] - 1;
  return fmax(0, n - z->outside[r]);
}

/* Exposed time if some memory holds it. */
static double exposed(const search *s, const part *z) {
  double words = z->weight;
  for (int r = 0; r < z->n_ranks; r++)
    words *= coordinates(s, z, r);
  return words / (z->out ? s->op.memory->write_bw : s->op.memory->read_bw);
}

/* The least over the sets of held tensors. */
static double least_held(const search *s, double steps) {
  double best = INFINITY;
  for (unsigned held = 0; held < 1u << s->op.n_parts; held++) {
    double in = 0, back = 0, all_in = 0, all_back = 0, alone = 0;
    for (int z = 0; z < s->op.n_parts; z++) {
      const part *p = &s->op.parts[z];
      if (held >> z & 1) {
        alone += exposed(s, p);
        *(p->out ? &all_back : &all_in) += p->weight * p->words;
      } else {
        direct(s, p, &in, &back);
      }
    }
    const double time = fmax(steps / s->op.rate, port(s->op.memory, in, back)) + s->op.fill + alone;
    best = fmin(best,
                s->op.alone ? fmax(time, port(s->op.memory, in + all_in, back + all_back)) : time);
  }
  return best;
}

/* ---- enumeration of spreads ----------------------------------------------------------------- */
static int64_t parts_of(int64_t n, int64_t by) { return (n + by - 1) / by; }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void spread_dim(search *s, int k, int64_t x, int64_t y, double steps);

/* Tries dim k on up to `most` instances, from the fewest steps on, while that may be the minimum;
 * the other dims have x by y. */
static void step_dim(search *s, int k, int64_t most, int64_t x, int64_t y, double steps) {
  const int64_t e = s->op.extent[k];
  for (int64_t wide = least(e, most); wide >= 1; wide--) {
    const int64_t q = parts_of(e, wide);
    const double now = steps * (double)q;
    wide = parts_of(e, q); /* the fewest with so many steps */
    if (s->best <= s->floor || s->looks <= 0) return;
    if (now * fmax(1, s->op.behind[k + 1] / ((double)x * (double)y)) / s->op.rate + s->op.fill >=
        s->best)
      return;
    s->steps[k] = (double)q, s->wide[k] = (double)wide;
    spread_dim(s, k + 1, x, y, now);
  }
}

static void spread_dim(search *s, int k, int64_t x, int64_t y, double steps) {
  if (k == s->op.n) {
    s->best = fmin(s->best, least_held(s, steps));
    s->looks--;
    return;
  }
  if (s->nodes-- <= 0) return;
  if (k == s->op.n - 1) {
    step_dim(s, k, x * y, 1, 1, steps);
    return;
  }
  for (tf_spread way = {s->op.extent[k], x, y, 0, 0}; tf_spread_next(&way);)
    step_dim(s, k, way.on_x * way.on_y, x / way.on_x, y / way.on_y, steps);
}

/* Tries dim k on up to `left` units, whatever the axes. */
static void spread_units(search *s, int k, int64_t used, int64_t left, double steps) {
  if (k == s->op.n) {
    s->by_units[used - 1] = fmin(s->by_units[used - 1], least_held(s, steps));
    return;
  }
  if (s->nodes-- <= 0) return;
  const int64_t e = s->op.extent[k];
  for (int64_t wide = least(e, left); wide >= 1; wide--) {
    const int64_t q = parts_of(e, wide);
    const double now = steps * (double)q;
    wide = parts_of(e, q);
    if (now / s->op.rate + s->op.fill > s->best) return;
    if (now * s->op.behind[k + 1] / (double)(left / wide) / s->op.rate + s->op.fill > s->best)
      continue;
    s->steps[k] = (double)q, s->wide[k] = (double)wide;
    spread_units(s, k + 1, used * wide, left / wide, now);
  }
}

/* ---- the op --------------------------------------------------------------------------------- */
static bool peers(const tf_arch *a) {
  for (int l = 0; l < a->n_memories; l++)
    if (a->memories[l].peers) return true;
  return false;
}

static bool views(const tf_workload *wl) {
  for (int z = 0; z < wl->n_tensors; z++)
    if (wl->tensors[z].view_of) return true;
  return false;
}

bool tf_ends_show(const tf_arch *a, const tf_demand *d) {
  return a->overlap != TF_OVERLAP_PERFECT && !d->masked && !peers(a) && !views(d->wl);
}

static bool begin_search(search *s, const tf_arch *a, const tf_demand *d, const tf_end *e) {
  *s = (search){.nodes = NODES, .looks = LOOKS, .best = INFINITY};
  return tf_ended_of(a, d, e, &s->op);
}

/* All words of the only op pass the port, whatever is held. */
static double all_words(const search *s) {
  double in = 0, back = 0;
  for (int z = 0; z < s->op.n_parts && s->op.alone; z++)
    *(s->op.parts[z].out ? &back : &in) += s->op.parts[z].weight * s->op.parts[z].words;
  return port(s->op.memory, in, back);
}

double tf_end_on_mesh(const tf_arch *a, const tf_demand *d, const tf_end *e) {
  search s;
  int64_t x = a->units[e->unit].mesh[0], y = a->units[e->unit].mesh[1];
  for (int l = 1; l <= a->units[e->unit].below; l++)
    x *= a->memories[l].mesh[0], y *= a->memories[l].mesh[1];
  tf_room room;
  const double least = tf_room_of(a, e->unit, &room) ? tf_end_in_room(a, d, e, &room) : 0;
  if (least > 0 || !begin_search(&s, a, d, e)) return least;
  s.floor = all_words(&s);
  spread_dim(&s, 0, x, y, 1);
  return s.nodes >= 0 && s.looks > 0 && isfinite(s.best) ? s.best : 0;
}

bool tf_end_by_units(const tf_arch *a, const tf_demand *d, const tf_end *e, int units, double most,
                     double *least_of) {
  search s;
  if (!begin_search(&s, a, d, e)) return false;
  s.best = most, s.by_units = least_of;
  for (int k = 0; k < units; k++)
    least_of[k] = INFINITY;
  spread_units(&s, 0, 1, units, 1);
  for (int k = 1; k < units; k++)
    least_of[k] = fmin(least_of[k], least_of[k - 1]);
  return s.nodes >= 0;
}

double tf_least_exposed(const tf_arch *a, const tf_demand *d, int u, bool again) {
  const tf_end both = {.op = 0, .unit = u, .sides = TF_END_LOADS | TF_END_STORES, .reloads = again};
  return d->wl->n_ops == 1 && tf_ends_show(a, d) ? tf_end_on_mesh(a, d, &both) : 0;
}
