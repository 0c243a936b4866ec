/* Random machines and workloads: the first half of a case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/draw_arch.h"
#include "tests/oracle/gen.h"
#include "tests/oracle/gen_spelled.h"

/* ---- machines ------------------------------------------------------------------------------- */

static void unit(tf_rng *g, page *p, const char *name, const char *ops, int below) {
  page_say(p, "  - {name: %s, ops: [%s], below: L%d%s}\n", name, ops, below,
           draw_some(g, DRAW_UNIT, ", ", ""));
}

/* One unit for all kinds; one for products and one for the rest; three; or a far one that all kinds
 * may run on. */
static void units(tf_rng *g, page *p, int n, unsigned *features) {
  const bool masks = *features >> GEN_MASK & 1;
  const char *const all = masks ? "mac, add, sub, mul, div, max, exp, select, min"
                                : "mac, add, sub, mul, div, max, exp";
  const char *const rest =
      masks ? "add, sub, mul, div, max, exp, select, min" : "add, sub, mul, div, max, exp";
  int far = n > 2 ? n - 3 : 0, kind = rng_between(g, 0, 5);
  *features |= kind > 2 ? 1u << GEN_UNITS : 0;
  page_say(p, "  compute:\n");
  if (kind == 5) unit(g, p, "far", rng_chance(g, 2) ? all : rest, rng_between(g, 0, n - 1));
  unit(g, p, "u", kind == 3 ? "mac" : kind == 4 ? "mac, add" : all, n - 1);
  if (kind == 3) unit(g, p, "v", rest, rng_between(g, far, n - 1));
  if (kind == 4) {
    unit(g, p, "v", masks ? "max, mul, div, select, min" : "max, mul, div",
         rng_between(g, far, n - 1));
    unit(g, p, "w", masks ? "exp, sub, div, mul, add, select, min" : "exp, sub, div, mul, add",
         rng_between(g, far, n - 1));
  }
}

/* A network whose instances take words from each other, most of the time. */
static void peers(tf_rng *g, page *p) {
  static const char *const figures[] = {"width: 0.5", "energy-per-hop: 2.5 pJ", "hop-latency: 3",
                                        "multicast: false", "reduce: false"};
  page_say(p, ", mesh: [%d, %d], network: {topology: %s", rng_between(g, 1, 5),
           rng_between(g, 1, 3), rng_chance(g, 3) ? "torus" : "mesh");
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
    if (rng_chance(g, 3)) page_say(p, ", %s", figures[i]);
  page_say(p, ", peers: %s}", rng_chance(g, 5) ? "false" : "true");
}

static void machine(tf_rng *g, page *p, unsigned *features) {
  const bool parts = *features >> GEN_PARTS & 1, handing = *features >> GEN_PEERS & 1;
  int n = rng_chance(g, 16) ? 1 : rng_between(g, 2, 4);
  bool flat = !handing && rng_chance(g, 3);
  *features |= flat ? 1u << GEN_FLAT : 0;
  page_say(p, "architecture:%s\n  memories:\n", draw_some(g, DRAW_ARCH, "\n  ", ""));
  for (int i = 0; i < n; i++) {
    const bool some = parts && i && !rng_chance(g, 4);
    const bool lines = gen_with_lines && !handing && !rng_chance(g, 4);
    char but[80];
    snprintf(but, sizeof but, "%s%s%s ", lines ? " access" : "",
             !i        ? " mesh network"
             : handing ? " mesh network"
             : flat    ? " mesh"
                       : "",
             i && some ? " capacity" : "");
    page_say(p, "  - {name: L%d%s", i, draw_some(g, DRAW_MEMORY, ", ", but));
    if (lines) page_say(p, ", line: %d, banks: %d", rng_between(g, 1, 8), rng_between(g, 1, 5));
    if (lines && rng_chance(g, 3)) page_say(p, ", bank-ports: 2");
    if (i && handing) peers(g, p);
    page_say(p, "%s%s}\n", some ? ", parts: " : "",
             some ? draw_value(g, DRAW_MEMORY, "parts") : "");
  }
  units(g, p, n, features);
}

bool gen_with_lines, gen_turned;

/* ---- workloads: dims and ops ----------------------------------------------------------------- */

typedef struct {
  const char *name, *dims, *ops, *tensors;
} workload;

