/* Workloads whose meaning hangs on numbers at the ends of their range: softmax in steps behind a mask, maxima and
 * minima, quotients of what a row has in common. */
#include <stdio.h>

#include "tests/kernels/draw.h"

static int parts(int n, int by) { return (n + by - 1) / by; }

static void head(page *p) {
  p->len = 0;
  page_say(p, "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n  - {name: L0, bandwidth: 1}\n  - {name: L1, "
              "bandwidth: 1}\n  - {name: L2, bandwidth: 1}\n"
              "  compute:\n  - {name: u, ops: [mac, add, sub, mul, div, max, min, exp, neg, relu, select, abs, sqrt, "
              "tanh, sigmoid, silu, floor, ceil, round, trunc, sin, cos, fmod], below: L2, mesh: [1, 1]}\n");
}

/* What of the scores counts, by where they stand; some leave rows of which nothing does. */
static const char *const masks[] = {
    "  - T[m,l] = select(l <= m, S[m,l], -inf)\n",
    "  - T[m,l] = select(l <= m + %d, S[m,l] * 0.25, -inf)\n",
    "  - T[m,l] = select(l <= m + %d and m - l < %d, S[m,l], -inf)\n",
    "  - T[m,l] = select(m > l, S[m,l], -inf)\n",
    "  - T[m,l] = select(l < %d, S[m,l], -inf)\n",
    "  - T[m,l] = select(not (l > m) or l < %d, S[m,l] - 0.125 * (m - l), -inf)\n",
    "  - T[m,l] = S[m,l] - 0.25 * max(m - l, l - m)\n",
    "  - T[m,l] = select(l > m - %d, S[m,l], -1e30)\n",
};
enum { N_MASKS = sizeof masks / sizeof *masks };

/* Attention in steps over l, and in tiles of m; with a mask, or without; quotients before the product, or none. */
static void streamed(page *p, tf_rng *g) {
  const int m = rng_between(g, 1, 40), l = rng_between(g, 2, 90), k = rng_between(g, 1, 9), n = rng_between(g, 1, 40);
  const int rows = rng_between(g, 1, m), steps = rng_between(g, 1, l < 9 ? l : 9), tm = parts(m, rows),
            tl = parts(l, steps);
  const bool mask = tf_rng_below(g, 4) > 0, apart = tf_rng_below(g, 3) == 0, divides = tf_rng_below(g, 4) > 0;
  page_say(p, "workload:\n  name: w\n  dims: {m: %d, l: %d, k: %d, n: %d}\n  ops:\n  - S[m,l] += Q[m,k]*K[l,k]\n", m, l,
           k, n);
  if (tf_rng_below(g, 2))
    page_say(p, masks[tf_rng_below(g, N_MASKS)], rng_between(g, 0, l), rng_between(g, 1, 30));
  else
    page_say(p, mask ? "  - T[m,l] = S[m,l] + B[m,l]\n" : "  - T[m,l] = S[m,l] * 0.25\n");
  page_say(p, "  - X[m] max= T[m,l]\n");
  page_say(p, apart ? "  - D[m,l] = T[m,l] - X[m]\n  - E[m,l] = exp(D[m,l])\n" : "  - E[m,l] = exp(T[m,l] - X[m])\n");
  if (divides) page_say(p, "  - Z[m] += E[m,l]\n  - P[m,l] = E[m,l] / Z[m]\n");
  page_say(p, "  - O[m,n] += %s[m,l] * V[l,n]\nmapping: |\n  L0 for m=%d l=%d\n    L1\n      Seq stream X %sO\n",
           divides ? "P" : "E", rows, steps, divides ? "Z " : "");
  page_say(p, "        L2 for m=%d l=%d k=%d\n          op S\n", tm, tl, k);
  static const char *const names[] = {"T", "X", "D", "E", "Z", "P"};
  for (int i = 0; i < 6; i++)
    if ((i != 2 || apart) && (i < 4 || divides))
      page_say(p, "        L2 for m=%d l=%d\n          op %s\n", tm, tl, names[i]);
  page_say(p, "        L2 for m=%d l=%d n=%d\n          op O\n", tm, tl, n);
}

