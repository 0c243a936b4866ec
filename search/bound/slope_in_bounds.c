#include "search/bound/slope_in_bounds.h"

#include <math.h>

#include "model/input/dims.h"
#include "model/input/reader.h"

enum { MOST_SETTINGS = 1 << 16 };

/* ---- points ---------------------------------------------------------------------------------- */
/* Enumerates the values of all dims of an index but the longest. */
typedef struct {
  const tf_coords *of; /* [dim] */
  const tf_index *ix;
  tf_arena *arena;
  int longest;    /* of ix->terms */
  int64_t lo, hi; /* range of the tensor */
  double in;      /* values of the dims whose index is in the range */
} settings;

static void count_in(settings *s, int t, int64_t x) {
  if (t == s->ix->n_terms) {
    tf_coords at = tf_coords_scale(s->arena, &s->of[s->ix->terms[s->longest].dim],
                                   s->ix->terms[s->longest].coef);
    tf_coords in = tf_coords_clip(s->arena, &at, s->lo - x, s->hi - x);
    s->in += (double)tf_coords_count(&in);
    return;
  }
  const tf_coords *c = &s->of[s->ix->terms[t].dim];
  if (t == s->longest) {
    count_in(s, t + 1, x);
    return;
  }
  for (int i = 0; i < c->n; i++)
    for (int64_t k = 0; k < c->run[i].n; k++)
      count_in(s, t + 1, x + s->ix->terms[t].coef * (c->run[i].lo + k * c->step));
}

/* The share of the values of the index's dims for which the index is in lo .. hi; 0 where there are
 * too many to enumerate. */
static double share_in(const tf_coords *of, const tf_index *ix, int64_t lo, int64_t hi) {
  settings s = {.of = of, .ix = ix, .lo = lo, .hi = hi};
  double all = 1, others;
  if (ix->n_terms == 0) return ix->c >= lo && ix->c <= hi;
  for (int t = 0; t < ix->n_terms; t++) {
    all *= (double)tf_coords_count(&of[ix->terms[t].dim]);
    if (tf_coords_count(&of[ix->terms[t].dim]) > tf_coords_count(&of[ix->terms[s.longest].dim]))
      s.longest = t;
  }
  if (all <= 0) return 0;
  others = all / (double)tf_coords_count(&of[ix->terms[s.longest].dim]);
  s.arena = others <= MOST_SETTINGS ? tf_arena_new() : NULL;
  if (s.arena) count_in(&s, 0, ix->c);
  tf_arena_free(s.arena);
  return s.in / all;
}

static uint64_t dims_of(const tf_op *op, const tf_index *ix) {
  uint64_t dims = 0;
  for (int t = 0; t < ix->n_terms; t++)
    dims |= UINT64_C(1) << tf_op_slot(op, ix->terms[t].dim);
  return dims;
}

/* Indices without common dims are independent, so their shares multiply.  Otherwise, and where a
 * mask leaves out points, the losses are summed. */
double slope_in_bounds(const tf_demand *d, int o) {
  const tf_op *op = &d->wl->ops[o];
  double share = 1;
  uint64_t met = 0;
  for (int i = 0; i < op->n_reads; i++) {
    const tf_tensor *t = &d->wl->tensors[op->reads[i].tensor];
    for (int r = 0; r < t->rank; r++) {
      const tf_index *ix = &op->reads[i].index[r];
      double in = share_in(tf_demand_dims(d, o), ix, t->lo[r], t->lo[r] + t->extent[r] - 1);
      if (in >= 1) continue;
      share = met & dims_of(op, ix) ? fmax(0, share - (1 - in)) : share * in;
      met |= dims_of(op, ix);
    }
  }
  const double points = tf_demanded_points(d, o);
  double box = 1;
  for (int k = 0; k < op->n_dims; k++)
    box *= (double)tf_demanded(d, o, op->dims[k]);
  return fmax(0, points < box ? points - box * (1 - share) : points * share) * (1 - 1e-12);
}

/* ---- reads of a whole reduction ------------------------------------------------------------- */
typedef struct {
  const tf_workload *wl;
  const tf_op *op;
  uint64_t varies, fixed; /* sets of the op's dims, in its order.  varies: those that take all their
                             values; fixed: reduced dims with a chosen value */
  int64_t at[TF_MAX_OP_DIMS];
} fibre;

static int64_t floor_div(int64_t a, int64_t b) {
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}

/* Chooses a value of dim in 0 .. extent - 1 with lo <= c * value <= hi, if there is one. */
static void choose(fibre *f, int dim, int64_t c, int64_t lo, int64_t hi) {
  int64_t extent = f->wl->dims[dim].extent, from = c > 0 ? lo : -hi, to = c > 0 ? hi : -lo,
          by = c > 0 ? c : -c;
  from = -floor_div(-from, by);
  to = floor_div(to, by);
  from = from < 0 ? 0 : from;
  to = to > extent - 1 ? extent - 1 : to;
  const int slot = tf_op_slot(f->op, dim);
  f->at[slot] = from <= to ? from + (to - from) / 2 : (extent - 1) / 2;
  f->fixed |= UINT64_C(1) << slot;
}

/* Checks one rank: the sum of the varying dims, and of the fixed ones. */
static bool rank_inside(fibre *f, const tf_tensor *t, int r, const tf_index *ix) {
  int64_t min = ix->c, max = ix->c, lo = t->lo[r], hi = t->lo[r] + t->extent[r] - 1;
  int free = -1, n_free = 0;
  for (int k = 0; k < ix->n_terms; k++) {
    const int slot = tf_op_slot(f->op, ix->terms[k].dim);
    const int64_t c = ix->terms[k].coef, most = f->wl->dims[ix->terms[k].dim].extent - 1;
    if (f->varies >> slot & 1) {
      min += c > 0 ? 0 : c * most;
      max += c > 0 ? c * most : 0;
    } else if (f->fixed >> slot & 1) {
      min += c * f->at[slot], max += c * f->at[slot];
    } else {
      free = k, n_free++;
      f->at[slot] = most / 2;
    }
  }
  for (int k = 0; k < ix->n_terms && n_free > 1; k++) { /* all but one are fixed in the middle */
    const int slot = tf_op_slot(f->op, ix->terms[k].dim);
    if (k == free || (f->varies | f->fixed) >> slot & 1) continue;
    f->fixed |= UINT64_C(1) << slot;
    min += ix->terms[k].coef * f->at[slot], max += ix->terms[k].coef * f->at[slot];
  }
  if (n_free) {
    int dim = ix->terms[free].dim;
    choose(f, dim, ix->terms[free].coef, lo - min, hi - max);
    const int64_t at = f->at[tf_op_slot(f->op, dim)];
    min += ix->terms[free].coef * at, max += ix->terms[free].coef * at;
  }
  return min >= lo && max <= hi;
}

bool slope_fibre(const tf_workload *wl, int o, const tf_ref *ref, uint64_t whole) {
  const tf_op *op = &wl->ops[o];
  const tf_tensor *t = &wl->tensors[ref->tensor];
  fibre f = {.wl = wl, .op = op, .varies = whole};
  for (int k = 0; k < op->n_out_dims; k++)
    f.varies |= UINT64_C(1) << k;
  for (int r = 0; r < t->rank; r++)
    if (!rank_inside(&f, t, r, &ref->index[r])) return false;
  return true;
}
