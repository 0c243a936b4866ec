#include "tests/oracle/gen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gen_feature_name[GEN_N] = {
    "spatial loops", "partial tiles", "bypass", "keep", "retain", "stream", "nested scopes", "padding",
    "Para", "Pipe", "Shar", "Seq", "networks off"};

void page_say(page *p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(p->text + p->len, sizeof p->text - p->len, fmt, ap);
  va_end(ap);
  p->len += n > 0 ? (size_t)n : 0;
}

int rng_between(tf_rng *g, int lo, int hi) {
  return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1));
}

/* One time in n. */
static bool chance(tf_rng *g, int n) {
  return tf_rng_below(g, (uint32_t)n) == 0;
}

/* ---- machines ------------------------------------------------------------------------------- */

static const char *truth(bool b) {
  return b ? "true" : "false";
}

static int machine(tf_rng *g, page *p, unsigned *features) {
  int n = rng_between(g, 2, 4);
  page_say(p, "architecture:\n  name: a\n  clock: 1 GHz\n  overlap: perfect\n  memories:\n");
  for (int i = 0; i < n; i++) {
    bool multicast = !chance(g, 4), reduce = !chance(g, 4);
    *features |= multicast && reduce ? 0 : 1u << GEN_NO_NETWORK;
    page_say(p, "  - {name: L%d", i);
    if (chance(g, 3))
      page_say(p, ", bandwidth: {read: %d, write: %d}", rng_between(g, 1, 4), rng_between(g, 1, 4));
    else if (!chance(g, 5))
      page_say(p, ", bandwidth: %d", rng_between(g, 1, 4));
    if (i)
      page_say(p, ", mesh: [%d, %d], network: {multicast: %s, reduce: %s}", chance(g, 3) ? 1 : 4,
          chance(g, 3) ? 1 : 4, truth(multicast), truth(reduce));
    if (i && chance(g, 3))
      page_say(p, ", capacity: %d", rng_between(g, 4, 200));
    if (i && chance(g, 4))
      page_say(p, ", double-buffered: true");
    if (chance(g, 6))
      page_say(p, ", word-bits: 8");
    page_say(p, "}\n");
  }
  bool two = chance(g, 3);
  page_say(p, "  compute:\n  - {name: u, ops: [mac%s], below: L%d, mesh: [%d, 4], network: {multicast: %s, "
         "reduce: %s}}\n",
      two ? "" : ", add, sub, mul, div, max, exp", n - 1, rng_between(g, 1, 8), truth(!chance(g, 5)),
      truth(!chance(g, 5)));
  if (two)
    page_say(p, "  - {name: v, ops: [add, sub, mul, div, max, exp], below: L%d, mesh: [4, %d], rate: 2}\n",
        rng_between(g, n - 2, n - 1), rng_between(g, 1, 4));
  return n;
}

/* ---- workloads: dims and ops -------------------------------------------------------------------- */

typedef struct {
  const char *name, *dims, *ops, *tensors;
} workload;

