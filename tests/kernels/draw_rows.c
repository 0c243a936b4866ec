/* Maps and sums over rows of all lengths between two products, as attention has them, or before
 * one: those that a kernel may make while it multiplies, and some that it must not. */
#include <stdio.h>

#include "tests/kernels/draw.h"

static int parts(int n, int by) { return (n + by - 1) / by; }

/* What stands between S and the last product, which reads P. */
typedef struct {
  const char *name, *expr;
} op;
static const op all[][7] = {
    {{"X", "X[h,m] max= S[h,m,l]"},
     {"D", "D[h,m,l] = S[h,m,l] - X[h,m]"},
     {"E", "E[h,m,l] = exp(D[h,m,l])"},
     {"Z", "Z[h,m] += E[h,m,l]"},
     {"P", "P[h,m,l] = E[h,m,l] / Z[h,m]"}},
    {{"X", "X[h,m] max= S[h,m,l]"},
     {"E", "E[h,m,l] = exp(S[h,m,l] - X[h,m])"},
     {"Z", "Z[h,m] += E[h,m,l]"},
     {"P", "P[h,m,l] = E[h,m,l] / Z[h,m]"}},
    {{"T",
      "T[h,m,l] = select(l <= m, S[h,m,l] * 0.5, -inf)"}, /* rows that end where the mask does */
     {"X", "X[h,m] max= T[h,m,l]"},
     {"D", "D[h,m,l] = T[h,m,l] - X[h,m]"},
     {"E", "E[h,m,l] = exp(D[h,m,l])"},
     {"Z", "Z[h,m] += E[h,m,l]"},
     {"P", "P[h,m,l] = E[h,m,l] / Z[h,m]"}},
    {{"T", "T[h,m,l] = select(m + 20 > l and l != 7, S[h,m,l] - W[h,m], -inf)"},
     {"X", "X[h,m] max= T[h,m,l]"},
     {"E", "E[h,m,l] = exp(T[h,m,l] - X[h,m])"},
     {"Z", "Z[h,m] += E[h,m,l]"},
     {"P", "P[h,m,l] = E[h,m,l] / Z[h,m]"}},
    {{"T", "T[h,m,l] = select(l <= m, S[h,m,l], -inf)"}, /* and one that does not: other values are
                                                            read there */
     {"X", "X[h,m] max= T[h,m,l]"},
     {"E", "E[h,m,l] = exp(S[h,m,l] - X[h,m])"},
     {"P", "P[h,m,l] = E[h,m,l] + U[l]"}},
    {{"T", "T[h,m,l] = select(l <= m and m - l < 30, S[h,m,l], -inf)"}, /* both ends, and rows that
                                                                           see nothing */
     {"X", "X[h,m] max= T[h,m,l]"},
     {"E", "E[h,m,l] = exp(T[h,m,l] - X[h,m])"},
     {"Z", "Z[h,m] += E[h,m,l]"},
     {"P", "P[h,m,l] = E[h,m,l] / Z[h,m]"}},
    {{"T", "T[h,m,l] = select(not l + 9 > m, S[h,m,l], -inf)"},
     {"X", "X[h,m] max= T[h,m,l]"},
     {"E", "E[h,m,l] = exp(T[h,m,l] - X[h,m])"},
     {"P", "P[h,m,l] = E[h,m,l] * 2"}},
    {{"T", "T[h,m,l] = select(l <= m + 3, S[h,m,l], -inf)"}, {"P", "P[h,m,l] = exp(T[h,m,l])"}},
    {{"P", "P[h,m,l] = exp(S[h,m,l])"}},
    {{"E", "E[h,m,l] = max(S[h,m,l], 0) * U[l]"}, {"P", "P[h,m,l] = E[h,m,l] + W[h,m]"}},
    {{"X", "X[h,m] min= S[h,m,l]"},
     {"E", "E[h,m,l] = S[h,m,l] / exp(X[h,m])"},
     {"P", "P[h,m,l] = min(E[h,m,l], U[l])"}},
    {{"E", "E[h,m,l] = exp(S[h,m,l] - W[h,m])"},
     {"Z", "Z[h,m] += E[h,m,l]"},
     {"P", "P[h,m,l] = E[h,m,l] * Z[h,m]"}},
    {{"X", "X[h,m] += S[h,m,l]"},
     {"E", "E[h,m,l] = -S[h,m,l] * X[h,m]"},
     {"P", "P[h,m,l] = relu(E[h,m,l])"}},
    {{"P", "P[h,m,l] = exp(S[h,m,l]) * (m - 2 * l)"}},
    {{"E", "E[h,m,l] = silu(S[h,m,l])"}, {"P", "P[h,m,l] = E[h,m,l] * sigmoid(W[h,m])"}},
    {{"E", "E[h,m,l] = sigmoid(S[h,m,l])"},
     {"Z", "Z[h,m] += E[h,m,l]"},
     {"P", "P[h,m,l] = E[h,m,l] / Z[h,m]"}},
    {{"E", "E[h,m,l] = S[h,m,l] + h"}, {"P", "P[h,m,l] = E[h,m,l] * U[l]"}},
};
enum { N_ALL = sizeof all / sizeof *all };

