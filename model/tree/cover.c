/* Whether trip counts cover the ranges: see cover.h. */
#include "model/tree/cover.h"

#include <string.h>

#include "base/checked.h"

enum { MOST_SETTINGS = 1 << 14 }; /* most settings evaluated for one range */

tf_cover *tf_cover_new(tf_arena *a, const tf_facts *f) {
  tf_cover *c = TF_NEW(a, tf_cover);
  if (!c || !tf_ranges_init(&c->r, a, f)) return NULL;
  c->reach = TF_ARRAY(a, tf_reach, (size_t)f->n_dims);
  c->shift = TF_ARRAY(a, tf_shift, (size_t)f->n_dims);
  c->digits = TF_ARRAY(a, int64_t, (size_t)f->n_loops + 1);
  if (!c->reach || !c->shift || !c->digits) return NULL;
  c->r.per_dim = true;
  c->r.user = c;
  return c;
}

static void note(tf_ranges *r, int o) {
  tf_cover *c = r->user;
  const tf_op *op = &r->f->wl->ops[o];
  for (int i = 0; i < op->n_dims; i++) {
    int at = r->f->dim_from[o] + i;
    int64_t extent = r->f->wl->dims[op->dims[i]].extent, len = r->range[at].len;
    const tf_shift *s = &r->shift[at];
    c->reach[at] = (tf_reach){r->lead_steps[at], s->mixed || len > extent ? extent : len, s->mask};
  }
}

void tf_cover_begin(tf_cover *c, const int64_t *trips, const int64_t *rest) {
  c->r.rest = rest;
  c->r.trips = trips;
  c->r.borderless = true;
  c->r.shift = c->shift;
  c->r.digits = NULL;
  c->r.led = note;
  tf_ranges_reset(&c->r);
  tf_ranges_walk(&c->r, 0);
  c->r.borderless = false;
  c->r.shift = NULL;
  c->r.digits = c->digits;
  c->r.led = NULL;
}

/* ---- settings one by one --------------------------------------------------------------------- */
/* The length of the range at the current digits. */
static int64_t range_at_digits(tf_cover *c, int o, int i) {
  tf_ranges_reset(&c->r);
  tf_ranges_towards(&c->r, c->r.f->lead[o]);
  return c->r.range[c->r.f->dim_from[o] + i].len;
}

static int64_t trip_at(const tf_cover *c, int n, int k) {
  return c->r.trips ? c->r.trips[c->r.f->loop_from[n] + k] : c->r.f->tree->nodes[n].loops[k].trip;
}

/* Lists the loops above node `to` that are in the mask, with their trip counts; returns how many,
 * -1: their settings are too many. */
static int list_loops(const tf_cover *c, int to, uint64_t mask, int *loop, int64_t *trip) {
  const tf_facts *f = c->r.f;
  int64_t all = 1;
  int n_loops = 0, depth = 0;
  for (int n = 0; n != to; n = tf_child_towards(f, n, to)) {
    const tf_node *node = &f->tree->nodes[n];
    int own = node->kind == TF_TILE ? node->n_loops : 0;
    for (int k = 0; k < own; k++, depth++) {
      if (depth >= TF_SHIFT_LOOPS) return -1;
      if (!(mask >> depth & 1) || trip_at(c, n, k) < 2) continue;
      loop[n_loops] = f->loop_from[n] + k;
      trip[n_loops++] = trip_at(c, n, k);
      if (__builtin_mul_overflow(all, trip[n_loops - 1], &all) || all > MOST_SETTINGS) return -1;
    }
  }
  return n_loops;
}

/* Advances the digits to the next setting; false after the last, with all digits back at 0. */
static bool next(int64_t *digits, const int *loop, const int64_t *trip, int n) {
  for (int k = n - 1; k >= 0; k--) {
    if (++digits[loop[k]] < trip[k]) return true;
    digits[loop[k]] = 0;
  }
  return false;
}

int64_t tf_cover_longest(tf_cover *c, int o, int i, int64_t enough) {
  const tf_reach *w = &c->reach[c->r.f->dim_from[o] + i];
  int loop[TF_SHIFT_LOOPS], n;
  int64_t trip[TF_SHIFT_LOOPS], longest = range_at_digits(c, o, i);
  if (longest >= w->bound || longest > enough) return longest;
  n = list_loops(c, c->r.f->lead[o], w->mask, loop, trip);
  if (n < 0) return w->bound;
  while (longest < w->bound && longest <= enough && next(c->digits, loop, trip, n)) {
    int64_t len = range_at_digits(c, o, i);
    longest = len > longest ? len : longest;
  }
  memset(c->digits, 0, (size_t)c->r.f->n_loops * sizeof *c->digits);
  return longest;
}

bool tf_cover_all(tf_cover *c, const int64_t *trips) {
  const tf_facts *f = c->r.f;
  for (int l = 0; trips && l < f->n_loops; l++)
    if (trips[l] < 1) return false;
  tf_cover_begin(c, trips, NULL);
  for (int o = 0; o < f->wl->n_ops; o++)
    for (int i = 0; i < f->wl->ops[o].n_dims; i++) {
      const tf_reach *w = &c->reach[f->dim_from[o] + i];
      if (w->bound > w->steps && tf_cover_longest(c, o, i, w->steps) > w->steps) return false;
    }
  return true;
}

/* ---- counts that are needed ----------------------------------------------------------------- */

/* Elements of op o by which one step of the loop moves it: the product of the op's loops further
 * inside on the dim; saturating. */
static int64_t step_of(const tf_facts *f, const int64_t *trips, int o, tf_loop_at at) {
  const tf_node *nodes = f->tree->nodes;
  const int dim = nodes[at.node].loops[at.k].dim;
  int64_t step = 1;
  for (int n = f->tree->op_node[o]; n >= at.node; n = nodes[n].parent)
    for (int k = nodes[n].n_loops - 1; k >= 0 && (n > at.node || k > at.k); k--)
      if (nodes[n].kind == TF_TILE && nodes[n].loops[k].dim == dim)
        step = tf_sat_mul(step, trips ? trips[f->loop_from[n] + k] : nodes[n].loops[k].trip);
  return step;
}

int64_t tf_cover_needs(const tf_facts *f, const int64_t *trips, const int64_t *longest,
                       tf_loop_at at, int *needy) {
  const int dim = f->tree->nodes[at.node].loops[at.k].dim;
  int64_t least = 0;
  for (int j = f->leaf_from[at.node]; j < f->leaf_end[at.node]; j++) {
    const int o = f->leaf_op[j], slot = tf_dim_slot(f, o, dim), of = f->dim_from[o] + slot;
    if (slot < 0 || !tf_leads(f, o, at.node) || longest[of] < 1) continue;
    const int64_t count = (longest[of] - 1) / step_of(f, trips, o, at) + 1;
    if (count > least) *needy = o;
    least = count > least ? count : least;
  }
  return least;
}
