/* Numbers of steps, and what short last ones spare, at most: words in an instance for which P has a
 * single step, so that nothing replaces them (fused_nest.c).
 *
 * The loops of one op cut a range in equal steps but for the last.  Let P's step cover x values, in
 * all instances inside of it, and X in all instances there are.  A *run* is what the loops of ops
 * behind this one leave of the dim: all runs are equally long, but for one shorter in each op's
 * range.  N steps are taken in all.
 * - A run of several rounds of P has at most the last round of a single step: a third of it, and
 *   1 / (N - 1) of the dim where the op is the only one that cuts it.
 * - A run of one round of two steps, L long, spares 2 x - L.  So with N = 2, where there is one
 *   run, a step must cover 1 + f times an even share for f of the words to be spared.
 * - It spares none of an instance that has both steps.  There is one, with a value in each; of the
 *   first step x - 1 values are left: no more than (X - 1) / (X + 1) of the run.  The first of I
 *   instances has no fewer words than another: no more than (I - 1) / I.
 * - A shorter run may be of a single step, and spares all.  The op furthest behind leaves one. Each
 *   other leaves one in each range that it cuts: with m whole runs, `deep` ops leave (deep - 1) m +
 * 1 at most, q m say.
 * - Whole runs that spare a third are 3 x long, so at most (m + q m) / (3 m + q m) is spared; those
 *   of two steps want (2 + q) / (2 + 2 q) of the words of 1 + f even shares, and where they spare g
 *   of themselves, at most (g + q) / (1 + q) is.
 * - Let whole runs have n steps.  Shorter ones with n count as such; others have t = max(1, n - 1)
 *   at most.  N <= n m + t ((deep - 1) m + 1), so m >= (N - t) / (n + t (deep - 1)).  More than
 *   three steps spare less: with n, 2 / m is no more than (n - 3) deep + (n - 1) / m with three. */
#include "search/bound/fused_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_CLASSES = 4096 };

/* ---- numbers of steps ----------------------------------------------------------------------- */
int64_t tf_f_divided_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* Joins neighbours whose numbers are nearest; one and two steps stay alone. */
static void join_classes(tf_f_steps *c, int *n, int most) {
  while (*n > most) {
    int best = 2;
    for (int j = 2; j + 1 < *n; j++)
      if ((double)c[j + 1].hi * (double)c[best].lo < (double)c[best + 1].hi * (double)c[j].lo)
        best = j;
    c[best].hi = c[best + 1].hi, c[best].len = c[best + 1].len;
    memmove(&c[best + 1], &c[best + 2], (size_t)(*n - best - 2) * sizeof *c);
    --*n;
  }
}

bool tf_f_find_classes(int64_t extent, int most, tf_f_classes *out) {
  tf_f_steps *c = malloc(ALL_CLASSES * sizeof *c);
  int n = 0;
  for (int64_t steps = 1; c && steps <= extent && n < ALL_CLASSES;) {
    const int64_t len = tf_f_divided_up(extent, steps);
    const int64_t hi = len > 1 ? tf_f_divided_up(extent, len - 1) - 1 : extent;
    c[n++] = (tf_f_steps){steps, hi, len};
    steps = hi + 1;
  }
  const bool ok = c && n < ALL_CLASSES;
  if (ok) {
    join_classes(c, &n, most);
    memcpy(out->of, c, (size_t)n * sizeof *c);
    out->n = n;
  }
  free(c);
  return ok;
}

/* ---- what is spared ------------------------------------------------------------------------- */
static double in_range(double x, double lo, double hi) { return fmin(fmax(x, lo), hi); }

static double but_one(double instances) { return (instances - 1) / instances; }

/* The share of a run of two steps in the instances that have no second one. */
static double others(const tf_f_room *r) {
  const double all = but_one(r->instances);
  return isinf(r->values) ? all : fmin(all, fmax(0, r->values - 1) / (r->values + 1));
}

/* The most short runs for each whole one, of `each` steps, where so many ops leave them, which take
 * so many steps or more in all. */
static double short_runs(double ops, double each, double steps) {
  if (ops <= 0) return 0;
  const double fewer = fmax(1, each - 1), a_whole = each + fewer * (ops - 1);
  return ops - 1 + (steps - fewer > a_whole ? a_whole / (steps - fewer) : 1);
}

/* The share of a dim that has two steps in all. */
static double of_two(const tf_f_room *r, double deep) {
  const double most = fmin(but_one(r->instances), (others(r) + deep) / (1 + deep));
  return in_range(r->slack - 1, 0, most);
}

/* The share of a dim whose whole runs have two steps, and `shorter` for each a single one. */
static double of_two_steps(const tf_f_room *r, double shorter) {
  const double most =
      in_range(r->slack * (2 + 2 * shorter) / (2 + shorter) - 1, shorter / (2 + shorter), 1);
  return fmin(most, (others(r) + shorter) / (1 + shorter));
}

double tf_f_spared(const tf_f_steps *c, double deep, const tf_f_room *r) {
  double most = 0;
  if (c->lo <= 2 && c->hi >= 2) most = of_two(r, deep);
  if (c->hi < 3) return most;
  const double steps = c->lo > 3 ? (double)c->lo : 3;
  if (deep <= 0) return fmax(most, steps > 3 ? 1 / (steps - 1) : 1.0 / 3);
  const double third = short_runs(deep, 3, steps);
  const double two = of_two_steps(r, short_runs(deep, 2, steps));
  return fmax(most, fmax((1 + third) / (3 + third), two));
}

/* Inside of a place the op's own loops outside of it leave runs, too: one more op.  The last of
 * several instances may have one step of a whole run. */
double tf_f_single(const tf_f_steps *c, const tf_f_steps *out, double deep, const tf_f_room *r) {
  if (c->lo <= out->hi) return 1;
  const double steps = ceil((double)c->lo / (double)out->hi), ops = deep + (out->hi > 1);
  const double shorter = short_runs(ops, 1, (double)out->lo), own = r->instances > 1;
  const double share = (own + shorter) / (steps + own + shorter);
  if (steps >= 3 + ops) return share;
  if (out->hi == 1 && c->hi == 2) return of_two(r, deep);
  return fmax(share, of_two_steps(r, shorter));
}
