/* Workloads whose meaning hangs on numbers at the ends of their range: softmax in steps behind a
 * mask, maxima and minima, quotients of what a row has in common; and of kinds that have a name. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/kernels/draw.h"

static int parts(int n, int by) { return (n + by - 1) / by; }

static void head(page *p) {
  p->len = 0;
  page_say(p, "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n"
              "  - {name: L0, bandwidth: 1}\n  - {name: L1, bandwidth: 1}\n"
              "  - {name: L2, bandwidth: 1}\n"
              "  compute:\n"
              "  - {name: u, ops: [mac, add, sub, mul, div, max, min, exp, neg, relu, select, abs, "
              "sqrt, tanh, sigmoid, silu, floor, ceil, round, trunc, sin, cos, fmod], below: L2, "
              "mesh: [1, 1]}\n");
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

/* Attention in steps over l, and in tiles of m; with a mask, or without; quotients before the
 * product, or none. */
static void streamed(page *p, tf_rng *g) {
  const int m = rng_between(g, 1, 40), l = rng_between(g, 2, 90), k = rng_between(g, 1, 9),
            n = rng_between(g, 1, 40);
  const int rows = rng_between(g, 1, m), steps = rng_between(g, 1, l < 9 ? l : 9),
            tm = parts(m, rows), tl = parts(l, steps);
  const bool mask = tf_rng_below(g, 4) > 0, apart = tf_rng_below(g, 3) == 0,
             divides = tf_rng_below(g, 4) > 0;
  page_say(p,
           "workload:\n  name: w\n  dims: {m: %d, l: %d, k: %d, n: %d}\n  ops:\n"
           "  - S[m,l] += Q[m,k]*K[l,k]\n",
           m, l, k, n);
  if (tf_rng_below(g, 2))
    page_say(p, masks[tf_rng_below(g, N_MASKS)], rng_between(g, 0, l), rng_between(g, 1, 30));
  else
    page_say(p, mask ? "  - T[m,l] = S[m,l] + B[m,l]\n" : "  - T[m,l] = S[m,l] * 0.25\n");
  page_say(p, "  - X[m] max= T[m,l]\n");
  page_say(p, apart ? "  - D[m,l] = T[m,l] - X[m]\n  - E[m,l] = exp(D[m,l])\n"
                    : "  - E[m,l] = exp(T[m,l] - X[m])\n");
  if (divides) page_say(p, "  - Z[m] += E[m,l]\n  - P[m,l] = E[m,l] / Z[m]\n");
  page_say(p,
           "  - O[m,n] += %s[m,l] * V[l,n]\nmapping: |\n  L0 for m=%d l=%d\n    L1\n"
           "      Seq stream X %sO\n",
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
           "workload:\n  name: w\n  dims: {m: %d, n: %d, r: %d}\n  ops:\n  - \"%s\"\n"
           "mapping: |\n  L0 for n=%d\n    L1\n      L2 for m=%d n=%d",
           m, n, alone[i].dims[2] ? r : 1, alone[i].expr, cut, m, parts(n, cut));
  if (alone[i].dims[2]) page_say(p, " r=%d", r);
  page_say(p, "\n        op T\n");
}

/* A row's quotients before a product, of sums of anything, at once. */
static void quotients(page *p, tf_rng *g) {
  static const char *const sums[] = {"D[m] += P[m,l]", "D[m] max= P[m,l]", "D[m] += A[m,l]",
                                     "D[m] += P[m,l] * P[m,l]"};
  const int m = rng_between(g, 1, 30), l = rng_between(g, 1, 80), n = rng_between(g, 1, 40);
  page_say(p,
           "workload:\n  name: w\n  dims: {m: %d, l: %d, n: %d}\n  ops:\n  - \"%s\"\n"
           "  - Q[m,l] = P[m,l] / D[m]\n  - O[m,n] += Q[m,l] * V[l,n]\n",
           m, l, n, sums[tf_rng_below(g, 4)]);
  page_say(p,
           "mapping: |\n  L0\n    L1\n      Seq\n        L2 for m=%d l=%d\n"
           "          op D\n        L2 for m=%d l=%d\n          op Q\n"
           "        L2 for m=%d l=%d n=%d\n          op O\n",
           m, l, m, l, m, l, n);
}

/* ---- experts, scans, heads cut from one tensor, bytes --------------------------------------- */

/* Ops in the order in which they are written: of each its tensor and the letters of its dims. */
typedef struct {
  page *p;
  tf_rng *g;
  int extent[26], n;
  struct {
    char name[12], dims[12];
  } op[24];
} work;

static void extent(work *w, char dim, int from, int to) {
  w->extent[dim - 'a'] = rng_between(w->g, from, to);
}

