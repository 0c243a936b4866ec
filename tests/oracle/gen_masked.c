/* Workloads whose softmax is masked: causal, windows, diagonals, either way round. */
#include "tests/oracle/gen.h"

/* A condition on m and l that leaves something of it: of every row, but for some. */
static void condition(tf_rng *g, page *p) {
  const int c = rng_between(g, -2, 3), w = rng_between(g, 1, 3);
  switch (rng_between(g, 0, 6)) {
  case 0: page_say(p, "l <= m"); return;
  case 1: page_say(p, "l <= m + %d", rng_between(g, 0, 3)); return;
  case 2: page_say(p, "m <= l"); return;
  case 3: page_say(p, "l <= m and m - l < %d", w); return;
  case 4: page_say(p, "m - l < %d and l - m < %d", w, rng_between(g, 1, 3)); return;
  case 5: page_say(p, "l == m"); return;
  default: page_say(p, "l < m + %d and m - %d < l", c < 1 ? 1 : c, w + 1); return;
  }
}

const char *gen_masked(tf_rng *g, page *p) {
  static const char *const name[] = {"masked softmax", "attention, masked", "attention, masked, divided",
                                     "attention of projections"};
  const int kind = rng_chance(g, 6) ? rng_between(g, 2, 3) : rng_between(g, 0, 1), m = rng_between(g, 2, 5);
  const int l = rng_chance(g, 4) ? rng_between(g, 2, 5) : m;
  const char *h = kind == 1 && rng_chance(g, 5) ? "b," : "";
  page_say(p, "workload:\n  name: w\n  dims: {m: %d, l: %d, n: 2%s%s}\n  ops:\n", m, l, *h ? ", b: 2" : "",
           kind == 3 ? ", e: 2, a: 2"
           : kind    ? ", a: 2"
                     : "");
  if (kind == 3) page_say(p, "  - \"K[l,a] += J[l,e] * U[e,a]\"\n");
  if (kind) page_say(p, "  - \"S[%sm,l] += Q[%sm,a] * K[%sl,a]\"\n", h, h, h);
  page_say(p, "  - \"T[%sm,l] = select(", h);
  condition(g, p);
  page_say(p, ", S[%sm,l], -inf)\"\n  - \"X[%sm] max= T[%sm,l]\"\n", h, h, h);
  page_say(p, "  - \"E[%sm,l] = exp(T[%sm,l] - X[%sm])\"\n  - \"Z[%sm] += E[%sm,l]\"\n", h, h, h, h, h);
  if (kind == 2) page_say(p, "  - \"P[%sm,l] = E[%sm,l] / Z[%sm]\"\n", h, h, h);
  page_say(p, "  - \"O[%sm,n] += %s[%sm,l] * V[%sl,n]\"\n", h, kind == 2 ? "P" : "E", h, h);
  return name[kind];
}
