/* Products of two inputs, of which the second may be laid out once for many calls: one matrix, or one for each setting
 * of a dim outside, with neighbours along n or along k; in blocks of columns and parts of k that divide it or not. */
#include <stdio.h>

#include "tests/kernels/draw.h"

/* A length and the number of its blocks, mostly of equal ones. */
typedef struct {
  int all, trip;
} length;

static length drawn_length(tf_rng *g, int most_trip, int most_each, int each_of) {
  length l = {.trip = tf_rng_below(g, 2) ? 1 : rng_between(g, 1, most_trip)};
  const int each = tf_rng_below(g, 2) ? rng_between(g, 1, most_each) : each_of * rng_between(g, 1, most_each / each_of);
  l.all = l.trip * each;
  if (l.trip > 1 && tf_rng_below(g, 4) == 0) l.all -= rng_between(g, 0, each - 1);
  return l;
}

static int of_each(length l) { return (l.all + l.trip - 1) / l.trip; }

void draw_panels(page *p, uint64_t seed) {
  tf_rng g = tf_rng_new(seed, 29);
  const int b = rng_between(&g, 1, 3);
  const length m = drawn_length(&g, 3, 30, 7), n = drawn_length(&g, 3, 80, 16), k = drawn_length(&g, 3, 60, 4);
  const bool own = tf_rng_below(&g, 2), turned = tf_rng_below(&g, 3) == 0, last = tf_rng_below(&g, 4) == 0;
  const char *const matrix = turned ? "n,k" : "k,n";
  p->len = 0;
  page_say(p,
           "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n  - {name: L0, bandwidth: 1}\n  - {name: L1, "
           "bandwidth: 1, capacity: %d KiB}\n  - {name: L2, bandwidth: 1}\n  compute:\n"
           "  - {name: u, ops: [mac, add, mul], below: L2, mesh: [1, 1]}\n",
           1 << rng_between(&g, 0, 10));
  page_say(p, "workload:\n  name: w\n  dims: {b: %d, m: %d, n: %d, k: %d}\n  ops:\n", b, m.all, n.all, k.all);
  page_say(p, "  - \"Y[b,m,n] += X[b,m,k] * W[%s%s%s]\"\nmapping: |\n", own && !last ? "b," : "", matrix,
           own && last ? ",b" : "");
  page_say(p, "  L0 for b=%d m=%d n=%d k=%d\n    L1\n      L2 for m=%d n=%d k=%d\n        op Y\n", b, m.trip, n.trip,
           k.trip, of_each(m), of_each(n), of_each(k));
}