/* A capital letter in `dims` is a small extent drawn anew; `ops` are one a line. */
static const workload workloads[] = {
    {"gemm", "m: @, n: @, k: @", "C[m,n] += A[m,k] * B[k,n]", NULL},
    {"batched gemm", "b: @, m: @, n: @, k: @", "C[b,m,n] += A[b,m,k] * B[k,n]", NULL},
    {"two gemms", "m: @, l: @, k: @, n: @", "C[m,l] += A[m,k] * B[k,l]\nE[m,n] += C[m,l] * D[l,n]", NULL},
    {"three gemms", "m: @, l: 3, k: 2, n: @, q: 2",
     "C[m,l] += A[m,k] * B[k,l]\nE[m,n] += C[m,l] * D[l,n]\nG[m,q] += E[m,n] * F[n,q]", NULL},
    {"gemm with relu", "m: @, l: @, k: @, n: @",
     "C[m,l] += A[m,k] * B[k,l]\nR[m,l] = max(C[m,l], 0)\nE[m,n] += R[m,l] * D[l,n]", NULL},
    {"conv", "p: @, k: 3, c: 2, r: 3", "O[p,k] += I[c,p+r] * W[k,c,r]", NULL},
    {"strided conv", "p: @, q: 3, k: 2, r: 2, s: 3", "O[p,q,k] += I[2*p+r,q+s] * W[k,r,s]", NULL},
    {"padded conv", "p: @, k: 2, c: 2, r: 3", "O[p,k] += I[c,p+r-1] * W[k,c,r]", "{I: {pad: [0, 1]}}"},
    {"depthwise", "c: 3, p: @, q: 2, r: 3", "O[c,p,q] += I[c,p+r,q] * W[c,r]", NULL},
    {"two convs", "h: 9, k: 2, r: 2, p: 7, n: 2, t: 3", "T[h,k] += I[h+r] * V[k,r]\nO[p,n] += T[p+t,k] * W[n,k,t]",
     NULL},
    {"strided convs", "h: 9, k: 2, r: 2, p: 4, n: 2, t: 3",
     "T[h,k] += I[h+r] * V[k,r]\nO[p,n] += T[2*p+t,k] * W[n,k,t]", NULL},
    {"padded convs", "h: 6, k: 2, r: 3, p: 6, n: 2, t: 3",
     "T[h,k] += I[h+r-1] * V[k,r]\nO[p,n] += T[p+t-1,k] * W[n,k,t]", "{I: {pad: [1]}, T: {pad: [1, 0]}}"},
    {"three convs", "h: 10, r: 2, p: 8, t: 3, q: 6, u: 3",
     "T[h] += I[h+r] * V[r]\nS[p] += T[p+t] * W[t]\nO[q] += S[q+u] * X[u]", NULL},
    {"conv 2d pair", "h: 5, w: 5, p: 4, q: 3, t: 2, u: 3", "T[h,w] = I[h,w] * 2\nO[p,q] += T[p+t,q+u] * W[t,u]",
     NULL},
    {"attention", "m: @, l: @, a: 2, n: 2",
     "S[m,l] += Q[m,a] * K[l,a]\nX[m] max= S[m,l]\nE[m,l] = exp(S[m,l] - X[m])\nZ[m] += E[m,l]\n"
     "P[m,l] = E[m,l] / Z[m]\nO[m,n] += P[m,l] * V[l,n]", NULL},
    {"softmax", "m: @, l: @",
     "X[m] max= S[m,l]\nD[m,l] = S[m,l] - X[m]\nE[m,l] = exp(D[m,l])\nZ[m] += E[m,l]\nP[m,l] = E[m,l] / Z[m]", NULL},
    {"residual", "m: @, k: 2, n: 3",
     "C[m,n] += A[m,k] * B[k,n]\nR[m,n] = max(C[m,n], 0)\nY[m,n] = R[m,n] + X[m,n]", NULL},
    {"residual conv", "p: 6, t: 3, u: 3, q: 4",
     "S[p] += I[p+t] * V[t]\nR[p] = max(S[p], 0)\nO[q] += R[q+u] * W[u]\nY[q] = O[q] + I[q+2]", NULL},
    {"shared input", "m: @, k: @, x: 3, y: 3", "C[m,x] += A[m,k] * B[k,x]\nE[m,y] += A[m,k] * D[k,y]", NULL},
    {"one input twice", "m: @, l: @, k: 2", "S[m,l] += A[m,k] * B[k,l]\nO[m] += S[m,l] * A[m,l]", NULL},
    {"gram", "m: @, n: @, k: @", "C[m,n] += A[m,k] * A[n,k]\nE[m] += C[m,n] * A[n,n]", NULL},
    {"fork", "m: @, k: 2, x: 3, y: 3",
     "C[m,x] += A[m,k] * B[k,x]\nE[m,y] += C[m,x] * D[x,y]\nF[m,x] = C[m,x] * 2", NULL},
};
enum { N_WORKLOADS = sizeof workloads / sizeof workloads[0] };

static void say_workload(tf_rng *g, page *p, const workload *w) {
  page_say(p, "workload:\n  name: w\n  dims: {");
  for (const char *c = w->dims; *c; c++)
    if (*c == '@')
      page_say(p, "%d", rng_between(g, 1, 6));
    else
      page_say(p, "%c", *c);
  page_say(p, "}\n");
  if (w->tensors)
    page_say(p, "  tensors: %s\n", w->tensors);
  page_say(p, "  ops:\n");
  for (const char *line = w->ops; *line;) {
    size_t n = strcspn(line, "\n");
    page_say(p, "  - \"%.*s\"\n", (int)n, line);
    line += n + (line[n] != 0);
  }
}

