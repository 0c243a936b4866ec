/* Products of two inputs, of which the second may be laid out once for many calls: one matrix, or
 * one for each setting of a dim outside, with neighbours along n or along k; in blocks of columns
 * and parts of k that divide it or not. */
#include <stdio.h>

#include "tests/kernels/draw.h"

/* A length and the number of its blocks, mostly of equal ones. */
typedef struct {
  int all, trip;
} length;

static length drawn_length(tf_rng *g, int most_trip, int most_each, int each_of) {
  length l = {.trip = tf_rng_below(g, 2) ? 1 : rng_between(g, 1, most_trip)};
  const int each = tf_rng_below(g, 2) ? rng_between(g, 1, most_each)
                                      : each_of * rng_between(g, 1, most_each / each_of);
  l.all = l.trip * each;
  if (l.trip > 1 && tf_rng_below(g, 4) == 0) l.all -= rng_between(g, 0, each - 1);
  return l;
}

static int of_each(length l) { return (l.all + l.trip - 1) / l.trip; }

void draw_panels(page *p, uint64_t seed) {
  tf_rng g = tf_rng_new(seed, 29);
  const int b = rng_between(&g, 1, 3);
  const length m = drawn_length(&g, 3, 30, 7), n = drawn_length(&g, 3, 80, 16),
               k = drawn_length(&g, 3, 60, 4);
  const bool own = tf_rng_below(&g, 2), turned = tf_rng_below(&g, 3) == 0,
             last = tf_rng_below(&g, 4) == 0;
  const char *const matrix = turned ? "n,k" : "k,n";
  p->len = 0;
  page_say(p,
           "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n"
           "  - {name: L0, bandwidth: 1}\n"
           "  - {name: L1, bandwidth: 1, capacity: %d KiB}\n"
           "  - {name: L2, bandwidth: 1}\n  compute:\n"
           "  - {name: u, ops: [mac, add, mul], below: L2, mesh: [1, 1]}\n",
           1 << rng_between(&g, 0, 10));
  page_say(p, "workload:\n  name: w\n  dims: {b: %d, m: %d, n: %d, k: %d}\n  ops:\n", b, m.all,
           n.all, k.all);
  page_say(p, "  - \"Y[b,m,n] += X[b,m,k] * W[%s%s%s]\"\nmapping: |\n", own && !last ? "b," : "",
           matrix, own && last ? ",b" : "");
  page_say(p, "  L0 for b=%d m=%d n=%d k=%d\n    L1\n      L2 for m=%d n=%d k=%d\n        op Y\n",
           b, m.trip, n.trip, k.trip, of_each(m), of_each(n), of_each(k));
}

/* ---- zeros ---------------------------------------------------------------------------------- */

static int rounded(int n, int to) { return (n + to - 1) / to * to; }

/* "A[m,k] * X[b,k,n]", in one of its forms. */
static void product(page *p, tf_rng *g, const char *a, const char *x, const char *m, const char *k,
                    bool turned) {
  char left[32], right[32];
  snprintf(left, sizeof left, "%s[%s,%s]", a, turned ? k : m, turned ? m : k);
  snprintf(right, sizeof right, "%s[b,%s,n]", x, k);
  const bool first = tf_rng_below(g, 2);
  page_say(p, "%s * %s\"\n", first ? left : right, first ? right : left);
}

/* "{n: 2, m: 4, dim: k}", or blocks of `high` rows. */
static void density(page *p, const int *of, int high, bool turned) {
  if (!high) page_say(p, "    A: {density: {n: %d, m: %d, dim: k}}\n", of[0], of[1]);
  if (high)
    page_say(p, "    A: {density: {blocks: [%d, %d], share: 0.%d}}\n", turned ? of[1] : high,
             turned ? high : of[1], of[0]);
}