static void begin(work *w, const char *tensors) {
  page_say(w->p, "workload:\n  name: w\n  dims: {");
  for (int d = 0, any = 0; d < 26; d++)
    if (w->extent[d]) page_say(w->p, "%s%c: %d", any++ ? ", " : "", 'a' + d, w->extent[d]);
  page_say(w->p, "}\n%s  ops:\n", tensors);
}

/* An op; its text may have numbers to be filled in. */
static void op(work *w, const char *name, const char *dims, const char *fmt, ...) TF_PRINTF(4, 5);
static void op(work *w, const char *name, const char *dims, const char *fmt, ...) {
  char line[200];
  va_list args;
  va_start(args, fmt);
  vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  page_say(w->p, "  - \"%s\"\n", line);
  snprintf(w->op[w->n].name, sizeof w->op->name, "%s", name);
  snprintf(w->op[w->n++].dims, sizeof w->op->dims, "%s", dims);
}

/* One op after the other, each with its loops in an order drawn for it, below steps over dims that
 * all of them have; streamed: the running values of a softmax in steps ("": there are none). */
static void stepped(work *w, const char *shared, const char *streamed) {
  int left[26];
  memcpy(left, w->extent, sizeof left);
  page_say(w->p, "mapping: |\n  L0");
  for (const char *d = shared, *word = " for"; *d; d++) {
    const int most = left[*d - 'a'], tile = rng_between(w->g, 1, most), trips = parts(most, tile);
    if (trips > 1) page_say(w->p, "%s %c=%d", word, *d, trips), word = "";
    left[*d - 'a'] = tile;
  }
  page_say(w->p, "\n    L1\n");
  if (w->n > 1) page_say(w->p, *streamed ? "      Seq stream %s\n" : "      Seq\n", streamed);
  for (int i = 0; i < w->n; i++) {
    const char *dims = w->op[i].dims;
    const int n = (int)strlen(dims), turn = (int)tf_rng_below(w->g, (uint32_t)n);
    page_say(w->p, "        L2 for");
    for (int k = 0; k < n; k++) {
      const char d = dims[(k + turn) % n];
      page_say(w->p, " %c=%d", d, left[d - 'a']);
    }
    page_say(w->p, "\n          op %s\n", w->op[i].name);
  }
}

/* Below steps over one dim (0: there is none). */
static void mapped(work *w, char shared) { stepped(w, (const char[]){shared, 0}, ""); }

/* A softmax of in over `last`, of which out is made; rows have the other letters. */
static void softmax(work *w, const char *in, const char *out, const char *rows, char last) {
  char all[8];
  char at[16] = "";
  snprintf(all, sizeof all, "%s%c", rows, last);
  for (size_t i = 0; rows[i]; i++)
    snprintf(at + strlen(at), sizeof at - strlen(at), "%s%c", i ? "," : "", rows[i]);
  op(w, "SX", all, "SX[%s] max= %s[%s,%c]", at, in, at, last);
  op(w, "SE", all, "SE[%s,%c] = exp(%s[%s,%c] - SX[%s])", at, last, in, at, last, at);
  op(w, "SZ", all, "SZ[%s] += SE[%s,%c]", at, at, last);
  op(w, out, all, "%s[%s,%c] = SE[%s,%c] / SZ[%s]", out, at, last, at, last, at);
}

/* The share of each expert in a token: of the router's softmax, of its logistic function, or given;
 * some are left out.
 */
static void gates(work *w) {
  const int how = rng_between(w->g, 0, 3);
  if (how < 3)
    op(w, "L", "tek",
       rng_chance(w->g, 2) ? "L[t,e] += X[t,k] * R[k,e]" : "L[t,e] += X[t,k] * R[e,k]");
  if (how == 0) softmax(w, "L", "G", "t", 'e');
  if (how == 1) op(w, "G", "te", "G[t,e] = sigmoid(L[t,e]) * (L[t,e] > C[e])");
  if (how == 2) op(w, "G", "te", "G[t,e] = select(L[t,e] > C[e], L[t,e], 0)");
  if (how == 3) op(w, "G", "te", "G[t,e] = select(T[t,e] == e, 1, B[t,e])");
}

/* Experts: every token by every one of them, weighted by its gates before the second product or
 * behind it. */
