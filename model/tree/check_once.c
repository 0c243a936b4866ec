/* Within one production no element is made twice (docs/SEMANTICS.md, D9): what two settings of the
 * loops between an intermediate's home scope and its producer need of it has nothing in common.
 * check_range.c compares the first two steps of each loop.  That is not all where some loops' steps
 * add up to the same shift, where reads move unlike, and where the first step reads padding: then
 * settings are compared one by one. */
#include <string.h>

#include "model/tree/check.h"
#include "model/tree/range.h"

enum {
  MOST_SETTINGS = 1 << 14,
  MOST_BOXES = 1 << 10
}; /* of all loops; of those below the home scope */

typedef struct {
  int node, slot, depth; /* depth: its number on the way down */
  int64_t trip;
} turning;

typedef struct {
  const tf_facts *f;
  tf_ranges *r;
  int o, n_ranks;
  tf_shift *shift; /* [as ranges] */
  int64_t *digits; /* [loop] */
  int n_out, n_in; /* loops above the home scope that move what is made; those between it and the
                      producer */
  turning *out, *in;
  tf_arena *arena;
  tf_ival *box; /* [setting of the latter * n_ranks] what it makes */
  bool starved;
} once;

/* ---- loops ---------------------------------------------------------------------------------- */
static void list_loops(once *q, int home, uint64_t mask) {
  const tf_facts *f = q->f;
  q->n_out = q->n_in = 0;
  for (int n = 0, depth = 0; n != f->lead[q->o]; n = tf_child_towards(f, n, f->lead[q->o])) {
    const tf_node *t = &f->tree->nodes[n];
    for (int k = 0; t->kind == TF_TILE && k < t->n_loops; k++, depth++) {
      const turning one = {n, k, depth, t->loops[k].trip};
      const bool inside = tf_is_above(f, home, n),
                 moves = depth >= TF_SHIFT_LOOPS || mask >> depth & 1;
      if (one.trip < 2 || tf_streamed_over(f, q->o, n, t->loops[k].dim)) continue;
      if (inside)
        q->in[q->n_in++] = one;
      else if (moves)
        q->out[q->n_out++] = one;
    }
  }
}

/* ---- by shifts ------------------------------------------------------------------------------ */
static int64_t step_distance(const tf_shift *s, int depth) {
  if (depth >= TF_SHIFT_LOOPS || !(s->mask >> depth & 1)) return 0;
  return s->per_step[depth] < 0 ? -s->per_step[depth] : s->per_step[depth];
}

/* Of the loops that move rank r and are not in `done`, the one with the smallest step; -1: none is
 * left. */
static int smallest(const once *q, int r, uint64_t done) {
  const tf_shift *s = &q->shift[q->f->dim_from[q->o] + r];
  int least = -1;
  for (int k = 0; k < q->n_in; k++) {
    const int64_t by = step_distance(s, q->in[k].depth);
    if (by && !(done >> k & 1) && (least < 0 || by < step_distance(s, q->in[least].depth)))
      least = k;
  }
  return least;
}

/* Whether borders may cut what some op makes: then settings of which all is padding ask for one
 * element both. */
static bool borders_cut(const tf_workload *wl) {
  for (int z = 0; z < wl->n_tensors; z++)
    for (int r = 0; r < wl->tensors[z].rank; r++)
      if (wl->tensors[z].producer >= 0 && wl->tensors[z].pad[r] > 0) return true;
  return false;
}

/* The loops of which any two settings make parts of rank r without a common element: each step is
 * as long as all that loops of smaller steps reach.  0: they may overlap. */
static uint64_t told_apart(const once *q, int r) {
  const tf_shift *s = &q->shift[q->f->dim_from[q->o] + r];
  int64_t reach = q->r->range[q->f->dim_from[q->o] + r].len;
  uint64_t done = 0;
  if (s->mixed || borders_cut(q->f->wl)) return 0;
  for (int k; (k = smallest(q, r, done)) >= 0; done |= UINT64_C(1) << k) {
    const int64_t by = step_distance(s, q->in[k].depth);
    int64_t far;
    if (by < reach || __builtin_mul_overflow(by, q->in[k].trip - 1, &far) ||
        __builtin_add_overflow(reach, far, &reach))
      return 0;
  }
  return done;
}

/* ---- one by one ----------------------------------------------------------------------------- */
static bool overlap(const once *q, const tf_ival *a, const tf_ival *b) {
  for (int r = 0; r < q->n_ranks; r++)
    if (a[r].lo + a[r].len <= b[r].lo || b[r].lo + b[r].len <= a[r].lo) return false;
  return true;
}

