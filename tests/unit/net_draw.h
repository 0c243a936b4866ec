/* Random networks as YAML: rows by columns, through products, maps, windows, strides, slices, sums,
 * views, and what is read by several.  Dims are called by their extents, as importers call them. */
#ifndef TESTS_UNIT_NET_DRAW_H
#define TESTS_UNIT_NET_DRAW_H
#include <stdio.h>

#include "base/rng.h"

enum { NET_MOST = 40, NET_TEXT = 1 << 14 };

/* A machine that runs all that is drawn. */
static const char net_arch[] =
    "architecture:\n"
    "  name: small\n"
    "  clock: 1 GHz\n"
    "  memories:\n"
    "  - {name: DRAM, bandwidth: 4}\n"
    "  - {name: L1, capacity: 4 KiB, bandwidth: 64}\n"
    "  compute:\n"
    "  - {name: u, ops: [mac, add, mul, max, div, abs, relu, copy], below: L1, mesh: [4, 1]}\n";

typedef struct {
  tf_rng rng;
  char ops[NET_TEXT], views[NET_TEXT];
  int n, rows[NET_MOST], cols[NET_MOST];
  bool padded[NET_MOST];
  int n_inputs;
} net_draw;

static inline int net_pick(net_draw *g, int n) { return (int)tf_rng_below(&g->rng, (unsigned)n); }

static inline void net_say(char *to, const char *text) {
  snprintf(to + strlen(to), NET_TEXT - strlen(to), "%s", text);
}

/* A tensor of that shape made before; -1: none. */
static inline int net_like(net_draw *g, int rows, int cols) {
  int found = -1;
  for (int i = 0; i < g->n; i++)
    if (g->rows[i] == rows && g->cols[i] == cols && (found < 0 || net_pick(g, 2))) found = i;
  return found;
}

/* One op that reads tensor x (T0 is the input); false: it does not suit. */
static inline bool net_draw_op(net_draw *g, int x) {
  const int m = g->rows[x], n = g->cols[x], t = g->n, kind = net_pick(g, 10);
  const char *second = m == n ? "_2" : "";
  char s[300];
  int rows = m, cols = n;
  if (kind == 0) { /* a product with weights */
    static const int widths[] = {2, 3, 4, 6, 8};
    cols = widths[net_pick(g, 5)];
    const char *in = cols == m || cols == n ? "_3" : "";
    snprintf(s, sizeof s, "  - T%d[d%d,d%d%s] += T%d[d%d,d%d%s] * W%d[d%d%s,d%d%s]\n", t, m, cols,
             in, x, m, n, second, t, n, second, cols, in);
  } else if (kind == 1) {
    snprintf(s, sizeof s, "  - T%d[d%d,d%d%s] = relu(T%d[d%d,d%d%s] + B%d[d%d%s])\n", t, m, n,
             second, x, m, n, second, t, n, second);
  } else if (kind == 2) { /* of two, which may be one */
    snprintf(s, sizeof s, "  - T%d[d%d,d%d%s] = T%d[d%d,d%d%s] + 0.5 * T%d[d%d,d%d%s]\n", t, m, n,
             second, x, m, n, second, net_like(g, m, n), m, n, second);
  } else if (kind == 3) {
    rows = n, cols = m;
    snprintf(s, sizeof s, "  - T%d[d%d%s,d%d] = T%d[d%d,d%d%s] * 0.25\n", t, n, second, m, x, m, n,
             second);
  } else if (kind == 4) { /* a window along the rows, padded */
    g->padded[x] = true;
    snprintf(s, sizeof s, "  - T%d[d%d,d%d%s] += T%d[d%d + w3 - 1,d%d%s] * F%d[w3,d%d%s]\n", t, m,
             n, second, x, m, n, second, t, n, second);
  } else if (kind == 5 && m % 2 == 0 && m > 2) {
    rows = m / 2;
    const char *other = rows == n ? "_2" : "";
    snprintf(s, sizeof s, "  - T%d[d%d,d%d%s] max= T%d[2*d%d + w2,d%d%s]\n", t, rows, n, other, x,
             rows, n, other);
  } else if (kind == 6 && n % 2 == 0 && n > 2) { /* a slice */
    cols = n / 2;
    const char *other = cols == m ? "_2" : "";
    snprintf(s, sizeof s, "  - T%d[d%d,d%d%s] = T%d[d%d,d%d%s + %d]\n", t, m, cols, other, x, m,
             cols, other, cols);
  } else if (kind == 7) { /* two ops: a sum of rows, and what divides by it */
    if (t + 2 > NET_MOST) return false;
    snprintf(s, sizeof s, "  - T%d[d%d] += T%d[d%d,d%d%s] * T%d[d%d,d%d%s]\n", t, m, x, m, n,
             second, x, m, n, second);
    net_say(g->ops, s);
    g->rows[t] = g->cols[t] = 0, g->n++; /* a row: read by the next op alone */
    snprintf(s, sizeof s, "  - T%d[d%d,d%d%s] = T%d[d%d,d%d%s] / (1 + abs(T%d[d%d]))\n", t + 1, m,
             n, second, x, m, n, second, t, m);
  } else if (kind == 8 && m == n) { /* rows with columns of one tensor */
    snprintf(s, sizeof s, "  - T%d[d%d,d%d_2] += T%d[d%d,d%d_4] * T%d[d%d_2,d%d_4]\n", t, m, n, x,
             m, n, x, m, n);
  } else if (kind == 9 && x > 0) { /* the same words in rows of another length */
    rows = n, cols = m;
    snprintf(s, sizeof s, "    V%d: {view: T%d, shape: [%d, %d]}\n", t, x, rows, cols);
    net_say(g->views, s);
    snprintf(s, sizeof s, "  - T%d[d%d,d%d%s] = V%d[d%d,d%d%s] * 2\n", t, rows, cols, second, t,
             rows, cols, second);
  } else {
    return false;
  }
  net_say(g->ops, s);
  g->rows[g->n] = rows;
  g->cols[g->n++] = cols;
  return true;
}

