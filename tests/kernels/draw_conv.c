/* Small convolutions, one or two in a row, or one in groups or in phases, whose mapping spreads
 * channels over the units. */
#include <stdio.h>
#include <string.h>

#include "tests/kernels/draw.h"

static int parts(int n, int by) { return (n + by - 1) / by; }

/* A convolution's lengths: batch, channels out and in, rows and columns out, window, stride,
 * padding; the distance of the window's elements less 1, and the padding behind the image. */
typedef struct {
  int n, k, c, p, q, r, s, stride, pad, apart, behind;
} conv;

/* An image has a row and a column. */
static void fit_border(conv *v) {
  if ((v->p - 1) * v->stride + v->r <= v->pad || (v->q - 1) * v->stride + v->s <= v->pad)
    v->pad = 0;
}

static conv draw_one(tf_rng *g) {
  static const int most[] = {2, 70, 9, 9, 31, 3, 3, 3, 1};
  int n[9]; /* in this order, whatever the compiler */
  for (int i = 0; i < 9; i++)
    n[i] = rng_between(g, i < 8, most[i]);
  conv v = {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], 0, 0};
  if (tf_rng_below(g, 3) == 0)
    v.r = v.s = 1;
  else if (tf_rng_below(g, 4) == 0)
    v.k += 60, v.c += 40, v.r = v.s = 3, v.p = parts(v.p, 3); /* weights that do not stay near */
  fit_border(&v);
  return v;
}

/* " for d=T" of a tile of at most `tile`; what is left of the dim for further in. */
static int cut(tf_rng *g, page *p, const char *dim, int n, const char **word) {
  const int tile = rng_between(g, 1, n), trip = parts(n, tile);
  page_say(p, "%s %s=%d", *word, dim, trip);
  *word = "";
  return parts(n, trip);
}

/* A convolution below its rows: the names of op and dims, and what is left of each dim. */
typedef struct {
  const char *op, *channels, *columns, *reduced, *windows[2];
  int k, q, c, r, s; /* channels, columns, reduced, the windows */
  int groups;        /* steps of g further in; 0: there is none */
} inner;

/* The op's own levels: near memory, then units over its channels (and, seldom, more over its
 * columns than channels can have: then lanes do not run along channels). */
static void own(tf_rng *g, page *t, const inner *x, int depth, bool whole) {
  const int k = x->k, c = x->c;
  const int lanes = rng_between(g, 2, 4), wide = tf_rng_below(g, 4) == 0 ? 4 : 1,
            across = k > lanes && wide == 1 ? rng_between(g, 1, 2) : 1;
  const char *word = " for";
  page_say(t, "%*sL1", depth, "");
  int k1 = !whole && tf_rng_below(g, 2) ? cut(g, t, x->channels, k, &word) : k,
      c1 = !whole && tf_rng_below(g, 2) ? cut(g, t, x->reduced, c, &word) : c;
  page_say(t, "\n%*sL2 for %s=%d %s=%d %s=%d %s=%d %s=%d", depth + 2, "", x->channels,
           parts(k1, lanes * across), x->columns, parts(x->q, wide), x->reduced, c1, x->windows[0],
           x->r, x->windows[1], x->s);
  if (x->groups) page_say(t, " g=%d", x->groups);
  page_say(t, " spatial %s=%d@x", x->channels, lanes);
  if (across > 1) page_say(t, " %s=%d@y", x->channels, across);
  if (wide > 1) page_say(t, " %s=%d@y", x->columns, wide);
  page_say(t, "\n%*sop %s\n", depth + 4, "", x->op);
}

static void machine(page *p, uint64_t seed) {
  tf_rng lot = tf_rng_new(seed, 29);
  page_say(p, "architecture:\n  name: a\n  clock: 1 GHz\n%s",
           tf_rng_below(&lot, 2) ? DRAW_SMALL_PAGES : "");
  page_say(p, "  memories:\n  - {name: L0, bandwidth: 1}\n  - {name: L1, bandwidth: 1}\n"
              "  - {name: L2, bandwidth: 1}\n  compute:\n"
              "  - {name: u, ops: [mac, add, mul, max, relu], below: L2, mesh: [16, 4]}\n");
}

/* In groups of channels: a rank of their own in image, weights and output, or (as exporters write
 * them) one with the channels in image and weights; the groups are walked outside of rows or within
 * the nest. */