static void experts(page *p, tf_rng *g) {
  work w = {.p = p, .g = g};
  const bool gathered = rng_chance(g, 3), gated = rng_chance(g, 2), behind = rng_chance(g, 2);
  extent(&w, 't', 1, 13), extent(&w, 'e', 1, 6), extent(&w, 'k', 1, 20), extent(&w, 'n', 1, 24),
      extent(&w, 'o', 1, 20);
  begin(&w, "");
  gates(&w);
  const char *x = gathered ? "D[e,t,k]" : "X[t,k]",
             *by = rng_chance(g, 2) ? "W[e,k,n]" : "W[e,n,k]";
  op(&w, "H", "etnk", "H[e,t,n] += %s * %s", x, by);
  if (gated) op(&w, "U", "etnk", "U[e,t,n] += %s * V[e,k,n]", x);
  op(&w, "S", "etn",
     gated ? "S[e,t,n] = silu(H[e,t,n]) * U[e,t,n]" : "S[e,t,n] = relu(H[e,t,n] + b[e,n])");
  if (behind) {
    op(&w, "F", "etno", "F[e,t,o] += S[e,t,n] * Q[e,n,o]");
    op(&w, "Y", "teo", "Y[t,o] += F[e,t,o] * G[t,e]");
  } else {
    op(&w, "P", "etn", "P[e,t,n] = S[e,t,n] * G[t,e]");
    op(&w, "Y", "teno",
       rng_chance(g, 2) ? "Y[t,o] += P[e,t,n] * Q[e,n,o]" : "Y[t,o] += P[e,t,n] * Q[e,o,n]");
  }
  mapped(&w, rng_chance(g, 3) ? 0 : 't');
}

/* Sums and maxima of all rows up to one, and what reads them. */
static void prefixes(work *w) {
  static const char *const sums[] = {
      "T[m,n] += X[r,n] * (r <= m)",
      "T[m,n] += select(r <= m, X[r,n], 0)",
      "T[m,n] += X[r,n] * (r < m)",
      "T[m,n] += select(r >= m, X[r,n], 0)",
      "T[m,n] max= select(r <= m, X[r,n], -inf)",
      "T[m,n] += select(r <= m and m - r < 3, X[r,n] * A[r], 0)",
  };
  extent(w, 'm', 1, 24), extent(w, 'n', 1, 40), extent(w, 'o', 1, 20);
  w->extent['r' - 'a'] = w->extent['m' - 'a'];
  const bool product = rng_chance(w->g, 2);
  if (!product) w->extent['o' - 'a'] = 0;
  begin(w, "");
  op(w, "T", "mnr", "%s", sums[tf_rng_below(w->g, sizeof sums / sizeof *sums)]);
  if (product)
    op(w, "Y", "mno", "Y[m,o] += T[m,n] * W[n,o]");
  else if (rng_chance(w->g, 2))
    op(w, "Y", "mn", "Y[m,n] = T[m,n] / (m + 1)");
}

/* A chunk of a selective scan: steps before by a product under a mask, decayed. */
static void chunk(work *w) {
  extent(w, 'h', 1, 3), extent(w, 'm', 1, 24), extent(w, 's', 1, 12), extent(w, 'n', 1, 20);
  w->extent['l' - 'a'] = w->extent['m' - 'a'];
  begin(w, "");
  op(w, "S", "mls", "S[m,l] += C[m,s] * B[l,s]");
  op(w, "T", "hml",
     rng_chance(w->g, 2) ? "T[h,m,l] = select(l <= m, S[m,l] * D[h,m,l], 0)"
                         : "T[h,m,l] = select(l <= m, S[m,l] * exp(A[h,m] - A[h,l]), 0)");
  op(w, "Y", "hmln", "Y[h,m,n] += T[h,m,l] * X[h,l,n]");
}

/* A recurrence, its steps written out: h = a h + x, element by element; or gates of a product of
 * the state. */
static void recurrence(work *w) {
  const int steps = rng_between(w->g, 2, 5);
  const bool gated = rng_chance(w->g, 2);
  char was[12] = "H0", now[12], gate[12];
  extent(w, 'b', 1, 5), extent(w, 'n', 1, 24);
  if (gated) w->extent['k' - 'a'] = w->extent['n' - 'a'];
  begin(w, "");
  for (int t = 0; t < steps; t++) {
    snprintf(now, sizeof now, "H%d", t + 1);
    snprintf(gate, sizeof gate, "G%d", t + 1);
    if (gated) op(w, gate, "bnk", "%s[b,n] += %s[b,k] * U[k,n]", gate, was);
    if (gated)
      op(w, now, "bn", "%s[b,n] = tanh(%s[b,n] + X[%d,b,n])", now, gate, t);
    else
      op(w, now, "bn", "%s[b,n] = A[%d,n] * %s[b,n] + X[%d,b,n]", now, t, was, t);
    snprintf(was, sizeof was, "%s", now);
  }
}

