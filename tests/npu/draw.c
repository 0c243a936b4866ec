/* Products, chains of two with a map in between, attention, and maps with reductions: extents that
 * divide nothing, loops in any order, tiles of any number of blocks, partial sums that go out and
 * come back. */
#include "tests/npu/draw.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/rng.h"

typedef struct {
  uint64_t seed;
  tf_rng rng;
  char *at;
  size_t left;
} drawing;

static void put(drawing *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(drawing *d, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const int n = vsnprintf(d->at, d->left, fmt, args);
  va_end(args);
  if (n < 0 || (size_t)n >= d->left) return;
  d->at += n;
  d->left -= (size_t)n;
}

static int one_of(drawing *d, int n) { return (int)tf_rng_below(&d->rng, (uint32_t)n); }

/* A dim: how far its tiles of L0, of L1 and it itself go. */
typedef struct {
  const char *name;
  int zero, one, all;
} dim;

static dim draw_dim(drawing *d, const char *name, int block) {
  dim x = {.name = name};
  x.zero = block * (1 + one_of(d, block > 1 ? 2 : 1));
  x.one = x.zero * (1 + one_of(d, 2));
  x.all = x.one * (1 + one_of(d, 2)) + (one_of(d, 2) ? -one_of(d, x.zero) : 0);
  return x;
}

static int trips(int all, int by) { return (all + by - 1) / by; }

/* Loops over the dims in a random order; of which level: 0 over tiles of L0 in one of L1, 1 over
 * those of L1. */
static void put_loops(drawing *d, const dim *dims, int n, int level) {
  int order[8];
  bool any = false;
  for (int i = 0; i < n; i++)
    order[i] = i;
  for (int i = n - 1; i > 0; i--) {
    const int k = one_of(d, i + 1), was = order[i];
    order[i] = order[k];
    order[k] = was;
  }
  for (int i = 0; i < n; i++) {
    const dim *x = &dims[order[i]];
    const int t = level ? trips(x->all, x->one) : x->one / x->zero;
    if (t > 1) put(d, "%s%s=%d", any ? " " : " for ", x->name, t);
    any |= t > 1;
  }
}

/* Within a Tile of L0: blocks of 16. */
static void put_blocks(drawing *d, const dim *m, const dim *n, const dim *k) {
  const dim *const x[3] = {m, n, k};
  bool any = false;
  for (int i = 0; i < 3; i++)
    if (x[i]->zero > 16) {
      put(d, "%s%s=%d", any ? " " : " for ", x[i]->name, x[i]->zero / 16);
      any = true;
    }
  put(d, " spatial %s=16@x %s=16@y %s=16@x\n", m->name, n->name, k->name);
}

static void put_arch(drawing *d) {
  static const char *const overlap[] = {"double-buffer", "none"};
  put(d,
      "architecture:\n  name: drawn\n  word-bits: 32\n  overlap: %s\n  memories:\n"
      "  - {name: GM, bandwidth: {read: %d, write: %d}}\n"
      "  - {name: L1, capacity: %d KiB, bandwidth: {read: %d}}\n"
      "  - {name: UB, capacity: 256 KiB, bandwidth: {read: 64}}\n" NPU_CUBE
      "  - {name: vector, below: UB, mesh: [64, 1], rate: 1, ops: [add, sub, mul, div, max, min, "
      "neg, exp, log, sqrt, tanh, erf, sigmoid, relu, gelu, silu, abs, floor, ceil, round, trunc, "
      "sin, cos, fmod, select]}\n",
      overlap[one_of(d, 4) == 0], 8 << one_of(d, 3), 8 << one_of(d, 3), 256 << one_of(d, 2),
      32 << one_of(d, 3));
}

static void draw_product(drawing *d) {
  const dim b = draw_dim(d, "b", 1), m = draw_dim(d, "m", 16), n = draw_dim(d, "n", 16),
            k = draw_dim(d, "k", 16);
  const dim all[4] = {b, m, n, k};
  const bool left = one_of(d, 2), right = one_of(d, 2);
  put(d,
      "workload:\n  name: product\n  dims: {b: %d, m: %d, n: %d, k: %d}\n  ops:\n"
      "  - C[b,m,n] += %s * %s\n",
      b.all, m.all, n.all, k.all, left ? "A[b,m,k]" : "A[b,k,m]", right ? "B[k,n]" : "B[n,k]");
  put(d, "mapping: |\n  GM");
  put_loops(d, all, 4, 1);
  put(d, "\n    L1");
  put_loops(d, all, 4, 0);
  put(d, "%s\n      L0", one_of(d, 2) ? " bypass C" : "");
  put_blocks(d, &m, &n, &k);
  put(d, "        op C\n");
}

static void draw_chain(drawing *d) {
  static const char *const maps[] = {"max(C[m,l], 0)", "exp(C[m,l] * 0.125)",
                                     "C[m,l] / (1 + abs(C[m,l]))", "tanh(C[m,l]) - X[l]"};
  const dim m = draw_dim(d, "m", 16), l = draw_dim(d, "l", 16), k = draw_dim(d, "k", 16),
            n = draw_dim(d, "n", 16);
  const dim first[2] = {l, k}, second[2] = {n, l};
  const int map = one_of(d, 4), rows = m.one;
  put(d,
      "workload:\n  name: chain\n  dims: {m: %d, l: %d, k: %d, n: %d}\n  ops:\n"
      "  - C[m,l] += A[m,k] * B[k,l]\n"
      "  - F[m,l] = %s\n  - E[m,n] += F[m,l] * D[l,n]\nmapping: |\n  GM for m=%d\n"
      "    %s keep C@UB F@L1\n      L1",
      m.all, l.all, k.all, n.all, maps[map], trips(m.all, rows), one_of(d, 2) ? "Seq" : "Shar");
  const dim inner = {"m", m.zero, rows, rows};
  const dim a[3] = {first[0], first[1], inner}, b[3] = {second[0], second[1], inner};
  for (int i = 0; i < 2; i++) {
    const dim *x = i ? b : a;
    /* all of what is behind L1 in one Tile of it: trips of both */
    dim whole[3];
    for (int q = 0; q < 3; q++)
      whole[q] = (dim){x[q].name, x[q].zero, trips(x[q].all, x[q].zero) * x[q].zero, 0};
    put_loops(d, whole, 3, 0);
    if (i) {
      put(d, "%s\n        L0", one_of(d, 2) ? " bypass E" : "");
      put_blocks(d, &m, &n, &l);
      put(d, "          op E\n");
    } else {
      put(d, "\n        UB bypass A B\n          L0");
      put_blocks(d, &m, &l, &k);
      put(d,
          "            op C\n      L1%s\n        UB for m=%d l=%d spatial l=64@x\n"
          "          op F\n      L1",
          map == 3 && one_of(d, 2) ? " bypass X" : "", rows, trips(l.all, 64));
    }
  }
}

static void draw_attention(drawing *d) {
  const dim m = draw_dim(d, "m", 16), l = draw_dim(d, "l", 16), k = draw_dim(d, "k", 16);
  const int h = 1 + one_of(d, 2), rows = m.one;
  put(d,
      "workload:\n  name: attention\n  dims: {h: %d, m: %d, l: %d, k: %d, n: %d}\n"
      "  ops:\n  - S[h,m,l] += Q[h,m,k] * K[h,l,k]\n  - X[h,m] max= S[h,m,l]\n"
      "  - P[h,m,l] = exp(S[h,m,l] - X[h,m])\n  - D[h,m] += P[h,m,l]\n"
      "  - R[h,m,l] = P[h,m,l] / D[h,m]\n  - O[h,m,n] += R[h,m,l] * V[h,l,n]\n",
      h, m.all, l.all, k.all, k.all);
  put(d, "mapping: |\n  GM for h=%d m=%d\n    Seq keep S@UB X@UB P@UB D@UB R@L1\n", h,
      trips(m.all, rows));
  put(d, "      L1 for l=%d m=%d k=%d\n        UB bypass Q K\n          L0", trips(l.all, l.zero),
      rows / m.zero, trips(k.all, k.zero));
  put_blocks(d, &m, &l, &k);
  put(d, "            op S\n");
  for (const char *op = "XPD"; *op; op++)
    put(d, "      UB for m=%d l=%d spatial l=64@x\n        op %c\n", rows, trips(l.all, 64), *op);
  put(d, "      L1 bypass P D\n        UB for m=%d l=%d spatial l=64@x\n          op R\n", rows,
      trips(l.all, 64));
  const dim n = {"n", k.zero, k.one, k.all};
  put(d, "      L1 for n=%d m=%d l=%d bypass O\n        L0", trips(n.all, n.zero), rows / m.zero,
      trips(l.all, l.zero));
  put_blocks(d, &m, &n, &l);
  put(d, "          op O\n");
}

/* The same with its keys streamed, a block in L1 at a time, behind masks or without, with slopes or
 * without. */
static void draw_streams(drawing *d) {
  static const char *const masks[] = {"", "l <= m", "l <= m and m - l < 21", "l <= m + 7"};
  static const char *const whole = "P[h,m,l] / D[h,m]";
  const char *const shares[8] = {whole,
                                 whole,
                                 whole,
                                 whole,
                                 "1 / D[h,m] * P[h,m,l]",
                                 "P[h,m,l] * (0.5 / D[h,m])",
                                 "-(0.25 * P[h,m,l] / D[h,m])",
                                 "P[h,m,l] / (D[h,m] * 2)"};
  dim m = draw_dim(d, "m", 16), l = draw_dim(d, "l", 16), k = draw_dim(d, "k", 16),
      n = draw_dim(d, "n", 16);
  m.all += m.one * one_of(d, 5);
  const char *const mask = masks[one_of(d, 4)], *const scores = *mask ? "T" : "S";
  const int h = 1 + one_of(d, 2), keys = *mask ? m.all : l.all + one_of(d, 100);
  const bool near = one_of(d, 2), slopes = one_of(d, 2);
  put(d,
      "workload:\n  name: streams\n  dims: {h: %d, m: %d, l: %d, k: %d, n: %d}\n  ops:\n"
      "  - S[h,m,l] += Q[h,m,k] * K[h,l,k]\n",
      h, m.all, keys, k.all, n.all);
  if (*mask)
    put(d, "  - T[h,m,l] = select(%s, S[h,m,l] / 4%s, -inf)\n", mask,
        slopes ? " - A[h] * abs(m - l)" : "");
  put(d,
      "  - X[h,m] max= %s[h,m,l]\n  - P[h,m,l] = exp(%s(%s[h,m,l] - X[h,m]))\n"
      "  - D[h,m] += P[h,m,l]\n"
      "  - R[h,m,l] = %s\n  - O[h,m,n] += R[h,m,l] * V[h,l,n]\n",
      scores, one_of(d, 3) ? "" : "0.5 * ", scores, shares[one_of(d, 8)]);
  put(d, "mapping: |\n  GM for h=%d m=%d", h, trips(m.all, m.one));
  put(d, near ? "\n    L1 for l=%d\n" : " l=%d\n    L1\n", trips(keys, l.one));
  put(d, "      Seq stream X D O keep S@UB %s X@UB P@UB D@UB R@L1\n", *mask ? "T@UB" : "");
  put(d, "        L1 for l=%d m=%d k=%d\n          UB bypass Q K\n            L0", l.one / l.zero,
      m.one / m.zero, trips(k.all, k.zero));
  put_blocks(d, &m, &l, &k);
  put(d, "              op S\n");
  for (const char *op = *mask ? "TXPDR" : "XPDR"; *op; op++)
    put(d, "        UB for m=%d l=%d spatial l=16@x\n          op %c\n", m.one, l.one / 16, *op);
  put(d, "        L1 for n=%d m=%d l=%d\n          L0", trips(n.all, n.zero), m.one / m.zero,
      l.one / l.zero);
  put_blocks(d, &m, &n, &l);
  put(d, "            op O\n");
}

/* A side of a window: how many outputs, taps; how far apart; padding on both sides; elements of the
 * image. */
typedef struct {
  dim out, tap;
  int stride, apart, pad, size;
} window;

static window draw_window(drawing *d, const char *out, const char *tap, int block) {
  window w = {draw_dim(d, out, block),
              {tap, 1, 1, 1 + one_of(d, 3)},
              1 + one_of(d, 2),
              1 + (one_of(d, 4) == 0),
              0,
              0};
  w.tap.zero = one_of(d, 2) ? w.tap.all : 1;
  w.tap.one = one_of(d, 2) ? w.tap.all : w.tap.zero;
  if (block == 1) w.out.zero = 1 + one_of(d, w.out.all), w.out.one = w.out.zero;
  const int all = w.stride * (w.out.all - 1) + w.apart * (w.tap.all - 1) + 1;
  w.pad = one_of(d, 2) ? one_of(d, w.apart * (w.tap.all - 1) + 1) : 0;
  if (2 * w.pad >= all) w.pad = 0;
  w.size = all - 2 * w.pad;
  return w;
}

static void put_index(drawing *d, const window *w) {
  put(d, "%d*%s + %d*%s - %d", w->stride, w->out.name, w->apart, w->tap.name, w->pad);
}

/* A convolution, in groups or depth by depth: all of a Tile of L0 is one product of matrices for
 * each image and group. */
static void draw_conv(drawing *d) {
  const bool grouped = one_of(d, 3) == 0;
  const dim n = draw_dim(d, "n", 1), g = {"g", 1, 1, grouped ? 1 + one_of(d, 3) : 1},
            k = draw_dim(d, "k", 16);
  const dim c = draw_dim(d, "c", 16);
  const window y = draw_window(d, "p", "r", 1), x = draw_window(d, "q", "s", 16);
  const dim all[8] = {n, g, k, y.out, x.out, c, y.tap, x.tap};
  put(d,
      "workload:\n  name: conv\n"
      "  dims: {n: %d, g: %d, k: %d, p: %d, q: %d, c: %d, r: %d, s: %d}\n  tensors:\n"
      "    I: {pad: [0, 0, 0, %d, %d], shape: [%d, %d, %d, %d, %d]}\n  ops:\n"
      "  - O[n,g,k,p,q] += I[n,g,c, ",
      n.all, g.all, k.all, y.out.all, x.out.all, c.all, y.tap.all, x.tap.all, y.pad, x.pad, n.all,
      g.all, c.all, y.size, x.size);
  put_index(d, &y);
  put(d, ", ");
  put_index(d, &x);
  put(d, "] * F[%s]\nmapping: |\n  GM", one_of(d, 2) ? "g,k,c,r,s" : "g,r,s,k,c");
  put_loops(d, all, 8, 1);
  put(d, "\n    L1");
  put_loops(d, all, 8, 0);
  put(d, "%s\n      L0 for n=1", one_of(d, 2) ? " bypass O" : "");
  for (int i = 0; i < 8; i++) {
    const bool spatial = i == 2 || i == 4 || i == 5;
    const int times = spatial ? all[i].zero / 16 : all[i].zero;
    if (times > 1) put(d, " %s=%d", all[i].name, times);
  }
  put(d, " spatial q=16@x k=16@y c=16@x\n        op O\n");
}

static void draw_map(drawing *d) {
  static const char *const ops[] = {
      "F[m,n] = sqrt(abs(A[m,n])) + B[n] * 2",
      "F[m] max= A[m,n] - B[n]",
      "F[n] += exp(A[m,n] * 0.5)",
      "F[m,n] = select(A[m,n] < B[n], A[m,n], 1)",
      "F[m] += A[m,2*n] * B[n]",
      "F[m,n] = max(A[m,n], -B[n]) / 4",
      "F[m,n] = silu(A[m,n]) + gelu(B[n]) * sigmoid(A[m,n])",
      "F[m,n] = log(1 + relu(A[m,n])) - tanh(B[n]) / 2",
      "F[m,n] = select(A[m,n] <= B[n], erf(A[m,n]), min(B[n], 0))",
      "F[m,n] = floor(A[m,n] * 3) + round(B[n] * 7) - trunc(A[m,n] + B[n])",
      "F[m,n] = sin(A[m,n]) * cos(B[n]) + ceil(A[m,n]) + fmod(A[m,n], B[n])"};
  const size_t op = (size_t)one_of(d, sizeof ops / sizeof *ops);
  const int m = 1 + one_of(d, 40), n = 1 + one_of(d, 150), by = 8 << one_of(d, 3),
            high = 1 + one_of(d, 8);
  put(d, "workload:\n  name: map\n  dims: {m: %d, n: %d}\n  ops:\n  - %s\nmapping: |\n  GM for", m,
      n, ops[op]);
  if (one_of(d, 2))
    put(d, " m=%d n=%d", trips(m, high), trips(n, by));
  else
    put(d, " n=%d m=%d", trips(n, by), trips(m, high));
  put(d, "\n    UB for m=%d spatial n=%d@x\n      op F\n", high, by);
}

/* The vector unit reads windows of an image, and padding around it: rows of it kept from tile to
 * tile or not, tiles of rows of the output and of taps that are all of them or some. */
static void draw_border(drawing *d) {
  static const char *const ops[] = {"F[c,p,q] max= %s", "F[c,p,q] += %s",
                                    "F[c,p,q] += abs(%s) * B[r] - s",
                                    "F[c,p,q] min= max(%s, B[r])"};
  const size_t op = (size_t)one_of(d, sizeof ops / sizeof *ops);
  const window y = draw_window(d, "p", "r", 1), x = draw_window(d, "q", "s", 16);
  const dim c = draw_dim(d, "c", 1);
  const int rows = 1 + one_of(d, y.out.all), taps = one_of(d, 3) ? y.tap.all : 1;
  char read[80];
  put(d,
      "workload:\n  name: border\n  dims: {c: %d, p: %d, q: %d, r: %d, s: %d}\n"
      "  tensors:\n    I: {pad: [0, %d, %d], shape: [%d, %d, %d]}\n  ops:\n  - ",
      c.all, y.out.all, x.out.all, y.tap.all, x.tap.all, y.pad, x.pad, c.all, y.size, x.size);
  snprintf(read, sizeof read, "I[c, %d*p + %d*r - %d, %d*q + %d*s - %d]", y.stride, y.apart, y.pad,
           x.stride, x.apart, x.pad);
  put(d, ops[op], read);
  put(d, "\nmapping: |\n  GM for c=%d p=%d\n", trips(c.all, c.one), trips(y.out.all, rows));
  if (one_of(d, 2))
    put(d, "    L1%s for r=%d\n      UB", op > 1 && one_of(d, 2) ? " bypass B" : "",
        trips(y.tap.all, taps));
  else
    put(d, "    UB");
  put(d, " for c=%d p=%d r=%d q=%d s=%d spatial q=16@x\n        op F\n", c.one, rows, y.tap.all,
      trips(x.out.all, 16), x.tap.all);
}

void draw_npu(uint64_t seed, char *text, size_t size) {
  static void (*const draws[])(drawing * d) = {draw_product, draw_chain,   draw_attention, draw_map,
                                               draw_conv,    draw_streams, draw_border};
  drawing d = {seed, tf_rng_new(seed, 77), text, size};
  *text = 0;
  put_arch(&d);
  tf_rng kind = tf_rng_new(seed, 78);
  draws[tf_rng_below(&kind, sizeof draws / sizeof *draws)](&d);
}

/* Rows of a norm, sums and maps of them; what is left of `ops` says how many. */
static void put_rows(drawing *d) {
  static const char *const first[] = {"S[m] += X[m,k]", "S[m] += X[m,k] * X[m,k]",
                                      "S[m] max= X[m,k]", "S[m] += abs(X[m,k]) * B[k]"};
  static const char *const second[] = {"D[m,k] = X[m,k] - S[m] / 64",
                                       "D[m,k] = X[m,k] / sqrt(1 + S[m] * S[m])",
                                       "D[m,k] = max(X[m,k], 0) * B[k] + S[m] / 32"};
  static const char *const third[] = {"Q[m] += D[m,k] * D[m,k] * 0.0625", "Q[k] += D[m,k]",
                                      "Q[m] max= D[m,k] * B[k]"};
  static const char *const last[] = {"L[m,k] = D[m,k] / sqrt(Q[m] * Q[m] + 1) + B[k]",
                                     "L[m,k] = D[m,k] * sigmoid(Q[m])"};
  const int n = 1 + one_of(d, 4), at = one_of(d, 3);
  put(d, "  - \"%s\"\n", first[one_of(d, 4)]);
  if (n > 1) put(d, "  - \"%s\"\n", second[one_of(d, 3)]);
  if (n > 2) put(d, "  - \"%s\"\n", third[n > 3 && at == 1 ? 0 : at]);
  if (n > 3) put(d, "  - \"%s\"\n", last[one_of(d, 2)]);
}

void draw_npu_vectors(uint64_t seed, char *text, size_t size) {
  drawing d = {seed, tf_rng_new(seed, 79), text, size};
  *text = 0;
  const int m = 1 + one_of(&d, 130);
  const int k = one_of(&d, 2) ? 1 + one_of(&d, 300) : 16 * (1 + one_of(&d, 40));
  put(&d, "workload:\n  name: rows\n  dims: {m: %d, k: %d}\n  ops:\n", m, k);
  put_rows(&d);
}
