/* Attention whose keys are streamed, a block at a time, below loops that come back to the same
 * keys: maxima and sums that go on, and panels that are packed once.  Blocks need not divide what
 * they are of. */
#include <stdio.h>

#include "tests/kernels/draw.h"

static int parts(int n, int by) { return (n + by - 1) / by; }

/* A mask of places: some leave whole blocks nothing, some whole rows.  NULL: none; what hides keys
 * is added. */
static const char *condition(tf_rng *g, char *text, size_t size) {
  const int c = rng_between(g, -20, 60), w = rng_between(g, 1, 60);
  switch (tf_rng_below(g, 9)) {
  case 0: snprintf(text, size, "l <= m"); break;
  case 1: snprintf(text, size, "m + %d > l and l != 7", c); break;
  case 2: snprintf(text, size, "l <= m and m - l < %d", w); break;
  case 3: snprintf(text, size, "not (l > m + %d or l + %d < m)", c < 0 ? -c : c, w); break;
  case 4: snprintf(text, size, "%d <= m - l", c); break;
  case 5: snprintf(text, size, "l == m or l < %d", w); break;
  case 6: snprintf(text, size, "m < %d and l < %d or m >= %d and l >= %d", w, w, w, w); break;
  default: return NULL;
  }
  return text;
}

static void own(page *p, const char *name, const char *loops) {
  page_say(p, "          L1\n            L2%s\n              op %s\n", loops, name);
}

/* The loops of an op below the block at hand, over dims and steps of them. */
static const char *loops_of(char *text, size_t size, const char *const *dim, const int *trip,
                            int n) {
  size_t at = 0;
  const char *word = " for";
  text[0] = 0;
  for (int i = 0; i < n; i++)
    if (trip[i] > 1)
      at += (size_t)snprintf(text + at, size - at, "%s %s=%d", word, dim[i], trip[i]), word = "";
  return text;
}

void draw_stream(page *p, uint64_t seed) {
  tf_rng g = tf_rng_new(seed, 17);
  const int h = rng_between(&g, 1, 3), m = rng_between(&g, 1, 70),
            l = rng_between(&g, 1, tf_rng_below(&g, 2) ? 60 : 200), a = rng_between(&g, 1, 40),
            n = rng_between(&g, 1, 50);
  const int rows = rng_between(&g, 1, m), keys = rng_between(&g, 1, l),
            heads = tf_rng_below(&g, 3) ? h : 1;
  const bool masked = tf_rng_below(&g, 2), joined = tf_rng_below(&g, 2),
             threads = tf_rng_below(&g, 3) == 0;
  const int m_trip = parts(m, rows), l_trip = parts(l, keys);
  const char *s = masked ? "T" : "S";
  char text[128];
  const char *sees = masked ? condition(&g, text, sizeof text) : NULL;
  p->len = 0;
  page_say(p,
           "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n"
           "  - {name: L0, bandwidth: 1}\n"
           "  - {name: L1, bandwidth: 1, capacity: %d KiB%s}\n"
           "  - {name: L2, bandwidth: 1}\n  compute:\n"
           "  - {name: u, ops: [mac, add, sub, mul, div, max, min, exp, neg, relu, select], below: "
           "L2, mesh: [1, 1]}\n",
           1 << rng_between(&g, 0, 12), threads ? ", mesh: [3, 1]" : "");
  page_say(p, "workload:\n  name: w\n  dims: {h: %d, m: %d, l: %d, a: %d, n: %d}\n  ops:\n", h, m,
           l, a, n);
  page_say(p, "  - \"S[h,m,l] += Q[h,m,a] * K[h,l,a]\"\n");
  if (sees)
    page_say(p, "  - \"T[h,m,l] = select(%s, S[h,m,l] * 0.25, -inf)\"\n", sees);
  else if (masked)
    page_say(p, "  - \"T[h,m,l] = S[h,m,l] * 0.25 + B[m,l]\"\n");
  page_say(p, "  - \"X[h,m] max= %s[h,m,l]\"\n", s);
  if (!joined)
    page_say(p, "  - \"D[h,m,l] = %s[h,m,l] - X[h,m]\"\n  - \"E[h,m,l] = exp(D[h,m,l])\"\n", s);
  if (joined) page_say(p, "  - \"E[h,m,l] = exp(%s[h,m,l] - X[h,m])\"\n", s);
  page_say(p, "  - \"Z[h,m] += E[h,m,l]\"\n  - \"P[h,m,l] = E[h,m,l] / Z[h,m]\"\n"
              "  - \"O[h,m,n] += P[h,m,l] * V[h,l,n]\"\nmapping: |\n");
  page_say(p, threads && m_trip > 2 ? "  L0 for h=%d m=%d spatial m=3@x\n" : "  L0 for h=%d m=%d\n",
           heads, threads && m_trip > 2 ? parts(m_trip, 3) : m_trip);
  page_say(p, "    L0 for l=%d\n      L1\n        Seq stream X Z O\n", l_trip);
  const int left = parts(m, threads && m_trip > 2 ? 3 * parts(m_trip, 3) : m_trip),
            rest = h / heads, cut = parts(l, l_trip);
  const char *const product[] = {"h", "m", "l", "a"}, *const out[] = {"h", "m", "n", "l"};
  const int makes[] = {rest, left, cut, a}, sums[] = {rest, left, n, cut};
  loops_of(text, sizeof text, product, makes, 4), own(p, "S", text);
  loops_of(text, sizeof text, product, makes, 3);
  if (masked) own(p, "T", text);
  own(p, "X", text);
  if (!joined) own(p, "D", text);
  own(p, "E", text), own(p, "Z", text), own(p, "P", text);
  loops_of(text, sizeof text, out, sums, 4), own(p, "O", text);
}
