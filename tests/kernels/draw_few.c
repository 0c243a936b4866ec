/* Rows that are normalised, or scaled, and then meet a matrix block by block of its columns: rows
 * that a product wants in another form are copied once for all blocks; few rows read the matrix
 * where it stands, in either order, and more have it pass by in panels.  Or a few queries for each
 * head of keys and values.  Or a single row that no dim counts, over one sum or two. */
#include <stdio.h>

#include "tests/kernels/draw.h"

static int parts(int n, int by) { return (n + by - 1) / by; }

/* L1 is so small that not all matrices stay close. */
static void begin(page *p, tf_rng *g, bool threads) {
  p->len = 0;
  page_say(p, "architecture:\n  name: a\n  clock: 1 GHz\n%s",
           tf_rng_below(g, 2) ? DRAW_SMALL_PAGES : "");
  page_say(p,
           "  memories:\n  - {name: L0, bandwidth: 1}\n"
           "  - {name: L1, bandwidth: 1, capacity: %d%s}\n  - {name: L2, bandwidth: 1}\n"
           "  compute:\n"
           "  - {name: u, ops: [mac, add, sub, mul, div, max, min, exp, neg, relu], below: L2, "
           "mesh: [1, 1]}\n",
           64 << rng_between(g, 0, 5), threads ? ", mesh: [2, 1]" : "");
}

static void linear(page *p, tf_rng *g) {
  /* sums so long that rows of a matrix that lies along them are multiplied in tiles */
  const bool tall = tf_rng_below(g, 4) == 0;
  /* so many rows that the matrix passes by in panels, of whose columns some are left */
  const bool passes = !tall && tf_rng_below(g, 2);
  const int m = passes ? rng_between(g, 9, 70)
                       : rng_between(g, 1, tall || tf_rng_below(g, 3) == 0 ? 40 : 8),
            any = passes ? rng_between(g, 60, 200) : rng_between(g, 1, 90),
            k = tall ? rng_between(g, 128, 560) : rng_between(g, passes ? 20 : 1, 90);
  /* blocks of 32 to 96 columns, for which panels may have to be narrower */
  const bool blocks = passes && tf_rng_below(g, 3);
  const int wide = 16 * rng_between(g, 2, 6), cuts = rng_between(g, 2, 3);
  const int n_any = parts(any, rng_between(g, 1, any)), n_trip = blocks ? cuts : n_any,
            n = blocks ? wide * n_trip : any, k_trip = parts(k, rng_between(g, 1, k)),
            m_trip = passes ? 1 : parts(m, rng_between(g, 1, m));
  const bool turned = !passes && tf_rng_below(g, 2), inside = tf_rng_below(g, 2),
             threads = tf_rng_below(g, passes ? 8 : 4) == 0;
  const char *w = turned ? "W[n,k]" : "W[k,n]";
  begin(p, g, threads);
  page_say(p,
           "workload:\n  name: w\n  dims: {m: %d, n: %d, k: %d}\n  ops:\n"
           "  - \"L[m,k] = X[m,k] * G[k] - B[m]\"\n",
           m, n, k);
  page_say(p, "  - \"Y[m,n] += L[m,k] * %s\"\nmapping: |\n", w);
  if (inside) page_say(p, "  L0 for m=%d\n    Seq\n", m_trip);
  if (!inside) page_say(p, "  L0\n    Seq\n");
  const int left = inside ? parts(m, m_trip) : m, cut = inside ? 1 : m_trip;
  page_say(p, "      L0\n        L1\n          L2 for m=%d k=%d\n            op L\n", left, k);
  if (threads)
    page_say(p, "      L0 for m=%d n=%d spatial n=2@x\n        L1 for k=%d\n", cut,
             parts(n_trip, 2), k_trip);
  else
    page_say(p, "      L0 for m=%d n=%d k=%d\n        L1\n", cut, n_trip, k_trip);
  page_say(p, "          L2 for m=%d n=%d k=%d\n            op Y\n", parts(left, cut),
           parts(n, threads ? 2 * parts(n_trip, 2) : n_trip), parts(k, k_trip));
}