/* `@` in dims is a small extent drawn anew; `ops` are one a line. */
static const workload workloads[] = {
    {"gemm", "m: @, n: @, k: @", "C[m,n] += A[m,k] * B[k,n]", NULL},
    {"batched gemm", "b: @, m: @, n: @, k: @", "C[b,m,n] += A[b,m,k] * B[k,n]", NULL},
    {"two gemms", "m: @, l: @, k: @, n: @", "C[m,l] += A[m,k] * B[k,l]\nE[m,n] += C[m,l] * D[l,n]",
     NULL},
    {"three gemms", "m: @, l: 3, k: 2, n: @, q: 2",
     "C[m,l] += A[m,k] * B[k,l]\nE[m,n] += C[m,l] * D[l,n]\nG[m,q] += E[m,n] * F[n,q]", NULL},
    {"gemm with relu", "m: @, l: @, k: @, n: @",
     "C[m,l] += A[m,k] * B[k,l]\nR[m,l] = max(C[m,l], 0)\nE[m,n] += R[m,l] * D[l,n]", NULL},
    {"conv", "p: @, k: 3, c: 2, r: 3", "O[p,k] += I[c,p+r] * W[k,c,r]", NULL},
    {"strided conv", "p: @, q: 3, k: 2, r: 2, s: 3", "O[p,q,k] += I[2*p+r,q+s] * W[k,r,s]", NULL},
    {"padded conv", "p: @, k: 2, c: 2, r: 3", "O[p,k] += I[c,p+r-1] * W[k,c,r]",
     "{I: {pad: [0, 1]}}"},
    {"depthwise", "c: 3, p: @, q: 2, r: 3", "O[c,p,q] += I[c,p+r,q] * W[c,r]", NULL},
    {"two convs", "h: 9, k: 2, r: 2, p: 7, n: 2, t: 3",
     "T[h,k] += I[h+r] * V[k,r]\nO[p,n] += T[p+t,k] * W[n,k,t]", NULL},
    {"strided convs", "h: 9, k: 2, r: 2, p: 4, n: 2, t: 3",
     "T[h,k] += I[h+r] * V[k,r]\nO[p,n] += T[2*p+t,k] * W[n,k,t]", NULL},
    {"padded convs", "h: 6, k: 2, r: 3, p: 6, n: 2, t: 3",
     "T[h,k] += I[h+r-1] * V[k,r]\nO[p,n] += T[p+t-1,k] * W[n,k,t]",
     "{I: {pad: [1]}, T: {pad: [1, 0]}}"},
    {"three convs", "h: 10, r: 2, p: 8, t: 3, q: 6, u: 3",
     "T[h] += I[h+r] * V[r]\nS[p] += T[p+t] * W[t]\nO[q] += S[q+u] * X[u]", NULL},
    {"conv 2d pair", "h: 5, w: 5, p: 4, q: 3, t: 2, u: 3",
     "T[h,w] = I[h,w] * 2\nO[p,q] += T[p+t,q+u] * W[t,u]", NULL},
    {"attention", "m: @, l: @, a: 2, n: 2",
     "S[m,l] += Q[m,a] * K[l,a]\nX[m] max= S[m,l]\nE[m,l] = exp(S[m,l] - X[m])\nZ[m] += E[m,l]\n"
     "P[m,l] = E[m,l] / Z[m]\nO[m,n] += P[m,l] * V[l,n]",
     NULL},
    {"attention, one wide", "m: @, l: @, a: 2",
     "S[m,l] += Q[m,a] * K[l,a]\nX[m] max= S[m,l]\nE[m,l] = exp(S[m,l] - X[m])\nZ[m] += E[m,l]\n"
     "P[m,l] = E[m,l] / Z[m]\nO[m] += P[m,l] * V[l]",
     NULL},
    {"attention, undivided", "m: @, l: @, n: 2",
     "X[m] max= S[m,l]\nE[m,l] = exp(S[m,l] - X[m])\nZ[m] += E[m,l]\nO[m,n] += E[m,l] * V[l,n]",
     NULL},
    {"attention, batched", "b: 2, m: @, l: @, n: 2",
     "X[b,m] max= S[b,m,l]\nE[b,m,l] = exp(S[b,m,l] - X[b,m])\nZ[b,m] += E[b,m,l]\n"
     "P[b,m,l] = E[b,m,l] / Z[b,m]\nO[b,m,n] += P[b,m,l] * V[b,l,n]",
     NULL},
    {"softmax", "m: @, l: @",
     "X[m] max= S[m,l]\nD[m,l] = S[m,l] - X[m]\nE[m,l] = exp(D[m,l])\nZ[m] += E[m,l]\n"
     "P[m,l] = E[m,l] / Z[m]",
     NULL},
    {"residual", "m: @, k: 2, n: 3",
     "C[m,n] += A[m,k] * B[k,n]\nR[m,n] = max(C[m,n], 0)\nY[m,n] = R[m,n] + X[m,n]", NULL},
    {"residual conv", "p: 6, t: 3, u: 3, q: 4",
     "S[p] += I[p+t] * V[t]\nR[p] = max(S[p], 0)\nO[q] += R[q+u] * W[u]\nY[q] = O[q] + I[q+2]",
     NULL},
    {"shared input", "m: @, k: @, x: 3, y: 3",
     "C[m,x] += A[m,k] * B[k,x]\nE[m,y] += A[m,k] * D[k,y]", NULL},
    {"one input twice", "m: @, l: @, k: 2", "S[m,l] += A[m,k] * B[k,l]\nO[m] += S[m,l] * A[m,l]",
     NULL},
    {"gram", "m: @, n: @, k: @", "C[m,n] += A[m,k] * A[n,k]\nE[m] += C[m,n] * A[n,n]", NULL},
    {"fork", "m: @, k: 2, x: 3, y: 3",
     "C[m,x] += A[m,k] * B[k,x]\nE[m,y] += C[m,x] * D[x,y]\nF[m,x] = C[m,x] * 2", NULL},
    {"two products", "m: @, n: @, k: @, q: @",
     "C[m,n] += A[m,k] * B[k,n]\nE[m,q] += F[m,k] * G[k,q]", NULL},
    {"three products", "m: @, k: @, a: @, b: @, c: 2",
     "Q[m,a] += X[m,k] * U[k,a]\nK[m,b] += X[m,k] * V[k,b]\nW[m,c] += X[m,k] * Y[k,c]", NULL},
    {"two into one", "m: @, l: @, k: @, a: @",
     "Q[m,a] += X[m,k] * U[k,a]\nK[l,a] += Y[l,k] * V[k,a]\nS[m,l] += Q[m,a] * K[l,a]", NULL},
    {"maps", "m: @, n: @",
     "C[m,n] = A[m,n] * 2\nD[m,n] = max(C[m,n], 0)\nE[m,n] = max(D[m,n], B[n])\nF[m] += E[m,n]",
     NULL},
    {"constants", "m: @, k: @", "C[m] += A[2*m+1,k] * B[k,3]\nE[m] = C[m] * B[0,1]", NULL},
    {"fixed rows", "h: 5, k: @", "T[h,k] = I[h,k] * 2\nO[k] = T[3,k] * T[1,k]", NULL},
    {"reversed", "m: @, n: @, k: @", "C[m,n] += A[5-m,k] * B[k,m-n]", NULL},
    {"mirror", "h: 6, p: 6", "T[h] = I[h] * 2\nO[p] = T[5-p] * T[p]", NULL},
};
enum { N_WORKLOADS = sizeof workloads / sizeof workloads[0], DRAWN = 8, SPELLED = 3, MANY = 500 };