/* ---- mappings -------------------------------------------------------------------------------------- */

enum { MAX_OPS = 8, MAX_DIMS = 12 };

typedef struct {
  tf_rng *g;
  page *p;
  const tf_arch *arch;
  const tf_workload *wl;
  unsigned *features;
  int64_t len[MAX_OPS][MAX_DIMS]; /* what is left of each op's dims */
  int must[MAX_OPS];              /* a level that the op's Tiles must pass, 0: none */
  bool stream;
} maker;

static bool op_has(const tf_op *op, int dim) {
  for (int i = 0; i < op->n_dims; i++)
    if (op->dims[i] == dim)
      return true;
  return false;
}

static bool reads(const tf_op *op, int z) {
  for (int i = 0; i < op->n_reads; i++)
    if (op->reads[i].tensor == z)
      return true;
  return false;
}

static bool leads_in(const maker *k, int op, const int *ops, int n) {
  for (int i = 0; i < n; i++)
    if (reads(&k->wl->ops[ops[i]], k->wl->ops[op].out))
      return false;
  return true;
}

/* Whether a loop on dim may stand above these ops: all that lead have it.  Now and then anything goes; the
 * tree's own rules refuse it, or not. */
static bool may_loop(const maker *k, int dim, const int *ops, int n) {
  bool any = false;
  for (int i = 0; i < n; i++) {
    if (!leads_in(k, ops[i], ops, n))
      continue;
    if (!op_has(&k->wl->ops[ops[i]], dim))
      return false;
    any = true;
  }
  return any;
}

/* Lengths of what producers make for consumers whose lengths are set. */
static void infer(maker *k, const int *ops, int n) {
  for (int i = n - 1; i >= 0; i--) {
    const tf_op *op = &k->wl->ops[ops[i]];
    int64_t need[MAX_DIMS] = {0};
    for (int c = 0; c < n; c++)
      for (int r = 0; r < k->wl->ops[ops[c]].n_reads; r++) {
        const tf_ref *ref = &k->wl->ops[ops[c]].reads[r];
        for (int d = 0; ref->tensor == op->out && d < op->n_out_dims; d++) {
          int64_t len = 1;
          for (int t = 0; t < ref->index[d].n_terms; t++)
            len += llabs(ref->index[d].terms[t].coef) *
                   (k->len[ops[c]][ref->index[d].terms[t].dim] - 1);
          need[d] = len > need[d] ? len : need[d];
        }
      }
    for (int d = 0; d < op->n_out_dims; d++)
      if (need[d] && need[d] < k->len[ops[i]][op->dims[d]])
        k->len[ops[i]][op->dims[d]] = need[d];
  }
}

/* A trip count for what is left of a range: `all` of it, or some; now and then past it. */
static int64_t trip_for(maker *k, int64_t len, bool all) {
  if (len <= 1)
    return all || !chance(k->g, 12) ? 1 : 2;
  int64_t t = all ? len : rng_between(k->g, 1, (int)len);
  if (!all && chance(k->g, 2))
    while (len % t)
      t--;
  return all && chance(k->g, 12) ? t + 1 : t;
}

static int64_t up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/* One Tile over ops, which takes `all` that is left or a part of it; `first`: the first of its level. */
static void tile(maker *k, int indent, int level, bool first, const int *ops, int n, bool all) {
  char spatial[256] = "";
  bool any = false;
  page_say(k->p, "  %*sL%d", indent, "", level);
  int turn = rng_between(k->g, 0, k->wl->n_dims - 1);
  for (int i = 0; i < k->wl->n_dims; i++) {
    int d = (turn + i) % k->wl->n_dims;
    int64_t len = 0;
    if (!may_loop(k, d, ops, n) || (!all && chance(k->g, 3)))
      continue;
    for (int o = 0; o < n; o++)
      if (leads_in(k, ops[o], ops, n) && k->len[ops[o]][d] > len)
        len = k->len[ops[o]][d];
    int64_t trip = trip_for(k, len, all);
    if (trip == 1)
      continue;
    *k->features |= len % trip ? 1u << GEN_PARTIAL : 0;
    for (int o = 0; o < n; o++)
      if (leads_in(k, ops[o], ops, n))
        k->len[ops[o]][d] = up(k->len[ops[o]][d], trip);
    if (trip <= 4 && chance(k->g, 3)) {
      size_t at = strlen(spatial);
      snprintf(spatial + at, sizeof spatial - at, " %s=%d@%c", k->wl->dims[d].name, (int)trip,
               chance(k->g, 2) ? 'x' : 'y');
      *k->features |= 1u << GEN_SPATIAL;
    } else {
      page_say(k->p, "%s %s=%d", any ? "" : " for", k->wl->dims[d].name, (int)trip);
      any = true;
    }
  }
  page_say(k->p, "%s%s", *spatial ? " spatial" : "", spatial);
  if (level && first && chance(k->g, 6)) {
    const tf_op *op = &k->wl->ops[ops[rng_between(k->g, 0, n - 1)]];
    int z = chance(k->g, 2) && op->n_reads ? op->reads[rng_between(k->g, 0, op->n_reads - 1)].tensor : op->out;
    page_say(k->p, " bypass %s", k->wl->tensors[z].name);
    *k->features |= 1u << GEN_BYPASS;
  }
  page_say(k->p, "\n");
  infer(k, ops, n);
}