static void set(once *q, const turning *loops, int n, int64_t setting) {
  for (int k = n - 1; k >= 0; setting /= loops[k--].trip)
    q->digits[q->f->loop_from[loops[k].node] + loops[k].slot] = setting % loops[k].trip;
}

/* The product of the trip counts; 0: more than `most`. */
static int64_t settings_of(const turning *loops, int n, int64_t most) {
  int64_t all = 1;
  for (int k = 0; k < n; k++) {
    if (loops[k].trip > most / all) return 0;
    all *= loops[k].trip;
  }
  return all;
}

/* Writes what the present setting makes.  False: nothing. */
static bool made(once *q, tf_ival *box) {
  const int at = q->f->dim_from[q->o];
  tf_ranges_reset(q->r);
  tf_ranges_towards(q->r, q->f->lead[q->o]);
  for (int i = 0; i < q->f->wl->ops[q->o].n_dims; i++)
    if (q->r->range[at + i].len <= 0) return false;
  memcpy(box, &q->r->range[at], (size_t)q->n_ranks * sizeof *box);
  return true;
}

/* Whether two of the `all` settings below the home scope make an element both, at the present
 * setting above. */
static bool twice_here(once *q, int64_t all) {
  int n = 0;
  for (int64_t i = 0; i < all; i++) {
    tf_ival *box = &q->box[n * q->n_ranks];
    set(q, q->in, q->n_in, i);
    if (!made(q, box)) continue;
    for (int k = 0; k < n; k++)
      if (overlap(q, &q->box[k * q->n_ranks], box)) return true;
    n++;
  }
  return false;
}

/* *unknown: the settings are too many to look at. */
static bool twice_anywhere(once *q, bool *unknown) {
  const int64_t in = settings_of(q->in, q->n_in, MOST_BOXES),
                out = settings_of(q->out, q->n_out, MOST_SETTINGS);
  bool twice = false;
  *unknown = !in || !out || out > MOST_SETTINGS / in;
  if (*unknown) return true;
  q->box = TF_ARRAY(q->arena, tf_ival, (size_t)in * (size_t)q->n_ranks);
  q->starved |= !q->box;
  memset(q->digits, 0, (size_t)q->f->n_loops * sizeof *q->digits);
  q->r->digits = q->digits;
  for (int64_t i = 0; i < out && !twice && !q->starved; i++) {
    set(q, q->out, q->n_out, i);
    twice = twice_here(q, in);
  }
  return twice;
}

static bool makes_twice(once *q, bool *unknown) {
  const int at = q->f->dim_from[q->o], home = q->f->home_scope[q->f->wl->ops[q->o].out];
  uint64_t mask = 0, apart = 0;
  q->n_ranks = q->f->wl->ops[q->o].n_out_dims;
  tf_ranges shifts = *q->r;
  shifts.digits = NULL;
  shifts.borderless = true;
  shifts.shift = q->shift;
  tf_ranges_reset(&shifts);
  tf_ranges_towards(&shifts, q->f->lead[q->o]);
  for (int r = 0; r < q->n_ranks; r++)
    mask |= q->shift[at + r].mask;
  list_loops(q, home, mask);
  for (int r = 0; r < q->n_ranks; r++)
    apart |= told_apart(q, r);
  return q->n_in > 0 && apart != (UINT64_C(2) << (q->n_in - 1)) - 1 && twice_anywhere(q, unknown);
}

bool tf_check_once(const tf_checker *c, tf_ranges *r, const bool *reported,
                   void (*twice)(tf_ranges *r, int o, bool unknown)) {
  const tf_facts *f = c->f;
  tf_ranges quiet = *r;
  once q = {.f = f, .r = &quiet, .arena = c->arena};
  quiet.inferred = NULL;
  q.shift = TF_ARRAY(c->arena, tf_shift, (size_t)f->n_dims);
  q.digits = TF_ARRAY(c->arena, int64_t, (size_t)f->n_loops + 1);
  q.out = TF_ARRAY(c->arena, turning, (size_t)f->n_loops + 1);
  q.in = TF_ARRAY(c->arena, turning, (size_t)f->n_loops + 1);
  if (!q.shift || !q.digits || !q.out || !q.in) return false;
  for (q.o = 0; q.o < f->wl->n_ops && !q.starved; q.o++) {
    bool unknown = false;
    if (!reported[q.o] && tf_made_nested(f, q.o) && makes_twice(&q, &unknown))
      twice(r, q.o, unknown);
  }
  return !q.starved;
}