static void grouped(tf_rng *g, page *p) {
  const conv v = draw_one(g);
  const int groups = rng_between(g, 2, 4), own_rank = rng_between(g, 0, 1),
            within = rng_between(g, 0, 1);
  const int k = parts(v.k, 3), c = parts(v.c, 2), h = (v.p - 1) * v.stride + v.r - v.pad,
            w = (v.q - 1) * v.stride + v.s - v.pad;
  page_say(p,
           "workload:\n  name: w\n"
           "  dims: {n: %d, g: %d, k: %d, p: %d, q: %d, c: %d, r: %d, s: %d}\n"
           "  tensors:\n",
           v.n, groups, k, v.p, v.q, c, v.r, v.s);
  if (own_rank)
    page_say(p,
             "    I: {pad: [0, 0, 0, %d, %d], shape: [%d, %d, %d, %d, %d]}\n  ops:\n"
             "  - \"O[n,g,k,p,q] += I[n, g, c, ",
             v.pad, v.pad, v.n, groups, c, h, w);
  else
    page_say(p,
             "    I: {pad: [0, 0, %d, %d], shape: [%d, %d, %d, %d]}\n  ops:\n"
             "  - \"O[n,g,k,p,q] += I[n, %d*g + c, ",
             v.pad, v.pad, v.n, groups * c, h, w, c);
  page_say(p, "%d*p + r - %d, %d*q + s - %d] * ", v.stride, v.pad, v.stride, v.pad);
  if (own_rank)
    page_say(p, "F[g,k,c,r,s]");
  else
    page_say(p, "F[%d*g + k, c, r, s]", k);
  page_say(p, "\"\nmapping: |\n  L0 for n=%d", v.n);
  const char *word = "";
  const int p1 = cut(g, p, "p", v.p, &word), k1 = tf_rng_below(g, 3) ? k : cut(g, p, "k", k, &word);
  page_say(p, "\n    L0 for p=%d", p1);
  if (!within) page_say(p, " g=%d", groups);
  page_say(p, "\n");
  own(g, p, &(inner){"O", "k", "q", "c", {"r", "s"}, k1, v.q, c, v.r, v.s, within ? groups : 0}, 6,
      false);
}

/* Elements of the image along rows or columns of which there are so many, of windows of that
 * length. */
static int elements(const conv *v, int windows, int length) {
  return (windows - 1) * v->stride + (length - 1) * (v->apart + 1) + 1 - v->pad - v->behind;
}

static void image(page *p, const conv *v) {
  const int pad = v->pad > v->behind ? v->pad : v->behind;
  page_say(p, "    I: {pad: [0, 0, %d, %d], shape: [%d, %d, %d, %d]}\n", pad, pad, v->n, v->c,
           elements(v, v->p, v->r), elements(v, v->q, v->s));
}

/* Phases of a transposed convolution: g moves the weights alone, which are read beyond their end
 * where a phase has fewer of them; or they are not, and there are as many as phases have together.
 */
static void phases(tf_rng *g, page *p) {
  conv v = draw_one(g);
  v.stride = 1;
  fit_border(&v);
  const int phases = rng_between(g, 2, 3), within = rng_between(g, 0, 1), c = parts(v.c, 2);
  const int behind = rng_between(g, 0, phases - 1), first = rng_between(g, 0, 1);
  v.c = c;
  page_say(p,
           "workload:\n  name: w\n"
           "  dims: {n: %d, g: %d, k: %d, p: %d, q: %d, c: %d, r: %d, s: %d}\n"
           "  tensors:\n",
           v.n, phases, v.k, v.p, v.q, c, v.r, v.s);
  image(p, &v);
  page_say(p, "    F: {pad: [0, 0, 0, %d], shape: [%d, %d, %d, %d]}\n", behind, v.k, c, v.r,
           v.s * phases - behind);
  page_say(
      p, "  ops:\n  - \"O[n,%s,p,q] += I[n, c, p + r - %d, q + s - %d] * F[k, c, r, %d*s + g]\"\n",
      first ? "g,k" : "k,g", v.pad, v.pad, phases);
  page_say(p, "mapping: |\n  L0 for n=%d", v.n);
  const char *word = "";
  const int p1 = cut(g, p, "p", v.p, &word),
            k1 = tf_rng_below(g, 3) ? v.k : cut(g, p, "k", v.k, &word);
  page_say(p, "\n    L0 for p=%d", p1);
  if (!within) page_say(p, " g=%d", phases);
  page_say(p, "\n");
  own(g, p, &(inner){"O", "k", "q", "c", {"r", "s"}, k1, v.q, c, v.r, v.s, within ? phases : 0}, 6,
      false);
}

/* Windows of up to 5, spread, with several rows and columns of border on each side. */
static void widen(tf_rng *g, conv *v) {
  v->r = rng_between(g, 1, 5), v->s = rng_between(g, 1, 5), v->apart = rng_between(g, 0, 1);
  v->c = parts(v->c, 3), v->pad = rng_between(g, 0, 3), v->behind = rng_between(g, 0, 3);
  if (elements(v, v->p, v->r) < 1 || elements(v, v->q, v->s) < 1) v->pad = v->behind = 0;
}