static int deepest(const maker *k, int op) {
  for (int u = 0; u < k->arch->n_units; u++)
    if (!(k->wl->ops[op].kinds & ~k->arch->units[u].kinds))
      return k->arch->units[u].below;
  return k->arch->n_memories - 1;
}

/* One op's own Tiles from `level` inwards; `above`: the last level that a Tile above has, -1. */
static void nest(maker *k, int indent, int level, int above, int op) {
  int last = deepest(k, op), n = rng_between(k->g, 1, 3), levels[4], at = level;
  for (int i = 0; i < n; i++)
    levels[i] = at = at < last ? rng_between(k->g, at, last) : at;
  if (k->must[op] > level && k->must[op] <= last) {
    int i = 0;
    while (i < n && levels[i] < k->must[op])
      i++;
    memmove(&levels[i + 1], &levels[i], (size_t)(n - i) * sizeof levels[0]);
    levels[i] = k->must[op];
    n++;
  }
  for (int i = 0; i < n; above = levels[i], i++, indent += 2)
    tile(k, indent, levels[i], levels[i] != above, &op, 1, i == n - 1);
  page_say(k->p, "  %*sop %s\n", indent, "", k->wl->ops[op].name);
}

/* Children of a scope: ops [at[i], at[i + 1]). */
typedef struct {
  int n, at[MAX_OPS + 1];
} parts;

static parts cut(maker *k, int n) {
  parts c = {.n = 0};
  bool apart = chance(k->g, 2) || n == 2;
  for (int from = 0; from < n;) {
    int most = from == 0 ? n - 1 : n - from;
    c.at[c.n++] = from;
    from += apart ? 1 : rng_between(k->g, 1, most);
  }
  c.at[c.n] = n;
  return c;
}

/* Whether op ops[i]'s output is read in another child than its own, and in no other scope. */
static bool at_home(const maker *k, const int *ops, const parts *c, int i) {
  int z = k->wl->ops[ops[i]].out, readers = 0;
  bool other = false;
  for (int part = 0; part < c->n; part++)
    for (int j = c->at[part]; j < c->at[part + 1]; j++)
      if (reads(&k->wl->ops[ops[j]], z)) {
        readers++;
        other |= i < c->at[part] || i >= c->at[part + 1];
      }
  return other && readers == k->wl->tensors[z].n_consumers;
}

static bool independent(const maker *k, const int *ops, const parts *c) {
  for (int i = 0; i < c->at[c->n]; i++)
    if (!leads_in(k, ops[i], ops, c->at[c->n]))
      return false;
  return true;
}