/* Reads of one tensor, by siblings or in one box, that loops move differently. */
static const workload turned[] = {
    {"turned, maps", "m: @, k: @", "C[m] += A[m,k] * B[k]\nE[k] += A[m,k] * C[m]", NULL},
    {"turned, products", "m: @, k: @, n: 2, q: 2",
     "C[m,n] += A[m,k] * B[k,n]\nE[k,q] += A[m,k] * D[m,q]", NULL},
    {"turned, keys", "m: @, l: @, k: @", "S[m,l] += Q[m,k] * X[l,k]\nO[m] += S[m,l] * X[l,m]",
     NULL},
    {"turned, twice", "m: @, l: @, k: @", "S[m,l] += A[m,k] * B[k,l]\nO[m] += S[m,l] * A[m,l]",
     NULL},
    {"turned, gram", "m: @, n: @, k: @", "C[m,n] += A[m,k] * A[n,k]\nE[m] += C[m,n] * A[n,n]",
     NULL},
    {"turned, strides", "m: @, n: @", "C[m] += A[2*m+n] * B[n]\nE[m] += C[m] * A[m]", NULL},
    {"turned, sums", "m: @, n: @, k: @",
     "C[m,n] += A[m,k] * B[k,n]\nD[m,n] += A[n,k] * E[k]\nF[m] += C[m,n] * D[m,n]", NULL},
    {"turned, padded", "p: @, c: 3, t: 3", "S[c,p] += I[c,p+t-1] * V[t]\nY[p] += S[c,p] * I[c,2]",
     "{I: {pad: [0, 1]}}"},
    {"turned, padded plane", "p: 5, k: 5, t: 3",
     "C[p,k] += A[p+t-1,k] * B[t,k]\nE[k] += A[k,p] * C[p,k]", "{A: {pad: [1, 0]}}"},
    {"turned, padded sums", "m: 5, k: 3", "C[m] += A[m+k-1] * B[k]\nE[k] += A[m+k-1] * C[m]",
     "{A: {pad: [1]}}"},
    {"apart, strides", "h: 11, p: 6", "T[h] = I[h] * 2\nO[p] = T[2*p] * T[p]", NULL},
    {"apart, gram", "m: 6, k: 2, n: 6, a: 6", "X[m,k] = A[m,k] * 2\nC[a,n] += X[a,k] * X[n,k]",
     NULL},
    {"apart, padded", "h: 6, p: 6, t: 3", "T[h] = I[h] * 2\nO[p] += T[p+t-1] * T[5-p]",
     "{T: {pad: [1]}}"},
    {"apart, padded gram", "m: 5, k: 2, t: 3, n: 5, a: 5",
     "X[m,k] += A[m+t-1,k] * B[t]\nC[a,n] += X[a,k] * X[n,k]", "{A: {pad: [1, 0]}}"},
    {"residual, padded", "h: 6, r: 3, p: 6, t: 3",
     "T[h] += I[h+r-1] * V[r]\nS[p] += T[p+t-1] * W[t]\nY[p] = S[p] + I[p]",
     "{I: {pad: [1]}, T: {pad: [1]}}"},
    {"turned, cut", "m: 5, k: 5, t: 3, q: 5", "C[m] += A[m,k] * B[k]\nG[q] += C[q+t-1] * A[q,t]",
     "{C: {pad: [1]}}"},
    {"strides, cut", "m: 9, n: 3, p: 4, t: 3", "C[m] += A[m+n] * B[n]\nE[p] += C[2*p+t-1] * A[p]",
     "{C: {pad: [1]}}"},
};
enum { N_TURNED = sizeof turned / sizeof turned[0] };

