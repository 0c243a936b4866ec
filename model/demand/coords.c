#include "model/demand/coords.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t residue(int64_t x, int64_t step) {
  int64_t r = x % step;
  return r < 0 ? r + step : r;
}

/* An empty set with room for n runs. */
static tf_coords empty_coords(tf_arena *a, int64_t step, int64_t n) {
  tf_coords s = {.step = step, .run = TF_ARRAY(a, tf_run, (size_t)n + 1)};
  s.exact = s.run != NULL;
  return s;
}

tf_coords tf_coords_range(tf_arena *a, int64_t lo, int64_t n) {
  tf_coords s = empty_coords(a, 1, 1);
  if (s.run && n > 0) s.run[s.n++] = (tf_run){lo, n};
  return s;
}

int64_t tf_coords_count(const tf_coords *s) {
  int64_t n = 0;
  for (int i = 0; i < s->n; i++)
    if (__builtin_add_overflow(n, s->run[i].n, &n)) return INT64_MAX;
  return n;
}

/* ---- order --------------------------------------------------------------------------- */
typedef struct {
  int64_t residue;
  tf_run run;
} keyed;

static int by_place(const void *pa, const void *pb) {
  const keyed *x = pa, *y = pb;
  if (x->residue != y->residue) return x->residue < y->residue ? -1 : 1;
  return (x->run.lo > y->run.lo) - (x->run.lo < y->run.lo);
}

/* Sorts, and merges runs that overlap or are adjacent. */
static void tidy(tf_arena *a, tf_coords *s) {
  keyed *k = TF_ARRAY(a, keyed, (size_t)s->n + 1);
  int n = 0;
  if (!k) {
    s->n = 0;
    s->exact = false;
    return;
  }
  for (int i = 0; i < s->n; i++)
    k[i] = (keyed){residue(s->run[i].lo, s->step), s->run[i]};
  qsort(k, (size_t)s->n, sizeof *k, by_place);
  for (int i = 0; i < s->n; i++) {
    tf_run *last = n ? &s->run[n - 1] : NULL;
    bool meets =
        last && k[i].residue == k[i - 1].residue && (k[i].run.lo - last->lo) / s->step <= last->n;
    if (meets)
      last->n = larger(last->n, (k[i].run.lo - last->lo) / s->step + k[i].run.n);
    else
      s->run[n++] = k[i].run;
  }
  s->n = n;
}

/* ---- sums ------------------------------------------------------------------------------ */
/* The step after scaling; single elements have none, and it could overflow. */
static int64_t scaled_step(const tf_coords *x, int64_t c) {
  for (int i = 0; i < x->n; i++)
    if (x->run[i].n > 1) return x->step * (c < 0 ? -c : c);
  return 1;
}

tf_coords tf_coords_scale(tf_arena *a, const tf_coords *x, int64_t c) {
  tf_coords s = empty_coords(a, scaled_step(x, c), x->n);
  for (int i = 0; i < x->n && s.run; i++) {
    int64_t first = c < 0 ? x->run[i].lo + (x->run[i].n - 1) * x->step : x->run[i].lo;
    s.run[s.n++] = (tf_run){c * first, x->run[i].n};
  }
  s.exact &= x->exact;
  tidy(a, &s);
  return s;
}

/* Whether adding y extends every run of x without gaps. */
static bool extends(const tf_coords *x, const tf_coords *y) {
  if (y->n != 1 || y->step % x->step != 0) return false;
  for (int i = 0; i < x->n; i++)
    if (y->step / x->step > x->run[i].n && y->run[0].n > 1) return false;
  return true;
}

static tf_coords extended(tf_arena *a, const tf_coords *x, const tf_coords *y) {
  tf_coords s = empty_coords(a, x->step, x->n);
  for (int i = 0; i < x->n && s.run; i++)
    s.run[s.n++] =
        (tf_run){x->run[i].lo + y->run[0].lo, x->run[i].n + y->step / x->step * (y->run[0].n - 1)};
  tidy(a, &s);
  return s;
}

/* x shifted by each element of y, as far as runs fit. */
static tf_coords shifted(tf_arena *a, const tf_coords *x, const tf_coords *y) {
  int64_t all = tf_coords_count(y), shifts = smaller(all, TF_MAX_RUNS / (x->n ? x->n : 1));
  tf_coords s = empty_coords(a, x->step, shifts * x->n);
  for (int i = 0; i < y->n && s.run; i++)
    for (int64_t k = 0; k < y->run[i].n && shifts > 0; k++, shifts--)
      for (int j = 0; j < x->n; j++)
        s.run[s.n++] = (tf_run){x->run[j].lo + y->run[i].lo + k * y->step, x->run[j].n};
  s.exact = s.exact && (double)all * x->n <= TF_MAX_RUNS;
  tidy(a, &s);
  return s;
}

