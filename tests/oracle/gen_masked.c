/* Workloads whose softmax is masked: causal, windows, diagonals, either way round; with rows that
 * nobody reads, and neighbours whose dims have other names. */
#include "tests/oracle/gen.h"

#include <stdio.h>

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

/* The scores are made along dims p and q of their own, of which the mask's op reads m from `row` on
 * and l from `key` on, perhaps the other way round; what reads the result takes rows i of it, from
 * `first` on. */
typedef struct {
  bool apart, turned, tail, inside;
  int more_p, more_q, row, key, i, first;
} names;

static names draw_names(tf_rng *g, bool scores, int m) {
  names n = {
      .apart = scores && rng_chance(g, 3), .turned = rng_chance(g, 3), .tail = rng_chance(g, 3)};
  n.inside = !n.tail && rng_chance(g, 8);
  n.more_p = rng_between(g, 0, 2);
  n.more_q = rng_between(g, 0, 2);
  n.row = rng_between(g, 0, n.more_p);
  n.key = rng_between(g, 0, n.more_q);
  n.i = rng_between(g, 1, m);
  n.first = rng_between(g, 0, m - n.i);
  return n;
}

static void write_scores(const names *n, page *p, const char *h) {
  if (n->apart)
    page_say(p, "  - \"S[%s%s] += Q[%sp,a] * K[%sq,a]\"\n", h, n->turned ? "q,p" : "p,q", h, h);
  else
    page_say(p, "  - \"S[%sm,l] += Q[%sm,a] * K[%sl,a]\"\n", h, h, h);
}

static void write_mask(const names *n, tf_rng *g, page *p, const char *h) {
  char row[16] = "m", key[16] = "l";
  if (n->apart) {
    snprintf(row, sizeof row, "m + %d", n->row);
    snprintf(key, sizeof key, "l + %d", n->key);
  }
  page_say(p, "  - \"T[%sm,l] = select(", h);
  condition(g, p);
  page_say(p, ", S[%s%s,%s], -inf)\"\n", h, n->apart && n->turned ? key : row,
           n->apart && n->turned ? row : key);
}

static void write_dims(const names *n, int kind, int m, int l, bool batch, page *p) {
  page_say(p, "workload:\n  name: w\n  dims: {m: %d, l: %d, n: 2%s", m, l, batch ? ", b: 2" : "");
  if (kind) page_say(p, ", a: 2%s", kind == 3 ? ", e: 2" : "");
  if (n->apart) page_say(p, ", p: %d, q: %d", m + n->more_p, l + n->more_q);
  if (n->tail || n->inside) page_say(p, ", i: %d", n->i);
  page_say(p, "}\n  ops:\n");
}

const char *gen_masked(tf_rng *g, page *p) {
  static const char *const name[] = {"masked softmax", "attention, masked",
                                     "attention, masked, divided", "attention of projections"};
  const int kind = rng_chance(g, 6) ? rng_between(g, 2, 3) : rng_between(g, 0, 1),
            m = gen_wide && rng_chance(g, 2) ? rng_between(g, 15, 21) : rng_between(g, 2, 5);
  const int l = rng_chance(g, 4) ? rng_between(g, 2, 5) : m;
  const char *h = kind == 1 && rng_chance(g, 5) ? "b," : "";
  const names n = draw_names(g, kind > 0, m);
  write_dims(&n, kind, m, l, *h != 0, p);
  if (kind == 3)
    page_say(p, "  - \"K[%s,a] += J[%s,e] * U[e,a]\"\n", n.apart ? "q" : "l", n.apart ? "q" : "l");
  if (kind) write_scores(&n, p, h);
  write_mask(&n, g, p, h);
  page_say(p, "  - \"X[%sm] max= T[%sm,l]\"\n", h, h);
  page_say(p, "  - \"E[%sm,l] = exp(T[%sm,l] - X[%sm])\"\n  - \"Z[%sm] += E[%sm,l]\"\n", h, h, h, h,
           h);
  if (kind == 2) page_say(p, "  - \"P[%sm,l] = E[%sm,l] / Z[%sm]\"\n", h, h, h);
  page_say(p, "  - \"O[%s%s,n] += %s[%s%s,l] * V[%sl,n]\"\n", h, n.inside ? "i" : "m",
           kind == 2 ? "P" : "E", h, n.inside ? "i" : "m", h);
  if (n.tail)
    page_say(p, "  - \"R[%si] = O[%si + %d,0] / Z[%si + %d]\"\n", h, h, n.first, h, n.first);
  return name[kind];
}