/* An LSTM, its steps written out: four gates of one product of the state. */
static void cells(work *w) {
  const int steps = rng_between(w->g, 2, 4);
  extent(w, 'b', 1, 4), extent(w, 'n', 1, 20);
  w->extent['k' - 'a'] = w->extent['n' - 'a'], w->extent['g' - 'a'] = 4;
  begin(w, "");
  for (int t = 1; t <= steps; t++) {
    char gate[12], cell[12], state[12];
    snprintf(gate, sizeof gate, "G%d", t);
    snprintf(cell, sizeof cell, "C%d", t);
    snprintf(state, sizeof state, "H%d", t);
    op(w, gate, "bgnk", "G%d[b,g,n] += H%d[b,k] * U[g,k,n]", t, t - 1);
    op(w, cell, "bn",
       "C%d[b,n] = sigmoid(G%d[b,0,n]) * C%d[b,n] + sigmoid(G%d[b,1,n]) * tanh(G%d[b,2,n] + "
       "X[%d,b,n])",
       t, t, t - 1, t, t, t - 1);
    op(w, state, "bn", "H%d[b,n] = sigmoid(G%d[b,3,n] + B[n]) * tanh(C%d[b,n])", t, t, t);
  }
}

static void scans(page *p, tf_rng *g) {
  work w = {.p = p, .g = g};
  const int which = rng_between(g, 0, 3);
  if (which == 0)
    prefixes(&w);
  else if (which == 1)
    chunk(&w);
  else if (which == 2)
    recurrence(&w);
  else
    cells(&w);
  mapped(&w, rng_chance(g, 3) ? 0 : which < 2 ? 'm' : 'b');
}

/* Where heads of queries, keys and values begin in one tensor, and how far apart heads are. */
typedef struct {
  int wide, heads, shares, apart, key, value;
} cut;

static cut cut_of(tf_rng *g) {
  cut c = {
      .wide = rng_between(g, 1, 9), .heads = rng_between(g, 1, 4), .shares = rng_between(g, 1, 3)};
  if (rng_chance(g, 2)) { /* queries, keys and values of a head side by side */
    c.shares = 1;
    c.apart = 3 * c.wide;
    c.key = c.wide;
  } else {
    c.apart = c.wide;
    c.key = c.wide * c.heads * c.shares;
  }
  c.value = c.key + (c.apart > c.wide ? c.wide : c.wide * c.heads);
  return c;
}

/* Attention whose heads are cut from one tensor; `shares` heads of queries have the same keys. */
static void heads(page *p, tf_rng *g) {
  work w = {.p = p, .g = g};
  const cut c = cut_of(g);
  const char *turned = rng_chance(g, 4) ? "T" : "";
  char query[40], key[40], value[40];
  extent(&w, 'm', 1, 24);
  w.extent['l' - 'a'] = w.extent['m' - 'a'];
  w.extent['h' - 'a'] = c.heads, w.extent['r' - 'a'] = c.shares,
                 w.extent['a' - 'a'] = w.extent['n' - 'a'] = c.wide;
  begin(&w, "");
  snprintf(query, sizeof query, "%d * h + %d * r + a", c.apart * c.shares, c.wide);
  snprintf(key, sizeof key, "%d * h + a + %d", c.apart, c.key);
  snprintf(value, sizeof value, "%d * h + n + %d", c.apart, c.value);
  if (*turned)
    op(&w, "S", "hrmla", "S[h,r,m,l] += A[%s,m] * A[%s,l]", query, key);
  else
    op(&w, "S", "hrmla", "S[h,r,m,l] += A[m,%s] * A[l,%s]", query, key);
  const int mask = rng_between(g, 0, 2);
  op(&w, "M", "hrml",
     mask == 0   ? "M[h,r,m,l] = select(l <= m, S[h,r,m,l] * 0.25, -inf)"
     : mask == 1 ? "M[h,r,m,l] = S[h,r,m,l] * 0.25 + B[m,l]"
                 : "M[h,r,m,l] = S[h,r,m,l] * 0.25");
  softmax(&w, "M", "P", "hrm", 'l');
  const char *out = rng_chance(g, 2) ? "O[m,h,r,n]" : "O[h,r,m,n]";
  if (*turned)
    op(&w, "O", "mhrnl", "%s += P[h,r,m,l] * A[%s,l]", out, value);
  else
    op(&w, "O", "mhrnl", "%s += P[h,r,m,l] * A[l,%s]", out, value);
  mapped(&w, rng_chance(g, 3) ? 0 : 'm');
}

/* What a tensor of bytes holds; ends at random. */
static void bytes(page *p, tf_rng *g, const char *name, bool output, const char *more) {
  const bool no_sign = !output && rng_chance(g, 2);
  page_say(p, "    %s: {word-bits: 8%s%s", name, no_sign ? ", unsigned: true" : "", more);
  if (!output && rng_chance(g, 2)) {
    const int a = rng_between(g, no_sign ? 0 : -128, no_sign ? 255 : 127),
              b = rng_between(g, a, no_sign ? 255 : 127);
    page_say(p, ", range: [%d, %d]", a, b);
  }
  page_say(p, "}\n");
}