static void write_dims(tf_rng *g, page *p, const char *dims) {
  page_say(p, "workload:\n  name: w\n  dims: {");
  for (const char *c = dims; *c; c++)
    if (*c == '@')
      page_say(p, "%d", gen_extent(g, 6));
    else
      page_say(p, "%c", *c);
  page_say(p, "}\n");
}

static void write_ops(page *p, const char *ops) {
  page_say(p, "  ops:\n");
  for (const char *line = ops; *line;) {
    size_t n = strcspn(line, "\n");
    page_say(p, "  - \"%.*s\"\n", (int)n, line);
    line += n + (line[n] != 0);
  }
}

/* ---- drawn convolutions: strides, dilations, borders and turns of every size ---------------- */

/* What `stride * p + dilation * r + c` reaches. */
typedef struct {
  char text[64];
  int lo, hi;
} reach;

static int signed_one(tf_rng *g, int most) {
  int k = rng_between(g, 1, most);
  return rng_chance(g, 5) ? -k : k;
}

static reach draw_reach(tf_rng *g, const char *p, int extent_p, const char *r, int extent_r) {
  int a = signed_one(g, 3), b = signed_one(g, 3), c = rng_between(g, -2, 2);
  int pa = a * (extent_p - 1), rb = b * (extent_r - 1);
  reach x = {.lo = c + (pa < 0 ? pa : 0) + (rb < 0 ? rb : 0),
             .hi = c + (pa > 0 ? pa : 0) + (rb > 0 ? rb : 0)};
  snprintf(x.text, sizeof x.text, "%d*%s + %d*%s + %d", a, p, b, r, c);
  return x;
}

/* A pad that leaves at least one word; often as wide as can be. */
static int draw_pad(tf_rng *g, reach x) {
  int most = (x.hi - x.lo) / 2;
  return rng_chance(g, 3) ? most : rng_between(g, 0, most);
}

static const char *drawn_one(tf_rng *g, page *p) {
  int e = gen_extent(g, 6), r = rng_between(g, 1, 5), q = rng_between(g, 1, 4),
      s = rng_between(g, 1, 3);
  reach x = draw_reach(g, "p", e, "r", r), y = draw_reach(g, "q", q, "s", s);
  bool flat = rng_chance(g, 2);
  page_say(p, "workload:\n  name: w\n  dims: {p: %d, r: %d, %s", e, r, flat ? "k: 2" : "");
  if (!flat) page_say(p, "q: %d, s: %d", q, s);
  page_say(p, "}\n  tensors: {I: {pad: [%d", draw_pad(g, x));
  page_say(p, flat ? "]}}\n" : ", %d]}}\n", draw_pad(g, y));
  if (flat)
    page_say(p, "  ops:\n  - \"O[p,k] += I[%s] * W[k,r]\"\n", x.text);
  else
    page_say(p, "  ops:\n  - \"O[p,q] += I[%s,%s] * W[r,s]\"\n", x.text, y.text);
  return "drawn conv";
}