/* A workload of so many ops or one more.  Static: the text of the last. */
static inline const char *net_draw_text(uint64_t seed, int n_ops) {
  static net_draw g;
  static char text[4 * NET_TEXT];
  static const int extents[] = {2, 3, 4, 6, 8};
  g = (net_draw){.rng = tf_rng_new(seed, 5), .n = 1};
  g.rows[0] = extents[net_pick(&g, 5)];
  g.cols[0] = extents[net_pick(&g, 5)];
  while (g.n <= n_ops && g.n < NET_MOST) {
    const int back = g.n < 4 ? g.n : 4,
              x = net_pick(&g, 3) ? g.n - 1 : g.n - 1 - net_pick(&g, back);
    if (g.rows[x]) net_draw_op(&g, x);
  }
  char *p = text + sprintf(text, "workload:\n  name: drawn\n  dims: {");
  const char *between = "";
  for (int k = 0; k < 5; k++)
    for (int v = 1; v <= 4; v++) {
      char name[20];
      snprintf(name, sizeof name, v > 1 ? "d%d_%d" : "d%d", extents[k], v);
      const char *at = g.ops;
      bool used = false;
      for (size_t len = strlen(name); !used && (at = strstr(at, name)) != NULL; at += len)
        used = at[len] != '_' && (at[len] < '0' || at[len] > '9');
      if (used) p += sprintf(p, "%s%s: %d", between, name, extents[k]), between = ", ";
    }
  if (strstr(g.ops, "w3")) p += sprintf(p, ", w3: 3");
  if (strstr(g.ops, "w2")) p += sprintf(p, ", w2: 2");
  p += sprintf(p, "}\n");
  bool any = false;
  for (int i = 0; i < g.n; i++)
    if (g.padded[i]) {
      p += sprintf(p, any ? "    T%d: {pad: [1, 0]" : "  tensors:\n    T%d: {pad: [1, 0]", i);
      if (i == 0) p += sprintf(p, ", shape: [%d, %d]", g.rows[0], g.cols[0]);
      p += sprintf(p, "}\n");
      any = true;
    }
  sprintf(p, "%s%s  ops:\n%s", *g.views && !any ? "  tensors:\n" : "", g.views, g.ops);
  return text;
}
#endif
