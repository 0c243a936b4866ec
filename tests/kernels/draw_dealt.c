/* A product, and perhaps a map of it, whose rows or columns the mapping deals to two cores in turn:
 * each takes neighbouring pieces, with columns in whole panels or not. */
#include "tests/kernels/draw.h"

static int parts(int n, int by) { return (n + by - 1) / by; }

/* L1 is so small that not all matrices stay close. */
static void begin(page *p, tf_rng *g) {
  p->len = 0;
  page_say(p, "architecture:\n  name: a\n  clock: 1 GHz\n%s",
           tf_rng_below(g, 2) ? DRAW_SMALL_PAGES : "");
  page_say(p,
           "  memories:\n  - {name: L0, bandwidth: 1}\n"
           "  - {name: L1, bandwidth: 1, capacity: %d, mesh: [2, 1]}\n"
           "  - {name: L2, bandwidth: 1}\n  compute:\n"
           "  - {name: u, ops: [mac, add, max], below: L2, mesh: [1, 1]}\n",
           64 << rng_between(g, 4, 12));
}

/* A dim's extent, and into how many pieces it is cut: outside of the loop over cores, by it, and
 * inside. */
typedef struct {
  int extent, first, then, cores, inner;
} cut;

static cut draw_cut(tf_rng *g, int least, int most, bool dealt) {
  cut c = {.first = 1, .then = 1, .cores = dealt ? 2 : 1};
  const bool even = tf_rng_below(g, 2);
  c.first = rng_between(g, 1, 4);
  if (dealt && tf_rng_below(g, 2)) c.then = rng_between(g, 2, 3);
  const int pieces = c.first * c.then * c.cores;
  c.extent = even ? pieces * 16 * rng_between(g, 1, 3) : rng_between(g, least, most);
  c.inner = parts(c.extent, pieces);
  return c;
}

void draw_dealt(page *p, uint64_t seed) {
  tf_rng g = tf_rng_new(seed, 29);
  begin(p, &g);
  const bool rows = tf_rng_below(&g, 3) == 0, map = tf_rng_below(&g, 2),
             turned = tf_rng_below(&g, 4) == 0;
  cut n = draw_cut(&g, 20, 200, !rows), m = draw_cut(&g, 5, 80, rows);
  const int k = rng_between(&g, 3, 90), k_trip = map ? 1 : rng_between(&g, 1, 3);
  page_say(p,
           "workload:\n  name: w\n  dims: {m: %d, n: %d, k: %d}\n  ops:\n"
           "  - \"Y[m,n] += X[m,k] * %s\"\n",
           m.extent, n.extent, k, turned ? "W[n,k]" : "W[k,n]");
  if (map) page_say(p, "  - \"Z[m,n] = max(Y[m,n] + B[n], 0)\"\n");
  page_say(p, "mapping: |\n  L0 for m=%d n=%d\n    L0 for m=%d n=%d spatial %c=2@x\n", m.first,
           n.first, m.then, n.then, rows ? 'm' : 'n');
  if (map) page_say(p, "      Seq\n");
  page_say(p, "        L1 for k=%d\n          L2 for m=%d n=%d k=%d\n            op Y\n", k_trip,
           m.inner, n.inner, parts(k, k_trip));
  if (map)
    page_say(p, "        L1\n          L2 for m=%d n=%d\n            op Z\n", m.inner, n.inner);
}