/* Products of bytes, and windows, and maps; what comes out are sums, numbers or bytes. */
static void quantised(page *p, tf_rng *g) {
  work w = {.p = p, .g = g};
  static const struct {
    const char *sum, *dims, *at, *pad, *row;
  } sums[] = {
      {"S[m,n] += A[m,k] * B[k,n]", "mnk", "m,n", "", "n"},
      {"S[m,n] += A[m,k] * B[n,k]", "mnk", "m,n", "", "n"},
      {"S[m,n] += (A[m,k] - 3) * B[k,n]", "mnk", "m,n", "", "n"},
      {"S[f,y,x] += A[c,y+r-1,x+s-1] * B[f,c,r,s]", "fyxcrs", "f,y,x", ", pad: [0, 1, 1]", "f"},
      {"S[f,y,x] += A[f,y+r-1,x+s-1] * B[f,r,s]", "fyxrs", "f,y,x", ", pad: [0, 1, 1]", "f"},
      {"S[f,y,x] += A[c,2*y,2*x] * B[f,c]", "fyxc", "f,y,x", "", "f"},
      {"S[f,y,x] = A[f,y,x] * B[f,y,x]", "fyx", "f,y,x", "", "f"},
  };
  const int i = rng_between(g, 0, 6), how = rng_between(g, 0, 3);
  for (const char *d = sums[i].dims; *d; d++)
    extent(&w, *d, *d == 'r' || *d == 's' ? 3 : 1,
           *d == 'r' || *d == 's'   ? 3
           : *d == 'y' || *d == 'x' ? 9
                                    : 40);
  page tensors = {.len = 0};
  page_say(&tensors, "  tensors:\n");
  bytes(&tensors, g, "A", false, sums[i].pad);
  bytes(&tensors, g, "B", false, "");
  if (how < 2) bytes(&tensors, g, "Y", true, "");
  begin(&w, tensors.text);
  const int out = i < 3 ? 2 : 3;
  char dims[4] = "";
  snprintf(dims, sizeof dims, "%.*s", out, sums[i].dims);
  op(&w, "S", sums[i].dims, "%s", sums[i].sum);
  const char *at = sums[i].at, *row = sums[i].row;
  if (how == 0)
    op(&w, "Y", dims, "Y[%s] = min(max(round(S[%s] * (u[%s] * 0.0021)) + 3, -128), 127)", at, at,
       row);
  if (how == 1)
    op(&w, "Y", dims, "Y[%s] = min(max(round(relu(S[%s] + u[%s]) * 0.00137), 0), 255)", at, at,
       row);
  if (how == 2) op(&w, "Y", dims, "Y[%s] = S[%s] * u[%s]", at, at, row);
  mapped(&w, i > 2 && rng_chance(g, 3) ? 0 : dims[0]);
}

/* ---- norms, windows of keys, convolutions, routing, chains of bytes ------------------------- */

/* A row over what its elements have in common: of their squares, of their mean and squares at once
 * or in turn; over the last dim, the first, or all but a group's; and a product of the rows. */
static void norms(page *p, tf_rng *g) {
  static const struct {
    const char *at, *row, *dims, *reduced, *weight;
  } over[] = {{"m,n", "m", "mn", "n", "n"},
              {"m,n", "n", "mn", "m", "m"},
              {"b,m,n", "b,m", "bmn", "n", "n"},
              {"b,c,y", "b", "bcy", "cy", "c"}};
  work w = {.p = p, .g = g};
  const int which = rng_between(g, 0, 3), how = rng_between(g, 0, 2);
  const char *at = over[which].at, *row = over[which].row, *dims = over[which].dims,
             *by = over[which].weight;
  int n = 1;
  for (const char *d = dims; *d; d++)
    extent(&w, *d, 1, *d == 'b' ? 3 : *d == 'n' ? 70 : 20);
  for (const char *d = over[which].reduced; *d; d++)
    n *= w.extent[*d - 'a'];
  const bool product = which == 0 && rng_chance(g, 2);
  if (product) extent(&w, 'o', 1, 20);
  begin(&w, "");
  if (how) op(&w, "A", dims, "A[%s] += X[%s]", row, at);
  if (how == 2) op(&w, "D", dims, "D[%s] = X[%s] - A[%s] / %d", at, at, row, n);
  op(&w, "Q", dims, how == 2 ? "Q[%s] += D[%s] * D[%s]" : "Q[%s] += X[%s] * X[%s]", row, at, at);
  if (how == 0)
    op(&w, "Y", dims, "Y[%s] = X[%s] / sqrt(Q[%s] / %d + 0.00001) * G[%s]", at, at, row, n, by);
  if (how == 1)
    op(&w, "Y", dims,
       "Y[%s] = (X[%s] - A[%s] / %d) / sqrt(Q[%s] / %d - A[%s] * A[%s] / %d + 0.1) * G[%s] + B[%s]",
       at, at, row, n, row, n, row, row, n * n, by, by);
  if (how == 2)
    op(&w, "Y", dims, "Y[%s] = D[%s] / sqrt(Q[%s] / %d + 0.00001) * G[%s] + B[%s]", at, at, row, n,
       by, by);
  if (product) op(&w, "O", "mon", "O[m,o] += Y[m,n] * W[n,o]");
  mapped(&w, rng_chance(g, 3) || which == 1 ? 0 : row[0]);
}