static void single(tf_rng *g, page *p) {
  conv v = draw_one(g);
  if (tf_rng_below(g, 2)) widen(g, &v);
  const char *word = " for";
  page_say(p,
           "workload:\n  name: w\n"
           "  dims: {n: %d, k: %d, p: %d, q: %d, c: %d, r: %d, s: %d}\n  tensors:\n",
           v.n, v.k, v.p, v.q, v.c, v.r, v.s);
  image(p, &v);
  page_say(p,
           "  ops:\n"
           "  - \"O[n,k,p,q] += I[n, c, %d*p + %d*r - %d, %d*q + %d*s - %d] * F[k,c,r,s]\"\n"
           "mapping: |\n  L0",
           v.stride, v.apart + 1, v.pad, v.stride, v.apart + 1, v.pad);
  if (tf_rng_below(g, 2)) page_say(p, " for n=%d", v.n), word = "";
  const int q = tf_rng_below(g, 3) ? v.q : cut(g, p, "q", v.q, &word),
            k = tf_rng_below(g, 2) ? v.k : cut(g, p, "k", v.k, &word);
  const int p1 = cut(g, p, "p", v.p, &word);
  page_say(p, "\n    L0 for p=%d%s", p1, "");
  if (!strstr(p->text, "for n=")) page_say(p, " n=%d", v.n);
  page_say(p, "\n");
  own(g, p, &(inner){"O", "k", "q", "c", {"r", "s"}, k, q, v.c, v.r, v.s, 0}, 6, false);
}

/* Two, the second over what the first makes, with a border or without, rows and columns kept or
 * made anew; in half of the cases channels are whole and there is no border, so that those between
 * them can stand in blocks. */
static void chain(tf_rng *g, page *p) {
  conv a = draw_one(g);
  conv b = draw_one(g);
  const bool whole = tf_rng_below(g, 2) == 0;
  if (whole) b.pad = 0;
  a.n = 1;
  a.p = (b.p - 1) * b.stride + b.r - b.pad, a.q = (b.q - 1) * b.stride + b.s - b.pad;
  const int rows = a.p < 1 || a.q < 1;
  fit_border(&a);
  if (rows) { /* nothing but border */
    single(g, p);
    return;
  }
  page_say(p,
           "workload:\n  name: w\n"
           "  dims: {n: 1, k: %d, p: %d, q: %d, c: %d, r: %d, s: %d, f: %d, x: %d, y: %d, u: %d, "
           "v: %d}\n"
           "  tensors:\n",
           a.k, a.p, a.q, a.c, a.r, a.s, b.k, b.p, b.q, b.r, b.s);
  image(p, &a);
  page_say(p, "    M: {pad: [0, 0, %d, %d]}\n  ops:\n", b.pad, b.pad);
  page_say(p, "  - \"M[n,k,p,q] += I[n, c, %d*p + r - %d, %d*q + s - %d] * W[k,c,r,s]\"\n",
           a.stride, a.pad, a.stride, a.pad);
  page_say(
      p,
      "  - \"O[n,f,x,y] += M[n, k, %d*x + u - %d, %d*y + v - %d] * V[f,k,u,v]\"\nmapping: |\n  L0",
      b.stride, b.pad, b.stride, b.pad);
  const char *word = " for";
  const int x = cut(g, p, "x", b.p, &word),
            y = tf_rng_below(g, 3) ? b.q : cut(g, p, "y", b.q, &word);
  /* rows of M of one tile of x, and its columns */
  const int rows_of_m = (x - 1) * b.stride + b.r;
  page_say(p, "\n    L0\n      Seq%s\n        L0 for p=%d\n",
           !whole && tf_rng_below(g, 3) ? " retain M" : "", rows_of_m < a.p ? rows_of_m : a.p);
  own(g, p, &(inner){"M", "k", "q", "c", {"r", "s"}, a.k, a.q, a.c, a.r, a.s, 0}, 10, whole);
  page_say(p, "        L0 for x=%d\n", x);
  own(g, p, &(inner){"O", "f", "y", "k", {"u", "v"}, b.k, y, a.k, b.r, b.s, 0}, 10, whole);
}

void draw_conv(page *p, uint64_t seed) {
  tf_rng g = tf_rng_new(seed, 7);
  p->len = 0;
  machine(p, seed);
  tf_rng lot = tf_rng_new(seed, 31);
  if (tf_rng_below(&lot, 4) == 0)
    tf_rng_below(&lot, 2) ? phases(&g, p) : grouped(&g, p);
  else if (tf_rng_below(&g, 3))
    single(&g, p);
  else
    chain(&g, p);
}