/* The first one's outputs cover what the second reads but for its pad, or some more at either end.
 */
static const char *drawn_two(tf_rng *g, page *p) {
  int e = gen_extent(g, 6), t = rng_between(g, 1, 4), r = rng_between(g, 1, 4);
  reach y = draw_reach(g, "p", e, "t", t);
  int pad = draw_pad(g, y), before = rng_chance(g, 3) ? 1 : 0,
      after = rng_chance(g, 3) ? rng_between(g, 1, 2) : 0;
  int shift = before - pad - y.lo, h = before + y.hi - y.lo + 1 - 2 * pad + after;
  reach x = draw_reach(g, "h", h, "r", r);
  bool wide = rng_chance(g, 2);
  page_say(p, "workload:\n  name: w\n  dims: {h: %d, r: %d, p: %d, t: %d%s}\n", h, r, e, t,
           wide ? ", k: 2" : "");
  page_say(p, "  tensors: {I: {pad: [%d]}, T: {pad: [%d%s]}}\n", draw_pad(g, x), pad,
           wide ? ", 0" : "");
  page_say(p, "  ops:\n  - \"T[h%s] += I[%s] * V[%sr]\"\n", wide ? ",k" : "", x.text,
           wide ? "k," : "");
  page_say(p, "  - \"O[p] += T[%s + %d%s] * W[%st]\"\n", y.text, shift, wide ? ",k" : "",
           wide ? "k," : "");
  return "drawn convs";
}

/* ---- one of them ---------------------------------------------------------------------------- */

static const char *written(tf_rng *g, page *p, unsigned *features) {
  spelled s;
  const bool masks = *features >> GEN_MASK & 1;
  spell(g, p, (spelled_may){.most = 4, .masks = masks ? SPELLED_BANDS : SPELLED_PLAIN}, &s);
  *features |= 1u << GEN_SPELLED;
  return "attention, spelled";
}

static const char *written_out(tf_rng *g, page *p, const workload *w, unsigned *features) {
  *features |= w->tensors ? 1u << GEN_PAD : 0;
  write_dims(g, p, w->dims);
  if (w->tensors) {
    page_say(p, "  tensors: %s\n", w->tensors);
  } else if (rng_chance(g, 4)) {
    page_say(p, "  tensors: {%c: {word-bits: %d}}\n", w->ops[0], rng_chance(g, 2) ? 8 : 32);
    *features |= 1u << GEN_BITS;
  }
  write_ops(p, w->ops);
  return w->name;
}

const char *gen_input(tf_rng *g, page *p, unsigned *features, unsigned asked) {
  *features |= asked & (1u << GEN_MASK | 1u << GEN_PARTS | 1u << GEN_PEERS);
  asked &= ~(1u << GEN_PEERS);
  if (asked & 1u << GEN_SPELLED && rng_chance(g, 2)) *features |= 1u << GEN_MASK;
  machine(g, p, features);
  if (asked & 1u << GEN_MASK) return gen_masked(g, p);
  if (asked & 1u << GEN_SPELLED) return written(g, p, features);
  if (asked & 1u << GEN_DIVIDED) {
    *features |= 1u << GEN_DIVIDED;
    gen_divided(g, p);
    return "divided";
  }
  if (asked & 1u << GEN_PAD) {
    *features |= 1u << GEN_PAD;
    gen_padded(g, p);
    return "padded";
  }
  if (asked & 1u << GEN_FREE) {
    *features |= 1u << GEN_FREE;
    gen_free(g, p);
    return "free";
  }
  if (!asked && gen_turned)
    return written_out(g, p, &turned[rng_between(g, 0, N_TURNED - 1)], features);
  if (!asked && rng_chance(g, MANY)) return gen_many(g, p);
  int i = rng_between(g, 0, N_WORKLOADS + DRAWN + SPELLED - 1);
  if (*features >> GEN_PEERS & 1 && rng_chance(g, 3)) return gen_peers(g, p);
  if (i >= N_WORKLOADS + DRAWN) return written(g, p, features);
  if (i >= N_WORKLOADS) {
    *features |= 1u << GEN_PAD;
    return (i - N_WORKLOADS) % 2 ? drawn_one(g, p) : drawn_two(g, p);
  }
  return written_out(g, p, &workloads[i], features);
}