/* Attention that sees a window of keys; `r` heads of queries have the same keys; keys whole, or in
 * steps. */
static void windows(page *p, tf_rng *g) {
  work w = {.p = p, .g = g};
  extent(&w, 'h', 1, 3), extent(&w, 'r', 1, 4), extent(&w, 'm', 1, 24), extent(&w, 'l', 1, 50),
      extent(&w, 'a', 1, 9);
  extent(&w, 'n', 1, 20);
  const int past = rng_between(g, 0, 20), window = rng_between(g, 1, 24),
            mask = rng_between(g, 0, 4);
  begin(&w, "");
  op(&w, "S", "hrmla",
     rng_chance(g, 2) ? "S[h,r,m,l] += Q[h,r,m,a] * K[h,l,a]"
                      : "S[h,r,m,l] += Q[m,h,r,a] * K[l,h,a]");
  if (mask == 0)
    op(&w, "M", "hrml",
       "M[h,r,m,l] = select(l <= m + %d and m + %d - l < %d, S[h,r,m,l] * 0.25, -inf)", past, past,
       window);
  if (mask == 1)
    op(&w, "M", "hrml", "M[h,r,m,l] = select(m + %d - l < %d, S[h,r,m,l], -inf)", past, window);
  if (mask == 2)
    op(&w, "M", "hrml", "M[h,r,m,l] = select(max(m - l, l - m) < %d, S[h,r,m,l] / 3, -inf)",
       window);
  if (mask == 3)
    op(&w, "M", "hrml",
       "M[h,r,m,l] = select(l < 2 or l > m - %d and l <= m, tanh(S[h,r,m,l] / 5) * 5, -inf)",
       window);
  if (mask == 4)
    op(&w, "M", "hrml", "M[h,r,m,l] = select(l <= m + %d and l > m - %d, S[h,r,m,l] * 0.5, -1e30)",
       past, window);
  softmax(&w, "M", "P", "hrm", 'l');
  op(&w, "O", "hrmnl",
     rng_chance(g, 2) ? "O[h,r,m,n] += P[h,r,m,l] * V[h,l,n]"
                      : "O[m,h,r,n] += P[h,r,m,l] * V[h,l,n]");
  if (rng_chance(g, 2))
    stepped(&w, "ml", "SX SZ O");
  else
    mapped(&w, rng_chance(g, 3) ? 0 : 'm');
}

/* What is behind a convolution's sums S[f,y,x]. */
static void behind(work *w) {
  const int map = rng_between(w->g, 0, 3);
  if (map == 1) op(w, "A", "fyx", "A[f,y,x] = relu(S[f,y,x] + B[f])");
  if (map == 2) op(w, "A", "fyx", "A[f,y,x] = silu(S[f,y,x] * G[f] + B[f]) + R[f,y,x]");
  if (map == 3) op(w, "A", "fyx", "A[f,y,x] = max(S[f,y,x], S[f,y,x] * 0.125)");
  if (w->extent['e' - 'a'])
    op(w, "E", "eyxf", map ? "E[e,y,x] += A[f,y,x] * U[e,f]" : "E[e,y,x] += S[f,y,x] * U[e,f]");
}

/* A convolution by strides, with gaps in the window, over borders. */
static void gapped(work *w) {
  const int stride = rng_between(w->g, 1, 3), gap = rng_between(w->g, 1, 3),
            side = rng_between(w->g, 0, 2);
  const bool each = rng_chance(w->g, 3); /* channel by itself */
  extent(w, 'f', 1, 40), extent(w, 'y', 1, 9), extent(w, 'x', 1, 20), extent(w, 'r', 1, 3),
      extent(w, 's', 1, 4);
  if (!each) extent(w, 'c', 1, 12);
  if (rng_chance(w->g, 3)) extent(w, 'e', 1, 20);
  const int h = (w->extent['y' - 'a'] - 1) * stride + (w->extent['r' - 'a'] - 1) * gap + 1 -
                2 * side,
            l = (w->extent['x' - 'a'] - 1) * stride + (w->extent['s' - 'a'] - 1) * gap + 1 -
                2 * side;
  char tensors[120];
  snprintf(tensors, sizeof tensors, "  tensors:\n    I: {pad: [0, %d, %d], shape: [%d, %d, %d]}\n",
           side, side, w->extent[(each ? 'f' : 'c') - 'a'], h > 0 ? h : 1, l > 0 ? l : 1);
  const bool fits = h > 0 && l > 0;
  begin(w, fits && side ? tensors : "");
  const int off = fits ? side : 0;
  op(w, "S", each ? "fyxrs" : "fyxcrs",
     each ? "S[f,y,x] += I[f, %d*y + %d*r - %d, %d*x + %d*s - %d] * W[f,r,s]"
          : "S[f,y,x] += I[c, %d*y + %d*r - %d, %d*x + %d*s - %d] * W[f,c,r,s]",
     stride, gap, off, stride, gap, off);
  behind(w);
}