/* Products that skip the zeros of an operand with n of every m elements along the sum, or in
 * blocks: its rows or its columns are the sum's, it is read first or second; the other operand is
 * an argument, one for each setting of a dim outside, or what another op makes; blocks that the
 * mapping cuts in the middle or not; on one core or two; two such products in a row.
 */
void draw_thin(page *p, uint64_t seed) {
  static const int patterns[][2] = {{2, 4}, {2, 4},  {1, 2}, {1, 4},   {4, 8},
                                    {3, 7}, {5, 16}, {4, 4}, {20, 256}};
  tf_rng g = tf_rng_new(seed, 46);
  const int *of = patterns[tf_rng_below(&g, sizeof patterns / sizeof *patterns)];
  const int b = rng_between(&g, 1, 2), cores = rng_between(&g, 1, 2);
  length m = drawn_length(&g, 3, 20, 5), k = drawn_length(&g, 3, 100, of[1] < 50 ? of[1] : 4);
  const length n = drawn_length(&g, 3, 150, 16);
  const bool turned = tf_rng_below(&g, 3) == 0, second = tf_rng_below(&g, 3) == 0,
             made = tf_rng_below(&g, 3) == 0, two = tf_rng_below(&g, 4) == 0;
  k.all = rounded(k.all, of[1]);
  tf_rng h = tf_rng_new(seed, 47);
  const int high = tf_rng_below(&h, 2) ? rng_between(&h, 1, 9) : 0; /* 0: no blocks */
  if (high) m.all = rounded(m.all, high);
  if (two) m.all = rounded(m.all, high ? 4 * high : 4);
  const int rest = 4 * rng_between(&g, 1, 8), extent = (m.all + cores - 1) / cores;
  p->len = 0;
  page_say(p,
           "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n"
           "  - {name: L0, bandwidth: 1}\n"
           "  - {name: L1, mesh: [%d, 1], bandwidth: 1, capacity: %d KiB}\n"
           "  - {name: L2, bandwidth: 1%s}\n  compute:\n"
           "  - {name: u, ops: [mac, add, mul, relu], below: L2, mesh: [1, 1]%s}\n"
           "  core: {l1-resident: %d KiB}\n",
           cores, 1 << rng_between(&g, 4, 10), second ? ", skipping: [{target: '*'}]" : "",
           second ? "" : ", skipping: [{}]", 1 << rng_between(&g, 0, 6));
  page_say(p, "workload:\n  name: w\n  dims: {b: %d, m: %d, n: %d, k: %d", b, m.all, n.all, k.all);
  if (two) page_say(p, ", l: %d", rest);
  page_say(p, "}\n  tensors:\n");
  density(p, of, high, turned);
  if (two) page_say(p, "    C: {density: {n: 1, m: 4, dim: m}}\n");
  page_say(p, "  ops:\n");
  if (made) page_say(p, "  - \"X[b,k,n] = relu(Z[b,k,n])\"\n");
  page_say(p, "  - \"Y[b,m,n] += "), product(p, &g, "A", "X", "m", "k", turned);
  if (two) page_say(p, "  - \"V[b,l,n] += "), product(p, &g, "C", "Y", "l", "m", false);
  const char *in = made || two ? "    " : "";
  page_say(p, "mapping: |\n%s", made || two ? "  L0\n    Seq\n" : "");
  if (made)
    page_say(p, "      L0\n        L1\n          L2 for b=%d k=%d n=%d\n            op X\n", b,
             k.all, n.all);
  page_say(p, "%s  L0 for b=%d m=%d n=%d k=%d spatial m=%d@x\n", in, b, cores > 1 ? 1 : m.trip,
           n.trip, k.trip, cores);
  page_say(p, "%s    L1\n%s      L2 for m=%d n=%d k=%d\n%s        op Y\n", in, in,
           cores > 1 ? extent : of_each(m), of_each(n), of_each(k), in);
  if (two)
    page_say(p, "      L0\n        L1\n          L2 for b=%d l=%d n=%d m=%d\n            op V\n", b,
             rest, n.all, m.all);
}
