/* Sums and maxima over small windows, channels before the image or behind it: depthwise
 * convolutions and pooling of all strides, spreads and borders, maps of what they make, and a
 * product over channels behind them. */
#include <stdio.h>

#include "tests/kernels/draw.h"

static int parts(int n, int by) { return (n + by - 1) / by; }

/* Batch, channels in and out, rows and columns out, window, stride, spread, border. */
typedef struct {
  int n, c, k, p, q, r, s, stride, apart, pad;
} lengths;

static lengths draw_lengths(tf_rng *g) {
  static const int most[] = {2, 20, 12, 11, 40, 5, 5, 3, 2, 2};
  int n[10]; /* in this order, whatever the compiler */
  for (int i = 0; i < 10; i++)
    n[i] = rng_between(g, i < 9, most[i]);
  lengths v = {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9]};
  if (v.r * v.s == 1) v.s = 3;
  return v;
}

/* Elements of the image along a side: what the windows reach, but for the border before it and some
 * of one behind. */
static int side(const lengths *v, int out, int window, int *pad) {
  const int all = (out - 1) * v->stride + (window - 1) * v->apart + 1;
  if (all <= 2 * *pad) *pad = 0;
  return all - *pad - *pad / 2;
}

/* What is summed, and maps of it: of tensors D, then A. */
static const char *const sums[] = {"+= %s * F[%s]", "max= %s", "+= %s", "min= %s",
                                   "+= (%s - F[%s]) * 2"};
static const char *const maps[] = {
    "relu(D[%s])", "D[%s] / 9",   "max(D[%s], U[c]) * 0.5",       "-D[%s] + V[%s]",
    "exp(D[%s])",  "silu(D[%s])", "D[%s] * sigmoid(D[%s]) + U[c]"};

static void write_tree(page *p, tf_rng *g, const lengths *v, int map, bool product) {
  const int tile = rng_between(g, 1, v->p), trip = parts(v->p, tile), left = parts(v->p, trip);
  const bool cuts = tf_rng_below(g, 6) == 0 && map < 0; /* the window, too */
  const char *names[] = {"D", "A", "E"};
  page_say(p, "mapping: |\n  L0 for p=%d%s\n", trip, cuts ? " r=2" : "");
  if (map >= 0 || product) page_say(p, "    L0\n      Seq\n");
  for (int o = 0; o < 3; o++) {
    if ((o == 1 && map < 0) || (o == 2 && !product)) continue;
    page_say(p, "        L0 for n=%d p=%d\n          L1 for %s=%d q=%d", v->n, left,
             o == 2 ? "k" : "c", o == 2 ? v->k : v->c, v->q);
    if (o == 0) page_say(p, "\n            L2 for r=%d s=%d", cuts ? parts(v->r, 2) : v->r, v->s);
    if (o == 1) page_say(p, "\n            L2");
    if (o == 2) page_say(p, "\n            L2 for c=%d", v->c);
    page_say(p, "\n              op %s\n", names[o]);
  }
}

/* Sums over all of an image, of two reduced dims with the last one contiguous. */
static void draw_image_sum(page *p, uint64_t seed) {
  static const char *const of[] = {"+= I[n,c,p,q]", "max= I[n,c,p,q]", "+= I[n,c,p,q] * I[n,c,p,q]",
                                   "+= I[n,c,p,q] * F[c,p] - U[q]"};
  tf_rng g = tf_rng_new(seed, 19);
  const int n = rng_between(&g, 1, 2), c = rng_between(&g, 1, 20), rows = rng_between(&g, 1, 12),
            columns = rng_between(&g, 1, 70),
            cut = tf_rng_below(&g, 3) == 0 ? 2 : 1; /* sums in two steps */
  p->len = 0;
  page_say(p, "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n"
              "  - {name: L0, bandwidth: 1}\n  - {name: L1, bandwidth: 1}\n  compute:\n"
              "  - {name: u, ops: [mac, add, sub, mul, max], below: L1, mesh: [1, 1]}\n");
  page_say(
      p, "workload:\n  name: w\n  dims: {n: %d, c: %d, p: %d, q: %d}\n  ops:\n  - \"D[n,c] %s\"\n",
      n, c, rows, columns, of[tf_rng_below(&g, 4)]);
  page_say(p, "mapping: |\n  L0 for n=%d p=%d\n    L1 for c=%d p=%d q=%d\n      op D\n", n, cut, c,
           parts(rows, cut), columns);
}