static void queries(page *p, tf_rng *g) {
  const int h = rng_between(g, 1, 3), q = rng_between(g, 1, 4), m = rng_between(g, 1, 3),
            l = rng_between(g, 1, 130), a = rng_between(g, 1, 70), n = rng_between(g, 1, 70),
            l_trip = parts(l, rng_between(g, 1, l));
  const bool turned = tf_rng_below(g, 3) == 0, streams = tf_rng_below(g, 2);
  begin(p, g, false);
  page_say(p, "workload:\n  name: w\n  dims: {h: %d, q: %d, m: %d, l: %d, a: %d, n: %d}\n  ops:\n",
           h, q, m, l, a, n);
  page_say(p, "  - \"S[h,q,m,l] += Q[h,q,m,a] * %s\"\n", turned ? "K[h,a,l]" : "K[h,l,a]");
  page_say(p, "  - \"X[h,q,m] max= S[h,q,m,l]\"\n  - \"E[h,q,m,l] = exp(S[h,q,m,l] - X[h,q,m])\"\n"
              "  - \"Z[h,q,m] += E[h,q,m,l]\"\n  - \"P[h,q,m,l] = E[h,q,m,l] / Z[h,q,m]\"\n"
              "  - \"O[h,q,m,n] += P[h,q,m,l] * V[h,l,n]\"\nmapping: |\n");
  page_say(p, "  L0 for h=%d\n    L0 for l=%d\n      L1\n        Seq%s\n", h, streams ? l_trip : 1,
           streams ? " stream X Z O" : "");
  const int cut = streams ? parts(l, l_trip) : l;
  static const char *const names[] = {"S", "X", "E", "Z", "P", "O"};
  for (int i = 0; i < 6; i++) {
    page_say(p, "          L1\n            L2 for q=%d m=%d l=%d", q, m, cut);
    if (i == 0) page_say(p, " a=%d", a);
    if (i == 5) page_say(p, " n=%d", n);
    page_say(p, "\n              op %s\n", names[i]);
  }
}

static void one_row(page *p, tf_rng *g) {
  const int h = rng_between(g, 1, 4), n = rng_between(g, 1, 90), d = rng_between(g, 1, 70),
            n_trip = parts(n, rng_between(g, 1, n)), d_trip = parts(d, rng_between(g, 1, d));
  const bool turned = tf_rng_below(g, 2), heads = tf_rng_below(g, 2),
             batch = tf_rng_below(g, 3) == 0;
  begin(p, g, false);
  page_say(p, "workload:\n  name: w\n  dims: {b: %d, h: %d, n: %d, d: %d}\n  ops:\n", batch ? h : 1,
           heads ? h : 1, n, d);
  page_say(p, "  - \"L[b,h,d] = X[b,h,d] * G[d]\"\n  - \"Y[b,n] += L[b,h,d] * ");
  if (turned)
    page_say(p, "W[b,n,%d*h+d]\"\nmapping: |\n", d);
  else
    page_say(p, "W[b,%d*h+d,n]\"\nmapping: |\n", d);
  const int hs = heads ? h : 1, bs = batch ? h : 1;
  page_say(
      p, "  L0\n    Seq\n      L0\n        L1\n          L2 for b=%d h=%d d=%d\n            op L\n",
      bs, hs, d);
  page_say(p,
           "      L0 for b=%d n=%d d=%d\n        L1\n          L2 for h=%d n=%d d=%d\n"
           "            op Y\n",
           bs, n_trip, d_trip, hs, parts(n, n_trip), parts(d, d_trip));
}

void draw_few(page *p, uint64_t seed) {
  tf_rng g = tf_rng_new(seed, 23);
  const uint32_t kind = tf_rng_below(&g, 4);
  if (kind == 0)
    one_row(p, &g);
  else if (kind < 3)
    linear(p, &g);
  else
    queries(p, &g);
}
