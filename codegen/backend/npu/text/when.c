/* Which steps of a nest of loops are marked, said in ranges: of single loops, and of neighbouring
 * ones counted as one.  The tightest range of each such counter is known; those that leave out most
 * of what is not marked are taken, until nothing else is left.  Where some always is, the steps of
 * the outermost loop are divided into runs of steps that are marked alike, for each of which the
 * loops inside are looked at. */
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/npu/text/roll.h"

typedef struct {
  int depth, n, most;
  int64_t trip[NPU_DEPTH];
  npu_steps *to;
} divider;

/* Loops from `a` to `b` counted as one: (step / inner) mod count. */
typedef struct {
  int a, b;
  int64_t inner, count, lo, hi;
} counter;
enum { COUNTERS = NPU_DEPTH * (NPU_DEPTH + 1) / 2 };

static int64_t steps_from(const divider *d, int loop) {
  int64_t n = 1;
  for (; loop < d->depth; loop++)
    n *= d->trip[loop];
  return n;
}

static int64_t value_of(const counter *c, int64_t step) { return step / c->inner % c->count; }

/* The counters of loops from `loop` on that marked steps do not have over all of their range. */
static int counters_of(const divider *d, int loop, const bool *marked, int64_t n, counter *to) {
  int k = 0;
  for (int a = loop; a < d->depth; a++)
    for (int b = a; b < d->depth; b++) {
      counter c = {.a = a, .b = b, .inner = steps_from(d, b + 1), .lo = INT64_MAX, .hi = -1};
      c.count = steps_from(d, a) / c.inner;
      for (int64_t s = 0; s < n; s++) {
        const int64_t v = marked[s] ? value_of(&c, s) : c.lo;
        c.lo = v < c.lo ? v : c.lo;
        c.hi = marked[s] && v > c.hi ? v : c.hi;
      }
      if (c.lo > 0 || c.hi < c.count - 1) to[k++] = c;
    }
  return k;
}

static bool has(const counter *c, int64_t step) {
  const int64_t v = value_of(c, step);
  return v >= c->lo && v <= c->hi;
}

static bool add_range(const divider *d, const counter *c, npu_steps *to) {
  npu_when w = {.first = NPU_ANY_FIRST, .last = NPU_ANY_LAST};
  int64_t step = 1;
  const bool low = c->lo > 0, high = c->hi < c->count - 1;
  for (int k = c->b; k >= c->a; step *= d->trip[k--])
    w.step[k] = (int32_t)step;
  const bool both = low && high && c->lo < c->hi;
  if (to->n + 1 + both > NPU_WHEN) return false;
  if (low || c->lo == c->hi) w.first = (int32_t)c->lo;
  if ((high && !both) || c->lo == c->hi) w.last = (int32_t)c->hi;
  to->when[to->n++] = w;
  w.first = NPU_ANY_FIRST, w.last = (int32_t)c->hi;
  if (both) to->when[to->n++] = w;
  return true;
}

/* Adds ranges that all marked steps are in, and no other; false: there are none. */
static bool fit(const divider *d, int loop, const bool *marked, int64_t n, npu_steps *to) {
  counter all[COUNTERS];
  const int counters = counters_of(d, loop, marked, n, all);
  bool *in = malloc((size_t)n * sizeof *in);
  npu_steps more = *to;
  int64_t left = 0;
  if (in) memset(in, 1, (size_t)n * sizeof *in);
  for (int64_t s = 0; s < n; s++)
    left += !marked[s];
  while (in && left) {
    int64_t most = 0;
    int best = -1;
    for (int k = 0; k < counters; k++) {
      int64_t out = 0;
      for (int64_t s = 0; s < n; s++)
        out += in[s] && !has(&all[k], s);
      if (out > most) most = out, best = k;
    }
    if (best < 0 || !add_range(d, &all[best], &more)) break;
    for (int64_t s = 0; s < n; s++)
      in[s] = in[s] && has(&all[best], s);
    left -= most;
  }
  const bool ok = in && !left;
  free(in);
  if (ok) *to = more;
  return ok;
}

static bool divide(divider *d, int loop, const bool *marked, npu_steps with) {
  const int64_t n = steps_from(d, loop), inner = loop < d->depth ? n / d->trip[loop] : 1;
  int64_t any = 0;
  for (int64_t s = 0; s < n; s++)
    any += marked[s];
  if (!any) return true;
  if (d->n == d->most) return false;
  if (any == n || fit(d, loop, marked, n, &with)) {
    d->to[d->n++] = with;
    return true;
  }
  for (int64_t v = 0, end; v < d->trip[loop]; v = end) {
    counter c = {.a = loop, .b = loop, .inner = inner, .count = d->trip[loop], .lo = v};
    npu_steps part = with;
    for (end = v + 1;
         end < d->trip[loop] && !memcmp(marked + v * inner, marked + end * inner, (size_t)inner);
         end++) {
    }
    c.hi = end - 1;
    const bool whole = v == 0 && end == d->trip[loop];
    if ((!whole && !add_range(d, &c, &part)) || !divide(d, loop + 1, marked + v * inner, part))
      return false;
  }
  return true;
}

int npu_steps_of(const bool *marked, int depth, const int64_t *trip, npu_steps *to, int most) {
  divider d = {.depth = depth, .most = most, .to = to};
  memcpy(d.trip, trip, (size_t)depth * sizeof *trip);
  return divide(&d, 0, marked, (npu_steps){.n = 0}) ? d.n : -1;
}