/* The same, where what is beyond the borders is said to be no part of the sum: in some cases one
 * border is not quite that of the image. */
static void choose_inside(char *expr, size_t room, int sum, const char *image, const lengths *v,
                          const int side[4]) {
  static const char *const of[] = {"", "max= select(%s, %s, -inf)", "", "min= select(%s, %s, inf)"};
  char inside[200];
  snprintf(inside, sizeof inside,
           "0 <= %d*p + %d*r - %d and %d*p + %d*r - %d < %d and -1 < %d*q + %d*s - %d and %d*q + "
           "%d*s - %d <= %d",
           v->stride, v->apart, side[0], v->stride, v->apart, side[0], side[2] - (v->c % 5 == 0),
           v->stride, v->apart, side[1], v->stride, v->apart, side[1], side[3] - 1);
  snprintf(expr, room, of[sum], inside, image);
}

void draw_window(page *p, uint64_t seed) {
  tf_rng g = tf_rng_new(seed, 13), lot = tf_rng_new(seed, 20);
  if (tf_rng_below(&lot, 8) == 0) { /* one window in eight is all of the image */
    draw_image_sum(p, seed);
    return;
  }
  lengths v = draw_lengths(&g);
  const bool behind = tf_rng_below(&g, 3) == 0; /* channels behind the image */
  const int sum = (int)tf_rng_below(&g, 5), map = (int)tf_rng_below(&g, 8) - 1;
  const bool product = tf_rng_below(&g, 2);
  int pads[2] = {v.pad, v.pad};
  const int h = side(&v, v.p, v.r, &pads[0]), w = side(&v, v.q, v.s, &pads[1]);
  const char *at = behind ? "n,p,q,c" : "n,c,p,q",
             *weights = behind && tf_rng_below(&g, 2) ? "r,s,c" : "c,r,s";
  char image[80], rows[60], expr[320];
  snprintf(rows, sizeof rows, "%d*p + %d*r - %d, %d*q + %d*s - %d", v.stride, v.apart, pads[0],
           v.stride, v.apart, pads[1]);
  snprintf(image, sizeof image, behind ? "I[n,%s,c]" : "I[n,c,%s]", rows);
  p->len = 0;
  page_say(p, "architecture:\n  name: a\n  clock: 1 GHz\n%s",
           tf_rng_below(&lot, 2) ? DRAW_SMALL_PAGES : "");
  page_say(p, "  memories:\n  - {name: L0, bandwidth: 1}\n  - {name: L1, bandwidth: 1}\n"
              "  - {name: L2, bandwidth: 1}\n  compute:\n"
              "  - {name: u, ops: [mac, add, sub, mul, div, max, min, exp, neg, relu, sigmoid, "
              "silu, select], below: L2, mesh: [1, 1]}\n");
  page_say(p, "workload:\n  name: w\n  dims: {n: %d, c: %d, p: %d, q: %d, r: %d, s: %d", v.n, v.c,
           v.p, v.q, v.r, v.s);
  if (product) page_say(p, ", k: %d", v.k);
  page_say(p, "}\n  tensors:\n");
  if (behind)
    page_say(p, "    I: {pad: [0, %d, %d, 0], shape: [%d, %d, %d, %d]}\n  ops:\n", pads[0], pads[1],
             v.n, h, w, v.c);
  else
    page_say(p, "    I: {pad: [0, 0, %d, %d], shape: [%d, %d, %d, %d]}\n  ops:\n", pads[0], pads[1],
             v.n, v.c, h, w);
  snprintf(expr, sizeof expr, sums[sum], image, weights);
  if ((sum == 1 || sum == 3) && tf_rng_below(&lot, 2) == 0)
    choose_inside(expr, sizeof expr, sum, image, &v, (const int[]){pads[0], pads[1], h, w});
  page_say(p, "  - \"D[%s] %s\"\n", at, expr);
  snprintf(expr, sizeof expr, maps[map < 0 ? 0 : map], at, at);
  if (map >= 0) page_say(p, "  - \"A[%s] = %s\"\n", at, expr);
  if (product)
    page_say(p, "  - \"E[%s] += %s[%s] * G[k,c]\"\n", behind ? "n,p,q,k" : "n,k,p,q",
             map < 0 ? "D" : "A", at);
  write_tree(p, &g, &v, map, product);
}