/* A transposed convolution, its phases side by side, and the image put together from them. */
static void transposed(work *w) {
  const int stride = rng_between(w->g, 2, 3), window = rng_between(w->g, stride, 5);
  const int taps = parts(window, stride), off = rng_between(w->g, 0, taps - 1),
            edge = off > taps - 1 - off ? off : taps - 1 - off;
  extent(w, 'f', 1, 24), extent(w, 'c', 1, 12), extent(w, 'i', 1, 7), extent(w, 'j', 1, 12);
  w->extent['p' - 'a'] = w->extent['q' - 'a'] = stride,
                  w->extent['t' - 'a'] = w->extent['u' - 'a'] = taps;
  char tensors[200];
  const int more = stride * taps - window;
  snprintf(tensors, sizeof tensors,
           "  tensors:\n    I: {pad: [0, %d, %d], shape: [%d, %d, %d]}\n"
           "    W: {pad: [0, 0, %d, %d], shape: [%d, %d, %d, %d]}\n",
           edge, edge, w->extent['c' - 'a'], w->extent['i' - 'a'], w->extent['j' - 'a'], more, more,
           w->extent['c' - 'a'], w->extent['f' - 'a'], window, window);
  begin(w, tensors);
  op(w, "S", "pqfijctu",
     "S[p,q,f,i,j] += I[c, i + %d - t, j + %d - u] * W[c, f, %d*t + p, %d*u + q]", off, off, stride,
     stride);
  op(w, "O", "fipjq",
     rng_chance(w->g, 2) ? "O[f,i,p,j,q] = relu(S[p,q,f,i,j] + B[f])"
                         : "O[f,i,p,j,q] = S[p,q,f,i,j]");
}

static void convolutions(page *p, tf_rng *g) {
  work w = {.p = p, .g = g};
  const bool turned = rng_chance(g, 2);
  if (turned)
    transposed(&w);
  else
    gapped(&w);
  mapped(&w, rng_chance(g, 3) || w.extent['e' - 'a'] ? 0 : 'f');
}

/* Experts whose tokens a table names: slots are filled by it and given back by it, or gates are. */
static void routed(page *p, tf_rng *g) {
  work w = {.p = p, .g = g};
  char tensors[80];
  const bool slots = rng_chance(g, 2);
  extent(&w, 't', 1, 13), extent(&w, 'e', 1, 6), extent(&w, 'k', 1, 20), extent(&w, 'n', 1, 24),
      extent(&w, 's', 1, 5);
  snprintf(tensors, sizeof tensors,
           "  tensors:\n    I: {word-bits: 8, unsigned: true, range: [0, %d]}\n",
           w.extent[(slots ? 't' : 'e') - 'a']); /* one more than there are names nobody */
  begin(&w, tensors);
  if (slots) {
    op(&w, "D", "eskt", "D[e,s,k] += select(I[e,s] == t, X[t,k], 0)");
    op(&w, "H", "esnk", "H[e,s,n] += D[e,s,k] * W[e,k,n]");
    op(&w, "F", "esn",
       rng_chance(g, 2) ? "F[e,s,n] = silu(H[e,s,n]) * C[e,s]" : "F[e,s,n] = relu(H[e,s,n])");
    op(&w, "Y", "tnes", "Y[t,n] += select(I[e,s] == t, F[e,s,n], 0)");
  } else {
    op(&w, "G", "tes",
       rng_chance(g, 2) ? "G[t,e] += select(I[t,s] == e, C[t,s], 0)"
                        : "G[t,e] += (I[t,s] == e) * C[t,s]");
    op(&w, "H", "tenk", "H[t,e,n] += X[t,k] * W[e,k,n]");
    op(&w, "Y", "tne",
       rng_chance(g, 2) ? "Y[t,n] += G[t,e] * H[t,e,n]" : "Y[t,n] += G[t,e] * relu(H[t,e,n])");
  }
  mapped(&w, slots || rng_chance(g, 3) ? 0 : 't');
}

/* Products of bytes in a row, as a quantised network has them: zero points, a bias, a scale for
 * each channel, rounding; what the first makes is bytes that the second reads, and a residual. */