/* What the scope over these ops says of its intermediates. */
static void scope_line(maker *k, int indent, int level, const int *ops, const parts *c, bool top) {
  static const char *const name[] = {"Seq", "Shar", "Pipe", "Para"};
  static const gen_feature feature[] = {GEN_SEQ, GEN_SHAR, GEN_PIPE, GEN_PARA};
  char keep[128] = "", retain[128] = "";
  int kind = independent(k, ops, c) && chance(k->g, 2) ? 3 : rng_between(k->g, 0, 4);
  kind = (k->stream && top) || kind == 4 || (kind == 3 && !independent(k, ops, c)) ? 0 : kind;
  *k->features |= 1u << feature[kind];
  for (int i = 0; i < c->at[c->n]; i++) {
    int z = k->wl->ops[ops[i]].out;
    if (!at_home(k, ops, c, i))
      continue;
    if (chance(k->g, 6) && level + 1 < k->arch->n_memories) {
      int to = rng_between(k->g, level + 1, k->arch->n_memories - 1);
      snprintf(keep + strlen(keep), sizeof keep - strlen(keep), " %s@L%d", k->wl->tensors[z].name, to);
      for (int j = 0; j < c->at[c->n]; j++)
        if (ops[j] == ops[i] || reads(&k->wl->ops[ops[j]], z))
          k->must[ops[j]] = to;
      *k->features |= 1u << GEN_KEEP;
    }
    if (chance(k->g, 3)) {
      snprintf(retain + strlen(retain), sizeof retain - strlen(retain), " %s", k->wl->tensors[z].name);
      *k->features |= 1u << GEN_RETAIN;
    }
  }
  page_say(k->p, "  %*s%s%s%s%s%s%s\n", indent, "", name[kind], *keep ? " keep" : "", keep,
      *retain ? " retain" : "", retain, k->stream && top ? " stream X Z O" : "");
  if (k->stream && top)
    *k->features |= 1u << GEN_STREAM;
}

static void group(maker *k, int indent, int level, int above, const int *ops, int n, int depth) {
  if (n == 1) {
    nest(k, indent, level, above, ops[0]);
    return;
  }
  int tiles = rng_between(k->g, depth ? 0 : 1, 2), last = k->arch->n_memories - 1;
  for (int i = 0; i < n; i++)
    last = deepest(k, ops[i]) < last ? deepest(k, ops[i]) : last;
  for (int i = 0; i < tiles; i++, indent += 2) {
    level = rng_between(k->g, level, level + 1 < last ? level + 1 : last);
    tile(k, indent, level, level != above, ops, n, false);
    above = level;
  }
  parts c = cut(k, n);
  scope_line(k, indent, level, ops, &c, depth == 0);
  *k->features |= depth ? 1u << GEN_NESTED : 0;
  int64_t saved[MAX_OPS][MAX_DIMS];
  memcpy(saved, k->len, sizeof saved);
  for (int i = 0; i < c.n; i++) {
    memcpy(k->len, saved, sizeof saved);
    group(k, indent + 2, level, above, ops + c.at[i], c.at[i + 1] - c.at[i], depth + 1);
  }
}

static void mapping(maker *k) {
  int ops[MAX_OPS];
  for (int i = 0; i < k->wl->n_ops; i++) {
    ops[i] = k->wl->topo[i];
    for (int d = 0; d < k->wl->n_dims; d++)
      k->len[i][d] = k->wl->dims[d].extent;
  }
  page_say(k->p, "mapping: |\n");
  if (k->wl->n_ops == 1 || !chance(k->g, 12))
    group(k, 0, 0, -1, ops, k->wl->n_ops, 0);
  else
    group(k, 0, 0, -1, ops, k->wl->n_ops, 1);
}

bool gen_case(uint64_t seed, page *p, unsigned *features, const char **kind) {
  tf_rng g = tf_rng_new(seed, 7);
  *p = (page){.len = 0};
  bool padded = *features;
  machine(&g, p, features);
  const workload *w = &workloads[rng_between(&g, 0, N_WORKLOADS - 1)];
  *kind = padded ? "padded" : w->name;
  if (padded) {
    gen_padded(&g, p);
  } else {
    *features |= w->tensors ? 1u << GEN_PAD : 0;
    say_workload(&g, p, w);
  }
  tf_diags *d = tf_diags_new();
  tf_text t = {"case", p->text, p->len};
  tf_spec *spec = tf_spec_read_texts(&t, 1, NULL, 0, d);
  bool ok = spec && spec->workload && spec->arch;
  if (ok) {
    maker k = {.g = &g, .p = p, .arch = spec->arch, .wl = spec->workload, .features = features,
               .stream = !padded && !strcmp(w->name, "attention") && chance(&g, 2)};
    mapping(&k);
  } else {
    char *why = tf_diags_text(d);
    fputs(why ? why : "?", stderr);
    free(why);
  }
  tf_spec_free(spec);
  tf_diags_free(d);
  return ok;
}