/* A dim and how far it goes; NULL: none. */
typedef struct {
  const char *name;
  int n;
} dim;

/* The loops of one op below its tile of rows: m of them are left. */
static void own(page *p, const char *name, int h, int m, dim inner, dim more) {
  page_say(p, "        L0 for");
  if (h > 1) page_say(p, " h=%d", h);
  page_say(p, " m=%d\n          L1\n            L2 for", m);
  page_say(p, " %s=%d", inner.name, inner.n);
  if (more.name) page_say(p, " %s=%d", more.name, more.n);
  page_say(p, "\n              op %s\n", name);
}

void draw_rows(page *p, uint64_t seed) {
  tf_rng g = tf_rng_new(seed, 11);
  const op *between_ops = all[tf_rng_below(&g, N_ALL)];
  const int h = rng_between(&g, 1, 3), m = rng_between(&g, 1, 50), a = rng_between(&g, 1, 7),
            n = rng_between(&g, 1, tf_rng_below(&g, 3) ? 40 : 150);
  const int l = tf_rng_below(&g, 3) ? rng_between(&g, 1, 130) : 16 * rng_between(&g, 1, 8),
            tile = rng_between(&g, 1, m);
  const int heads = tf_rng_below(&g, 2) ? h : 1, trip = parts(m, tile), left = parts(m, trip);
  const bool made = tf_rng_below(&g, 4) > 0;
  p->len = 0;
  page_say(p, "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n"
              "  - {name: L0, bandwidth: 1}\n  - {name: L1, bandwidth: 1}\n"
              "  - {name: L2, bandwidth: 1}\n  compute:\n"
              "  - {name: u, ops: [mac, add, sub, mul, div, max, min, exp, neg, relu, select, "
              "sigmoid, silu], below: L2, mesh: [1, 1]}\n");
  page_say(p, "workload:\n  name: w\n  dims: {h: %d, m: %d, l: %d, a: %d, n: %d}\n  ops:\n", h, m,
           l, a, n);
  if (made) page_say(p, "  - \"S[h,m,l] += Q[h,m,a] * K[h,l,a]\"\n");
  for (const op *o = between_ops; o->name; o++)
    page_say(p, "  - \"%s\"\n", o->expr);
  page_say(p,
           "  - \"O[h,m,n] += P[h,m,l] * V[h,l,n]\"\nmapping: |\n  L0 for h=%d m=%d\n"
           "    L0\n      Seq\n",
           heads, trip);
  const int rest = h / heads;
  if (made) own(p, "S", rest, left, (dim){"l", l}, (dim){"a", a});
  for (const op *o = between_ops; o->name; o++)
    own(p, o->name, rest, left, (dim){"l", l}, (dim){NULL, 0});
  own(p, "O", rest, left, (dim){"n", n}, (dim){"l", l});
}