static void requantised(page *p, tf_rng *g) {
  work w = {.p = p, .g = g};
  const bool image = rng_chance(g, 2), no_sign = rng_chance(g, 2), two = rng_chance(g, 2);
  const int zero = rng_between(g, 0, 9), other = rng_between(g, 0, 9), low = no_sign ? 0 : -128,
            high = low + 255;
  const char *at = image ? "f,y,x" : "m,f", *dims = image ? "fyx" : "mf",
             *kind = no_sign ? ", unsigned: true" : "";
  page tensors = {.len = 0};
  page_say(&tensors, "  tensors:\n");
  bytes(&tensors, g, "A", false, image ? ", pad: [0, 1, 1]" : "");
  bytes(&tensors, g, "B", false, "");
  page_say(&tensors, "    Y: {word-bits: 8%s, range: [%d, %d]}\n", kind, low, high);
  if (two) page_say(&tensors, "    U: {word-bits: 8}\n    Z: {word-bits: 8%s}\n", kind);
  for (const char *d = image ? "yx" : "m"; *d; d++)
    extent(&w, *d, 1, 9);
  extent(&w, 'f', 1, 40), extent(&w, 'c', 1, 40);
  if (image) w.extent['r' - 'a'] = w.extent['s' - 'a'] = 3;
  if (two) extent(&w, 'e', 1, 40);
  begin(&w, tensors.text);
  op(&w, "S", image ? "fyxcrs" : "mfc",
     image ? "S[f,y,x] += A[c,y+r-1,x+s-1] * B[f,c,r,s]"
           : "S[m,f] += (A[m,c] - %d) * (B[c,f] - %d)",
     zero, rng_chance(g, 2) ? 0 : other);
  if (rng_chance(g, 2))
    op(&w, "Y", dims, "Y[%s] = min(max(round((S[%s] + b[f]) * (u[f] * 0.0021)) + %d, %d), %d)", at,
       at, other, low, high);
  else
    op(&w, "Y", dims, "Y[%s] = min(max(round(relu(S[%s]) / 731) + %d, %d), %d)", at, at, other, low,
       high);
  if (two) {
    const char *to = image ? "e,y,x" : "m,e", *loops = image ? "eyx" : "me";
    op(&w, "P", image ? "eyxf" : "mef", "P[%s] += (Y[%s] - %d) * U[e,f]", to, at, other);
    op(&w, "Z", loops, "Z[%s] = min(max(round(P[%s] * v[e] * 0.001) + %d, %d), %d)", to, to, zero,
       low, high);
  }
  mapped(&w, image || rng_chance(g, 3) ? 0 : 'm');
}

/* Ranks exchanged, of an argument or of what an op made, for the caller or for an op; rows from one
 * element to several lines. */
static void ranks_exchanged(page *p, tf_rng *g) {
  work w = {.p = p, .g = g};
  const int ranks = rng_between(g, 2, 4);
  char from[5] = "abcd", to[5] = "", at[2][8] = {"", ""};
  from[ranks] = 0;
  for (int left = ranks; left > 0; left--) { /* a permutation */
    const int k = (int)tf_rng_below(g, (uint32_t)left);
    to[ranks - left] = from[k];
    memmove(from + k, from + k + 1, strlen(from + k));
  }
  snprintf(from, sizeof from, "%.*s", ranks, "abcd");
  for (int r = 0; r < ranks; r++) {
    extent(&w, from[r], 1, rng_chance(g, 2) ? 9 : 40);
    snprintf(at[0] + strlen(at[0]), sizeof at[0] - strlen(at[0]), "%s%c", r ? "," : "", from[r]);
    snprintf(at[1] + strlen(at[1]), sizeof at[1] - strlen(at[1]), "%s%c", r ? "," : "", to[r]);
  }
  const bool made = rng_chance(g, 3), read = rng_chance(g, 3);
  begin(&w, "");
  if (made) op(&w, "X", from, "X[%s] = A[%s] * 0.5", at[0], at[0]);
  op(&w, "Y", to, "Y[%s] = X[%s]", at[1], at[0]);
  if (read) op(&w, "Z", to, "Z[%s] = Y[%s] + u[%c]", at[1], at[1], to[0]);
  mapped(&w, rng_chance(g, 2) ? 0 : to[0]);
}

void draw_named(page *p, uint64_t seed) {
  static void (*const kinds[])(page * p, tf_rng * g) = {
      experts, scans,        heads,  quantised,   norms,
      windows, convolutions, routed, requantised, ranks_exchanged};
  tf_rng g = tf_rng_new(draw_lot(seed, "named", UINT64_MAX), 43);
  head(p);
  kinds[draw_named_kind(seed)](p, &g);
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