/* What stands alone: its expression, and the loops of its op. */
static const struct {
  const char *expr, *dims;
} alone[] = {
    {"T[m] max= X[m,n]", "mn"},
    {"T[m] min= X[m,n]", "mn"},
    {"T[n] max= X[m,n]", "mn"},
    {"T[n] min= X[m,n] - Y[n,m]", "mn"},
    {"T[m,n] = max(X[m,n], Y[m,n])", "mn"},
    {"T[m,n] = min(X[m,n], Y[n,m])", "mn"},
    {"T[m,n] = max(min(X[m,n], 6), -1.5)", "mn"},
    {"T[m,n] = max(0, X[m,n])", "mn"},
    {"T[m,n] = relu(X[m,n]) + min(2, Y[m,n])", "mn"},
    {"T[m,n] = exp(min(X[m,n], max(Y[m,n], W[m,n])))", "mn"},
    {"T[m,n] = exp(max(X[m,n], -3) - min(W[m,n], 1))", "mn"},
    {"T[m,n] = select(X[m,n], Y[m,n], W[m,n])", "mn"},
    {"T[m,n] = X[m,n] / U[m]", "mn"},
    {"T[m,n] = exp(X[m,n]) / U[m]", "mn"},
    {"T[m,n] = tanh(X[m,n]) + sigmoid(Y[m,n]) * abs(W[m,n])", "mn"},
    {"T[m,n] = silu(X[m,n]) * Y[m,n]", "mn"},
    {"T[m,n] max= X[2*m+r,n]", "mnr"},
    {"T[m,n] max= X[m,2*n+r]", "mnr"},
    {"T[m,n] min= X[m,n+r+1]", "mnr"},
    {"T[m] max= max(X[m,n], Y[m,n])", "mn"},
    {"T[m] += X[m,n]", "mn"},
    {"T[m,n] += X[m,r] * Y[r,n]", "mnr"},
    {"T[m,n] += X[m,r] * Y[r,n] * (r <= m)", "mnr"},
    {"T[m,n] += select(r != n - m, X[m,r], 2) * Y[r,n]", "mnr"},
    {"T[m,n] = exp(select(n < 3 * m - 5, X[m,n], -inf))", "mn"},
    {"T[m,n] = (m == n) + (X[m,n] < Y[m,n]) * n", "mn"},
    {"T[m] += select(X[m,n] >= 0 and n > 3, n, m / 8)", "mn"},
    {"T[n] max= select(not X[m,n] or m == 2, -inf, Y[n,m])", "mn"},
    {"T[m,n] = 2 * m - n", "mn"},
    {"T[m,n] = floor(X[m,n] * 3) + ceil(Y[n,m] / 0.3) * trunc(W[m,n] * 5)", "mn"},
    {"T[m,n] = min(max(round(X[m,n] / 0.05) + 3, -128), 127) - 3", "mn"},
    {"T[m,n] = sin(X[m,n] * 9) - cos(Y[m,n]) * fmod(X[m,n], W[m,n])", "mn"},
    {"T[m,n] = exp(round(X[m,n]) - ceil(W[m,n])) * floor(n / 3)", "mn"},
};
enum { N_ALONE = sizeof alone / sizeof *alone };

/* A maximum that is taken in steps, and is what comes out: nothing of it may start at a number. */
static void one_op(page *p, tf_rng *g) {
  const int i = (int)tf_rng_below(g, N_ALONE), m = rng_between(g, 1, 20), n = rng_between(g, 1, 70),
            r = rng_between(g, 1, 5), cut = rng_between(g, 1, n);
  page_say(p,
           "workload:\n  name: w\n  dims: {m: %d, n: %d, r: %d}\n  ops:\n  - \"%s\"\nmapping: |\n  L0 for n=%d\n    "
           "L1\n      L2 for m=%d n=%d",
           m, n, alone[i].dims[2] ? r : 1, alone[i].expr, cut, m, parts(n, cut));
  if (alone[i].dims[2]) page_say(p, " r=%d", r);
  page_say(p, "\n        op T\n");
}

/* A row's quotients before a product, of sums of anything, at once. */
static void quotients(page *p, tf_rng *g) {
  static const char *const sums[] = {"D[m] += P[m,l]", "D[m] max= P[m,l]", "D[m] += A[m,l]", "D[m] += P[m,l] * P[m,l]"};
  const int m = rng_between(g, 1, 30), l = rng_between(g, 1, 80), n = rng_between(g, 1, 40);
  page_say(p,
           "workload:\n  name: w\n  dims: {m: %d, l: %d, n: %d}\n  ops:\n  - \"%s\"\n  - Q[m,l] = P[m,l] / D[m]\n  - "
           "O[m,n] += Q[m,l] * V[l,n]\n",
           m, l, n, sums[tf_rng_below(g, 4)]);
  page_say(p,
           "mapping: |\n  L0\n    L1\n      Seq\n        L2 for m=%d l=%d\n          op D\n        L2 for m=%d l=%d\n  "
           "        op Q\n        L2 for m=%d l=%d n=%d\n          op O\n",
           m, l, m, l, m, l, n);
}

void draw_wild(page *p, uint64_t seed) {
  tf_rng g = tf_rng_new(seed, 13);
  const uint64_t which = tf_rng_below(&g, 9);
  head(p);
  if (which == 8)
    draw_spelled_work(p, &g, rng_chance(&g, 2) ? 60 : 12);
  else if (which < 3)
    streamed(p, &g);
  else if (which < 5)
    quotients(p, &g);
  else
    one_op(p, &g);
}