tf_coords tf_coords_sum(tf_arena *a, const tf_coords *x, const tf_coords *y) {
  tf_coords s;
  if (x->n == 0 || y->n == 0)
    s = empty_coords(a, 1, 0);
  else if (extends(x, y))
    s = extended(a, x, y);
  else if (extends(y, x))
    s = extended(a, y, x);
  else if (tf_coords_count(x) >= tf_coords_count(y))
    s = shifted(a, x, y);
  else
    s = shifted(a, y, x);
  s.exact &= x->exact && y->exact;
  return s;
}

/* ---- parts ------------------------------------------------------------------------------- */
/* The least k with lo + k * step >= x. */
static int64_t steps_to(int64_t lo, int64_t step, int64_t x) {
  return x <= lo ? 0 : (x - lo - 1) / step + 1;
}

static tf_run clipped(tf_run r, int64_t step, int64_t lo, int64_t hi) {
  int64_t from = steps_to(r.lo, step, lo), end = hi < r.lo ? 0 : (hi - r.lo) / step + 1;
  end = smaller(end, r.n);
  return (tf_run){r.lo + from * step, end - from};
}

tf_coords tf_coords_clip(tf_arena *a, const tf_coords *x, int64_t lo, int64_t hi) {
  tf_coords s = empty_coords(a, x->step, x->n);
  for (int i = 0; i < x->n && s.run; i++) {
    tf_run r = clipped(x->run[i], x->step, lo, hi);
    if (r.n > 0) s.run[s.n++] = r;
  }
  s.exact &= x->exact;
  return s;
}

/* The same set in steps of `step`, a multiple of its own; empty and not exact where that takes too
 * many runs. */
static tf_coords refined(tf_arena *a, const tf_coords *x, int64_t step) {
  int64_t by = step / x->step;
  double runs = 0;
  for (int i = 0; i < x->n; i++)
    runs += (double)smaller(by, x->run[i].n);
  tf_coords s = empty_coords(a, step, runs <= TF_MAX_RUNS ? (int64_t)runs : 0);
  s.exact &= x->exact && runs <= TF_MAX_RUNS;
  for (int i = 0; i < x->n && s.run && runs <= TF_MAX_RUNS; i++)
    for (int64_t k = 0; k < by && k < x->run[i].n; k++)
      s.run[s.n++] = (tf_run){x->run[i].lo + k * x->step, (x->run[i].n - k + by - 1) / by};
  tidy(a, &s);
  return s;
}

/* A common step in which both sets can be written; 0: too long. */
static int64_t common_step(const tf_coords *x, const tf_coords *y) {
  int64_t step;
  return __builtin_mul_overflow(x->step / tf_gcd(x->step, y->step), y->step, &step) ? 0 : step;
}

tf_coords tf_coords_join(tf_arena *a, const tf_coords *x, const tf_coords *y) {
  int64_t step = common_step(x, y);
  if (x->n == 0 || y->n == 0) return x->n ? *x : *y;
  tf_coords p = step ? refined(a, x, step) : *x, q = step ? refined(a, y, step) : *y;
  bool whole = step && (p.exact || !x->exact) && (q.exact || !y->exact) &&
               p.n + q.n <= TF_MAX_RUNS && p.n && q.n;
  tf_coords s = empty_coords(a, step, whole ? p.n + q.n : 0);
  if (!whole || !s.run) {
    s = tf_coords_count(x) >= tf_coords_count(y) ? *x : *y;
    s.exact = false;
    return s;
  }
  memcpy(s.run, p.run, (size_t)p.n * sizeof *p.run);
  memcpy(s.run + p.n, q.run, (size_t)q.n * sizeof *q.run);
  s.n = p.n + q.n;
  s.exact = p.exact && q.exact;
  tidy(a, &s);
  return s;
}

tf_coords tf_coords_meet(tf_arena *a, const tf_coords *x, const tf_coords *y) {
  int64_t step = common_step(x, y);
  tf_coords none = empty_coords(a, 1, 0);
  if (x->n == 0 || y->n == 0) return none;
  none.exact = false;
  if (!step) return none;
  tf_coords p = refined(a, x, step), q = refined(a, y, step), s = empty_coords(a, step, p.n + q.n);
  if (!p.exact || !q.exact || !s.run) return none;
  for (int i = 0, j = 0; i < p.n && j < q.n;) { /* ordered by residue, then by position */
    int64_t ri = residue(p.run[i].lo, step), rj = residue(q.run[j].lo, step);
    int64_t i_end = p.run[i].lo + (p.run[i].n - 1) * step,
            j_end = q.run[j].lo + (q.run[j].n - 1) * step;
    if (ri == rj) {
      int64_t lo = larger(p.run[i].lo, q.run[j].lo), hi = smaller(i_end, j_end);
      if (lo <= hi) s.run[s.n++] = (tf_run){lo, (hi - lo) / step + 1};
    }
    if (ri < rj || (ri == rj && i_end < j_end))
      i++;
    else
      j++;
  }
  return s;
}

bool tf_coords_same(const tf_coords *x, const tf_coords *y) {
  bool same = x->step == y->step && x->n == y->n;
  for (int i = 0; i < x->n && same; i++)
    same = x->run[i].lo == y->run[i].lo && x->run[i].n == y->run[i].n;
  return same;
}
