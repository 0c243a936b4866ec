/* The capacity bound against all mappings of small products, against uneven nests, and against what
 * searches find for chains. test_bound [CASES [SEED]] */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/unit/case.h"
#include "tileflow/bound.h"
#include "tileflow/search.h"
#include "tileflow/slope.h"

static int pick(tf_rng *r, int lo, int hi) {
  return lo + (int)tf_rng_below(r, (uint32_t)(hi - lo + 1));
}

/* ---- one product, one memory: the staircase itself ------------------------------------------ */
enum { MOST_WORDS = 400 };

/* A tree `DRAM for ... / Buf for ... bypass ... / op C` with the loops outside in an order,
 * prepared once. */
typedef struct {
  tf_diags *d;
  tf_tree *tree;
  tf_model *model;
} prepared;

static prepared prepare(const test_case *s, const int *order, const char *const *dims, int n,
                        int skip) {
  char text[400], names[40] = "";
  int at = snprintf(text, sizeof text, "DRAM for");
  prepared p = {.d = tf_diags_new()};
  for (int i = 0; i < n; i++)
    at += snprintf(text + at, sizeof text - (size_t)at, " %s=1", dims[order[i]]);
  at += snprintf(text + at, sizeof text - (size_t)at, "\n  Buf for");
  for (int d = 0; d < n; d++)
    at += snprintf(text + at, sizeof text - (size_t)at, " %s=%d", dims[d],
                   (int)s->spec->workload->dims[d].extent);
  for (int z = 0; z < 3; z++)
    if (skip >> z & 1)
      snprintf(names + strlen(names), sizeof names - strlen(names), " %c", "ABC"[z]);
  snprintf(text + at, sizeof text - (size_t)at, "%s%s\n    op C\n", skip ? " bypass" : "", names);
  p.tree = tf_tree_parse(text, (tf_loc){0}, s->spec->arch, s->spec->workload, p.d);
  p.model = p.tree ? tf_model_new(p.tree, p.d) : NULL;
  if (!CHECK(p.model != NULL)) printf("%s", text);
  return p;
}

static void count(const test_case *s, prepared *p, const int *order, const int *extent,
                  const int *tile, int n, int64_t *best) {
  int64_t trips[8], words = 0;
  tf_result r;
  for (int i = 0; i < n; i++) {
    trips[i] = (extent[order[i]] + tile[order[i]] - 1) / tile[order[i]];
    trips[n + i] = tile[i];
  }
  if (!p->model || !CHECK(tf_model_eval(p->model, trips, &r))) return;
  for (int z = 0; z < s->spec->workload->n_tensors; z++)
    words += r.counts[z].read + r.counts[z].update;
  for (int64_t c = r.levels[1].peak; c <= MOST_WORDS && words < best[c]; c++)
    best[c] = words;
}

/* Every tile, dividing or not, every order of the loops outside, every choice of what the memory
 * holds. */
static void enumerate(const test_case *s, const int *extent, const char *const *dims, int n,
                      int64_t *best) {
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int i = 0; i <= MOST_WORDS; i++)
    best[i] = INT64_MAX;
  for (int o = 0; o < 6; o++)
    for (int skip = 0; skip < 8; skip++) {
      int tile[4] = {1, 1, 1, 1}, order[4] = {n - 1, 0, 0, 0};
      memcpy(order + (n == 4), orders[o], sizeof orders[o]);
      prepared p = prepare(s, order, dims, n, skip);
      for (int d = 0; d < n;) {
        count(s, &p, order, extent, tile, n, best);
        for (d = 0; d < n && tile[d] == extent[d]; d++)
          tile[d] = 1;
        if (d < n) tile[d]++;
      }
      tf_model_free(p.model);
      tf_tree_free(p.tree);
      tf_diags_free(p.d);
    }
}

static void check_staircase(int cases, uint64_t seed) {
  tf_rng r = tf_rng_new(seed, 1);
  static int64_t best[MOST_WORDS + 1];
  double over = 0, n = 0; /* how much more the best takes than is proved */
  for (int i = 0; i < cases; i++) {
    int batch = pick(&r, 0, 3) == 0, most = batch ? 4 : 6;
    int extent[4] = {pick(&r, 1, most), pick(&r, 1, most), pick(&r, 1, most), 2};
    const char *const dims[] = {"m", "n", "k", "b"};
    const char *b = batch ? "b," : "";
    char work[400], arch[300];
    snprintf(work, sizeof work,
             "workload:\n  name: w\n  dims: {m: %d, n: %d, k: %d%s}\n  ops:\n"
             "  - C[%sm,n] += A[%sm,k] * B[%sk,n]\n",
             extent[0], extent[1], extent[2], batch ? ", b: 2" : "", b, b, b);
    snprintf(arch, sizeof arch,
             "architecture:\n  name: a\n  memories: [{name: DRAM}, {name: Buf}]\n"
             "  compute: [{name: u, ops: [mac], below: Buf}]\n");
    test_case s = case_of(arch, work);
    tf_bound_slope *slope = tf_bound_slope_of(s.spec->workload, 16, s.d);
    if (CHECK(slope != NULL)) {
      bool ok = true;
      enumerate(&s, extent, dims, 3 + batch, best);
      for (int c = 0; c <= MOST_WORDS && ok; c++) {
        ok = CHECK(tf_bound_at(slope, c) <= (double)best[c]);
        over += (double)best[c] / tf_bound_at(slope, c) - 1, n++;
        if (!ok) printf("capacity %d:\n%s", c, work);
      }
    }
    tf_bound_slope_free(slope);
    case_drop(&s);
  }
  CHECK(over < 0.2 * n);
}

/* ---- uneven nests --------------------------------------------------------------------------- */
/* Five memories, one of each; an op of three inputs with dims of their own, and loops on every Tile
 * that need not divide, so that a dim's last round is shorter than the others.  Each Tile but the
 * outermost holds some of the tensors. */
static void draw_nest(tf_rng *r, const int *extent, char *out, size_t size) {
  static const char names[] = "mlkjic";
  int step[6] = {1, 1, 1, 1, 1, 1}, trips[5][6];
  for (int level = 4; level >= 0; level--)
    for (int d = 0; d < 6; d++) {
      int left = (extent[d] + step[d] - 1) / step[d];
      trips[level][d] = level == 0 ? left : left > 1 && pick(r, 0, 1) ? pick(r, 1, left) : 1;
      step[d] *= trips[level][d];
    }
  int at = 0;
  for (int level = 0; level < 5; level++) {
    int from = pick(r, 0, 5), by = pick(r, 0, 1) ? 1 : 5;
    at += snprintf(out + at, size - (size_t)at, "%*sM%d", 2 * level, "", level);
    for (int k = 0, some = 0; k < 6; k++) {
      int d = (from + by * k) % 6;
      if (trips[level][d] > 1)
        at += snprintf(out + at, size - (size_t)at, "%s %c=%d", some++ ? "" : " for", names[d],
                       trips[level][d]);
    }
    for (int z = 0, some = 0; z < 4 && level; z++)
      if (pick(r, 0, 1))
        at += snprintf(out + at, size - (size_t)at, "%s %c", some++ ? "" : " bypass", "CABD"[z]);
    at += snprintf(out + at, size - (size_t)at, "\n");
  }
  snprintf(out + at, size - (size_t)at, "%*sop C\n", 10, "");
}

static const char deep[] =
    "architecture:\n  name: a\n"
    "  memories: [{name: M0}, {name: M1}, {name: M2}, {name: M3}, {name: M4}]\n"
    "  compute: [{name: u, ops: [mac, mul, add], below: M4}]\n";

static void check_nest(const test_case *s, const tf_bound_slope *slope, const char *text) {
  tf_diags *d = tf_diags_new();
  tf_tree *tree = tf_tree_parse(text, (tf_loc){0}, s->spec->arch, s->spec->workload, d);
  tf_model *m = tree ? tf_model_new(tree, d) : NULL;
  tf_result r;
  if (CHECK(m && tf_model_eval(m, NULL, &r))) {
    double words = 0, held = 0;
    for (int z = 0; z < s->spec->workload->n_tensors; z++)
      words += (double)(r.counts[z].read + r.counts[z].update);
    for (int l = 1; l < 5; l++)
      held += (double)r.levels[l].peak;
    if (!CHECK(words >= tf_bound_at(slope, held)))
      printf("%.0f words with %.0f on chip, at least %.0f:\n%s", words, held,
             tf_bound_at(slope, held), text);
  } else {
    printf("%s", text);
  }
  tf_model_free(m);
  tf_tree_free(tree);
  tf_diags_free(d);
}

static void check_uneven(int cases, int nests, uint64_t seed) {
  tf_rng r = tf_rng_new(seed, 3);
  for (int i = 0; i < cases; i++) {
    /* the first: two rounds of m, of 2 and of 1, in which A stays; no box that is the same for all
     * m does as well */
    int extent[6] = {3, 3, 1, 2, 3, 10};
    for (int k = 0; k < 6 && i; k++)
      extent[k] = pick(&r, 1, k < 2 ? 7 : 3);
    char work[300], text[400];
    snprintf(work, sizeof work,
             "workload:\n  name: w\n  dims: {m: %d, l: %d, k: %d, j: %d, i: %d, c: %d}\n"
             "  ops: ['C[m,l,c] += A[m,k] * B[l,j] * D[m,i]']\n",
             extent[0], extent[1], extent[2], extent[3], extent[4], extent[5]);
    test_case s = case_of(deep, work);
    tf_bound_slope *slope = tf_bound_slope_of(s.spec->workload, 16, s.d);
    if (CHECK(slope != NULL) && i == 0)
      check_nest(&s, slope,
                 "M0 for m=2\n  M1 for l=3 m=2 bypass A B C\n    M2 for c=10 bypass D C\n"
                 "      M3 for k=1 j=2 i=3 bypass A B D\n        op C\n");
    for (int k = 0; k < nests && slope; k++) {
      draw_nest(&r, extent, text, sizeof text);
      check_nest(&s, slope, text);
    }
    tf_bound_slope_free(slope);
    case_drop(&s);
  }
}

/* ---- what cannot be done at once ------------------------------------------------------------ */
/* The compulsory words come out, whatever is left out of the rest. */
static void check_large(void) {
  static const char fourteen[] =
      "workload:\n"
      "  dims: {a: 5, b: 6, c: 7, d: 5, e: 6, f: 7, g: 5, h: 6, i: 7, j: 5, k: 6, l: 7, m: 3, n: "
      "4}\n"
      "  ops: ['C[a,b,c,d,e] += A[a,f,g,h,i,j] * B[b,k,l,m,n,f] * D[c,k,g]']\n";
  static const char long_dims[] = "workload:\n  dims: {m: 400000, n: 400000, k: 400000}\n"
                                  "  ops: ['C[m,n] += A[m,k] * B[k,n]']\n";
  static const char seventeen[] = "workload:\n"
                                  "  dims: {a: 2, b: 2, c: 2, d: 2, e: 2, f: 2, g: 2, h: 2, i: 2, "
                                  "j: 2, k: 2, l: 2, m: 2, n: 2, o: 2, p: 2, q: 2}\n"
                                  "  ops: ['C[a,b,c,d,e,f,g,h] += A[a,b,i,j,k,l,m,n,o,p,q]']\n";
  const char *const texts[] = {fourteen, long_dims, seventeen};
  const double least[] = {6300 + 36750 + 21168 + 210, 4.8e11, 256 + 2048};
  for (int i = 0; i < 3; i++) {
    test_case s = case_of("architecture: {name: a, memories: [{name: M}], compute: [{name: u, ops: "
                          "[mac, mul, add], below: M}]}\n",
                          texts[i]);
    tf_bound_slope *slope = tf_bound_slope_of(s.spec->workload, 16, s.d);
    if (CHECK(slope != NULL)) {
      CHECK_NEAR(tf_bound_at(slope, INFINITY), least[i], 1e-9);
      CHECK((slope->left_out >= 0) == (i == 2));
      CHECK(i == 2 || tf_bound_at(slope, 64) > 2 * least[i]);
    }
    CHECK_NEAR(tf_slope_bound(s.spec->workload, INFINITY), least[i], 1e-9);
    tf_bound_slope_free(slope);
    case_drop(&s);
  }
}

/* ---- anything: below what is found, and never rising ---------------------------------------- */
static void draw_work(tf_rng *r, char *out, size_t size) {
  int m = pick(r, 1, 8), k = pick(r, 1, 8), l = pick(r, 1, 8), n = pick(r, 1, 8), p = pick(r, 1, 6);
  const char *dims = "workload:\n  name: w\n  dims: {m: %d, k: %d, l: %d, n: %d, p: %d}\n  ops:\n";
  int at;
  switch (pick(r, 0, 6)) {
  case 0:
    at = snprintf(out, size, "workload:\n  name: w\n  dims: {m: %d, k: %d, l: %d}\n  ops:\n", m, k,
                  l);
    snprintf(out + at, size - (size_t)at, "  - C[m,l] += A[m,k] * B[k,l]\n");
    return;
  case 1:
    at = snprintf(out, size, "workload:\n  name: w\n  dims: {m: %d, k: %d, l: %d, n: %d}\n  ops:\n",
                  m, k, l, n);
    snprintf(out + at, size - (size_t)at,
             "  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n");
    return;
  case 2:
    at = snprintf(out, size, dims, m, k, l, n, p);
    snprintf(out + at, size - (size_t)at,
             "  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n"
             "  - G[m,p] += E[m,n] * F[n,p]\n");
    return;
  case 3: /* the same input twice, and a producer whose rows overlap */
    at = snprintf(out, size,
                  "workload:\n  name: w\n  dims: {m: %d, k: %d, l: %d, x: %d, u: 2}\n  ops:\n",
                  m + 1, k, l, m);
    snprintf(out + at, size - (size_t)at,
             "  - C[m,l] += A[m,k] * B[k,l]\n  - E[x] += C[x+u,l] * A[x,u]\n");
    return;
  case 4:
    at = snprintf(out, size, "workload:\n  name: w\n  dims: {c: %d, k: %d, x: %d, r: %d}\n  ops:\n",
                  k, l, m, pick(r, 1, 3));
    snprintf(out + at, size - (size_t)at, "  - O[k,x] += I[c,x+r] * W[k,c,r]\n");
    return;
  case 5: /* softmax, streamed or not */
    at = snprintf(out, size, "workload:\n  name: w\n  dims: {m: %d, k: %d, l: %d, n: %d}\n  ops:\n",
                  m, k, l, n);
    snprintf(out + at, size - (size_t)at,
             "  - S[m,l] += Q[m,k] * K[l,k]\n  - X[m] max= S[m,l]\n"
             "  - E[m,l] = exp(S[m,l] - X[m])\n  - Z[m] += E[m,l]\n"
             "  - P[m,l] = E[m,l] / Z[m]\n  - O[m,n] += P[m,l] * V[l,n]\n");
    return;
  default: /* a sum that two ops read, one after the other */
    at = snprintf(out, size, "workload:\n  name: w\n  dims: {m: %d, k: %d, l: %d}\n  ops:\n", m, k,
                  l);
    snprintf(
        out + at, size - (size_t)at,
        "  - C[m,l] += A[m,k] * B[k,l]\n  - R[m] += C[m,l]\n  - E[m,l] = C[m,l] - R[m] * A[m,0]\n");
    return;
  }
}

/* One of each: instances that idle keep what boxes on one nest do not bound.  Returns the words on
 * chip. */
static int draw_arch(tf_rng *r, char *out, size_t size) {
  int capacity = pick(r, 3, 90), inner = pick(r, 0, 1) ? pick(r, 2, 12) : 0;
  int at = snprintf(
      out, size,
      "architecture:\n  name: a\n  memories:\n  - {name: DRAM}\n  - {name: Buf, capacity: %d}\n",
      capacity);
  if (inner) at += snprintf(out + at, size - (size_t)at, "  - {name: Reg, capacity: %d}\n", inner);
  snprintf(out + at, size - (size_t)at,
           "  compute:\n  - {name: u, ops: [mac, add, sub, mul, max, exp, div], below: %s}\n",
           inner ? "Reg" : "Buf");
  return capacity + inner;
}

static void check_slope(const tf_bound_slope *s, const char *work) {
  bool ok = CHECK(s->n > 0 && s->steps[0].capacity == 0);
  for (int i = 1; i < s->n; i++)
    ok = ok && s->steps[i].capacity > s->steps[i - 1].capacity &&
         s->steps[i].words < s->steps[i - 1].words;
  if (!CHECK(ok)) printf("%s", work);
}

static void check_found(int cases, int evals, uint64_t seed) {
  tf_rng r = tf_rng_new(seed, 2);
  int found = 0, met = 0;
  for (int i = 0; i < cases; i++) {
    static const char *const strategies[] = {"ga-mcts", "random"};
    char work[700], arch[800];
    draw_work(&r, work, sizeof work);
    int here = draw_arch(&r, arch, sizeof arch);
    test_case s = case_of(arch, work);
    tf_bound_slope *slope = tf_bound_slope_of(s.spec->workload, 16, s.d);
    tf_search_opts o = {.strategy = strategies[i % 2],
                        .objective = TF_TRAFFIC,
                        .budget.seed = (uint64_t)i,
                        .budget.threads = 1,
                        .budget.max_evals = evals};
    tf_search_result *best = tf_search_run(s.spec->arch, s.spec->workload, NULL, &o, s.d);
    tf_bounds old;
    if (CHECK(slope != NULL)) {
      check_slope(slope, work);
      CHECK(tf_bounds_of(s.spec->arch, s.spec->workload, &old));
      CHECK(tf_bound_at(slope, INFINITY) >=
            (double)old.traffic_words * (1 - 1e-12)); /* never less than what tf_bounds_of proves */
    }
    if (slope && best && best->n_best) {
      double least = tf_bound_at(slope, here), value = best->best[0].value;
      if (!CHECK(least <= value * (1 + 1e-12)))
        printf("case %d: %g, found %g\n%s%s%s", i, least, value, arch, work, best->best[0].text);
      found++;
      met += least >= value * (1 - 1e-12);
    }
    tf_search_free(best);
    tf_bound_slope_free(slope);
    case_drop(&s);
  }
  CHECK(found * 2 > cases);
  CHECK(met * 20 > found); /* it is met here and there */
  if (cases > 1000) printf("%d found, %d of them at the bound\n", found, met);
}

/* ---- two ops in their own room --------------------------------------------------------------- */
/* Random mappings of two products, fused or not, with trip counts that leave remainders, on
 * machines that have just the instances, units and room that they take: none moves fewer words
 * than are proved. */
enum { M, L, N, K, DIMS_OF_TWO };

typedef struct {
  int extent[DIMS_OF_TWO];
  int side[3][2];  /* of the meshes of Buf, Reg and the units */
  bool twice;      /* Buf is double buffered */
  int64_t room[2]; /* of Buf and Reg; below 0: as much as there may be */
  double wide;     /* words that pass DRAM in a cycle */
  double cycles;   /* of the mapping */
  const char *tree;
} own_room;

static int up(int a, int b) { return (a + b - 1) / b; }

/* Dims in a random order, with trip counts. */
static int put_loops(tf_rng *r, const char *dims, const int *trips, char *out) {
  static const char all[] = "mlnk";
  int order[DIMS_OF_TWO], n = (int)strlen(dims), at = 0;
  for (int i = 0; i < n; i++)
    order[i] = (int)(strchr(all, dims[i]) - all);
  for (int i = n - 1; i > 0; i--) {
    const int k = pick(r, 0, i), a = order[i];
    order[i] = order[k], order[k] = a;
  }
  for (int i = 0; i < n; i++)
    at += sprintf(out + at, " %c=%d", all[order[i]], trips[order[i]]);
  return at;
}

static int put_bypass(tf_rng *r, const char *tensors, char *out) {
  int at = 0;
  for (const char *z = tensors; *z; z++)
    if (!pick(r, 0, 2)) at += sprintf(out + at, "%s %c", at ? "" : " bypass", *z);
  return at;
}

/* The Tiles of one op, whose dims have the ranges `left`: what is left of these after it. */
static int put_branch(tf_rng *r, const char *op, const char *dims, const char *tensors,
                      int (*side)[2], int *left, char *out) {
  int trips[DIMS_OF_TWO] = {1, 1, 1, 1}, at = sprintf(out, "    DRAM for"), whole[DIMS_OF_TWO];
  memcpy(whole, left, sizeof whole);
  for (int i = 0; i < DIMS_OF_TWO; i++)
    trips[i] = pick(r, 0, 1) ? 1 : pick(r, 1, left[i]), left[i] = up(left[i], trips[i]);
  at += put_loops(r, dims, trips, out + at);
  int inner[DIMS_OF_TWO];
  for (int i = 0; i < DIMS_OF_TWO; i++)
    trips[i] = pick(r, 0, 1) ? left[i] : pick(r, 1, left[i]), inner[i] = up(left[i], trips[i]);
  const int x = (int)(strchr("mlnk", dims[0]) - "mlnk"),
            y = (int)(strchr("mlnk", dims[1]) - "mlnk");
  at += sprintf(out + at, "\n      Buf for");
  at += put_loops(r, dims, trips, out + at);
  at += sprintf(out + at, " spatial %c=%d@x %c=%d@y", dims[0], side[1][0], dims[1], side[1][1]);
  at += put_bypass(r, tensors, out + at);
  inner[x] = up(inner[x], side[1][0]), inner[y] = up(inner[y], side[1][1]);
  inner[x] = up(inner[x], side[2][0]), inner[y] = up(inner[y], side[2][1]);
  at += sprintf(out + at, "\n        Reg for");
  at += put_loops(r, dims, inner, out + at);
  at += sprintf(out + at, " spatial %c=%d@x %c=%d@y", dims[0], side[2][0], dims[1], side[2][1]);
  at += put_bypass(r, tensors, out + at);
  return at + sprintf(out + at, "\n          op %s\n", op);
}

static void draw_tree(tf_rng *r, own_room *o, char *out) {
  int shared[DIMS_OF_TWO], left[DIMS_OF_TWO], at = sprintf(out, "DRAM for");
  const bool fused = pick(r, 0, 4) > 0;
  for (int i = 0; i < DIMS_OF_TWO; i++) {
    o->extent[i] = pick(r, 2, 13);
    shared[i] = fused && i != K && (i != N || !pick(r, 0, 2)) ? pick(r, 1, o->extent[i]) : 1;
    left[i] = up(o->extent[i], shared[i]);
  }
  for (int k = 0; k < 6; k++)
    o->side[k / 2][k % 2] = pick(r, 0, 2) ? 1 : pick(r, 2, 4);
  at += put_loops(r, "mln", shared, out + at);
  at += sprintf(out + at, " spatial m=%d@x l=%d@y\n", o->side[0][0], o->side[0][1]);
  left[M] = up(left[M], o->side[0][0]), left[L] = up(left[L], o->side[0][1]);
  at += sprintf(out + at, "  %s", pick(r, 0, 1) ? "Seq" : pick(r, 0, 3) ? "Shar" : "Pipe");
  if (fused && pick(r, 0, 3)) at += sprintf(out + at, " keep C@%s", pick(r, 0, 4) ? "Buf" : "Reg");
  if (fused && !pick(r, 0, 2)) at += sprintf(out + at, " retain C");
  at += sprintf(out + at, "\n");
  int own[DIMS_OF_TWO];
  memcpy(own, left, sizeof own);
  at += put_branch(r, "C", "mlk", "AB", o->side, own, out + at);
  memcpy(own, left, sizeof own);
  put_branch(r, "E", "mnl", "DE", o->side, own, out + at);
  o->tree = out;
}

static test_case read_own(const own_room *o) {
  char arch[700], work[200], room[2][40] = {"", ""};
  for (int k = 0; k < 2; k++)
    if (o->room[k] >= 0)
      snprintf(room[k], sizeof room[k], ", capacity: %lld", (long long)o->room[k]);
  snprintf(arch, sizeof arch,
           "architecture:\n  name: a\n  memories:\n  - {name: DRAM, bandwidth: %g}\n"
           "  - {name: Buf, mesh: [%d, %d]%s, double-buffered: %s}\n"
           "  - {name: Reg, mesh: [%d, %d]%s}\n"
           "  compute: [{name: u, ops: [mac], below: Reg, mesh: [%d, %d]}]\n",
           o->wide, o->side[0][0], o->side[0][1], room[0], o->twice ? "true" : "false",
           o->side[1][0], o->side[1][1], room[1], o->side[2][0], o->side[2][1]);
  snprintf(work, sizeof work,
           "workload:\n  name: w\n  dims: {m: %d, l: %d, n: %d, k: %d}\n  ops:\n"
           "  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n",
           o->extent[M], o->extent[L], o->extent[N], o->extent[K]);
  return case_of(arch, work);
}

/* The words that a mapping moves, and the room that it takes; below 0: it is none. */
static double words_of_own(own_room *o) {
  test_case s = read_own(o);
  double words = -1;
  s.tree = tf_tree_parse(o->tree, (tf_loc){0}, s.spec->arch, s.spec->workload, s.d);
  s.model = s.tree ? tf_model_new(s.tree, s.d) : NULL;
  if (s.model && tf_model_eval(s.model, NULL, &s.r) && s.r.feasible) {
    words = 0;
    o->cycles = s.r.cycles;
    for (int z = 0; z < s.spec->workload->n_tensors; z++)
      words += (double)(s.r.counts[z].read + s.r.counts[z].update);
    for (int k = 0; k < 2; k++)
      o->room[k] = s.r.levels[k + 1].peak ? s.r.levels[k + 1].peak : 1;
  }
  case_drop(&s);
  return words;
}

/* None that a search finds in that room moves less, or takes less time. */
static void search_own(test_case *s, int seed, tf_objective by, double bound) {
  enum { OF_OWN = 3000 };
  const tf_search_opts o = {.objective = by,
                            .budget.seed = (uint64_t)seed,
                            .budget.threads = 1,
                            .budget.max_evals = OF_OWN};
  tf_search_result *best = tf_search_run(s->spec->arch, s->spec->workload, NULL, &o, s->d);
  const double least = best && best->n_best ? best->best[0].value : bound;
  if (!CHECK(least >= bound * (1 - 1e-9)))
    printf("%g found, %g proved\n%s", least, bound, best->best[0].text);
  tf_search_free(best);
}

/* Evaluates the mapping, which fits, and finds the bounds of all. */
static bool bounds_and_counts(test_case *s, const char *tree, tf_bounds *b) {
  s->tree = tf_tree_parse(tree, (tf_loc){0}, s->spec->arch, s->spec->workload, s->d);
  s->model = s->tree ? tf_model_new(s->tree, s->d) : NULL;
  return CHECK(s->model && tf_model_eval(s->model, NULL, &s->r) && s->r.feasible) &&
         CHECK(tf_bounds_on_chip(s->spec->arch, s->spec->workload, b, s->d));
}

/* A chain of which half of C fills the registers: B and D pass twice. */
static void check_half(void) {
  static const char arch[] = "architecture:\n  name: a\n  memories:\n  - {name: DRAM}\n"
                             "  - {name: Buf, mesh: [5, 1], capacity: 338}\n"
                             "  - {name: Reg, mesh: [8, 8], capacity: 6}\n"
                             "  compute: [{name: u, ops: [mac], below: Reg}]\n";
  static const char work[] = "workload:\n  name: w\n  dims: {m: 61, l: 53, n: 19, k: 101}\n  ops:\n"
                             "  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n";
  static const char tree[] = "DRAM for m=2\n  Seq keep C@Reg\n"
                             "    DRAM for k=101 spatial l=5@x\n"
                             "      Buf spatial m=8@x m=2@y l=4@y\n"
                             "        Reg for m=2 l=3 bypass A B\n          op C\n"
                             "    DRAM for n=19 spatial l=5@x\n"
                             "      Buf spatial m=8@x m=2@y l=4@y\n"
                             "        Reg for m=2 l=3 bypass D E\n          op E\n";
  test_case s = case_of(arch, work);
  tf_bounds b;
  if (bounds_and_counts(&s, tree, &b)) {
    int64_t words = 0;
    for (int z = 0; z < s.spec->workload->n_tensors; z++)
      words += s.r.counts[z].read + s.r.counts[z].update;
    CHECK_I64(words, 6161 + 2 * 5353 + 1159 + 2 * 1007);
    CHECK(b.traffic_words <= words && (double)b.traffic_words > 0.74 * (double)words);
  }
  case_drop(&s);
}

/* A chain whose B and D stay throughout in the room there is, while C is made once, row by row: no
 * word passes twice, though units have no time to make C twice. */
static void check_throughout(void) {
  static const char arch[] = "architecture:\n  name: a\n  memories:\n"
                             "  - {name: DRAM, bandwidth: 0.25}\n"
                             "  - {name: Buf, capacity: 400}\n"
                             "  compute: [{name: u, ops: [mac], below: Buf, mesh: [6, 1]}]\n";
  static const char work[] = "workload:\n  name: w\n  dims: {m: 128, l: 16, n: 4, k: 16}\n  ops:\n"
                             "  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n";
  static const char tree[] = "DRAM for m=128\n  Pipe keep C@Buf\n"
                             "    DRAM\n      Buf for k=4 l=16 spatial k=4@x\n        op C\n"
                             "    DRAM\n      Buf for n=4 l=16\n        op E\n";
  test_case s = case_of(arch, work);
  tf_bounds b;
  if (bounds_and_counts(&s, tree, &b)) {
    CHECK_I64(b.traffic_words, 2048 + 256 + 64 + 512);
    CHECK(s.r.cycles <= 4 * 2880 * (1 + 1e-9) && b.cycles <= s.r.cycles);
  }
  case_drop(&s);
}

static void check_own_room(int cases, uint64_t seed) {
  tf_rng r = tf_rng_new(seed, 3);
  static const double wide[] = {0.05, 0.2, 0.5, 1, 2, 8};
  int mappings = 0, more = 0, searched = 0, longer = 0;
  for (int i = 0; i < cases; i++) {
    char tree[1500];
    own_room o = {.twice = !pick(&r, 0, 3), .room = {-1, -1}, .wide = wide[pick(&r, 0, 5)]};
    tf_bounds plain, b;
    draw_tree(&r, &o, tree);
    const double words = words_of_own(&o);
    if (words < 0) continue;
    test_case s = read_own(&o);
    CHECK(tf_bounds_of(s.spec->arch, s.spec->workload, &plain));
    if (CHECK(tf_bounds_on_chip(s.spec->arch, s.spec->workload, &b, s.d)) &&
        !CHECK((double)b.traffic_words <= words && b.cycles <= o.cycles * (1 + 1e-9)))
      printf(
          "case %d: %lld words proved, %.0f moved, %.9g cycles, %.9g, room for %lld and %lld\n%s",
          i, (long long)b.traffic_words, words, b.cycles, o.cycles, (long long)o.room[0],
          (long long)o.room[1], tree);
    mappings++;
    more += b.traffic_words > plain.traffic_words;
    const bool by_time = b.cycles > plain.cycles * (1 + 1e-6);
    longer += by_time;
    if (b.traffic_words > plain.traffic_words && searched < cases / 30) {
      search_own(&s, i, TF_TRAFFIC, (double)b.traffic_words);
      searched++;
    }
    if (by_time && longer < cases / 30) search_own(&s, i, TF_LATENCY, b.cycles);
    case_drop(&s);
  }
  CHECK(mappings * 3 > cases);
  CHECK(more * 30 > mappings); /* room counts here and there */
  CHECK(longer > 0);
  if (cases > 1000) printf("%d mappings, %d with more, %d longer\n", mappings, more, longer);
}

/* ---- one product in little room -------------------------------------------------------------- */
/* Latencies that searches find of products whose tensors have no room: none is below the bound, and
 * some meet it. */
static test_case draw_product(tf_rng *r) {
  static const char *const overlaps[] = {"double-buffer", "double-buffer", "none"};
  char arch[700], work[200], reg[120] = "";
  const bool two = pick(r, 0, 1);
  const int batch = pick(r, 0, 3) ? 1 : pick(r, 2, 3);
  if (two)
    snprintf(reg, sizeof reg, "  - {name: Reg, mesh: [%d, %d], capacity: %d}\n", pick(r, 1, 3),
             pick(r, 1, 2), pick(r, 2, 8));
  snprintf(arch, sizeof arch,
           "architecture:\n  name: a\n  overlap: %s\n  memories:\n  - {name: DRAM, bandwidth: %d}\n"
           "  - {name: Buf, mesh: [%d, 1], capacity: %d}\n%s"
           "  compute: [{name: u, ops: [mac], below: %s, mesh: [%d, %d]}]\n",
           overlaps[pick(r, 0, 2)], pick(r, 1, 6), pick(r, 1, 2), pick(r, 3, 60), reg,
           two ? "Reg" : "Buf", pick(r, 1, 4), pick(r, 1, 3));
  snprintf(work, sizeof work,
           "workload:\n  name: w\n  dims: {b: %d, m: %d, n: %d, k: %d}\n  ops:\n"
           "  - C[b,m,n] += A[b,m,k] * B[b,k,n]\n",
           batch, pick(r, 2, 13), pick(r, 2, 13), pick(r, 2, 13));
  return case_of(arch, work);
}

static void check_products(int cases, int evals, uint64_t seed) {
  tf_rng r = tf_rng_new(seed, 4);
  int found = 0, met = 0;
  for (int i = 0; i < cases; i++) {
    static const char *const strategies[] = {"ga-mcts", "random", "ga", "mcts"};
    test_case s = draw_product(&r);
    const tf_search_opts o = {.strategy = strategies[i % 4],
                              .objective = TF_LATENCY,
                              .budget.seed = seed + (uint64_t)i,
                              .budget.threads = 1,
                              .budget.max_evals = evals};
    tf_bounds b;
    tf_search_result *best = tf_search_run(s.spec->arch, s.spec->workload, NULL, &o, s.d);
    if (CHECK(tf_bounds_on_chip(s.spec->arch, s.spec->workload, &b, s.d)) && best && best->n_best) {
      const double least = best->best[0].value;
      if (!CHECK(least >= b.cycles * (1 - 1e-9)))
        printf("product %d: %g found, %.9g proved\n%s", i, least, b.cycles, best->best[0].text);
      found++;
      met += least <= b.cycles * (1 + 1e-9);
    }
    tf_search_free(best);
    case_drop(&s);
  }
  CHECK(found * 2 > cases);
  CHECK(met * 20 > found);
  if (cases > 1000) printf("%d products found, %d of them at the bound\n", found, met);
}

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
enum { CASES = 200, EVALS = 1000 };
#else
enum { CASES = 80, EVALS = 300 }; /* a debug build takes its time */
#endif

int main(int argc, char **argv) {
  int cases = argc > 1 ? atoi(argv[1]) : CASES;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  check_staircase(cases / 12, seed);
  check_uneven(cases / 4, 40, seed);
  check_large();
  check_found(cases, EVALS, seed);
  check_half();
  check_throughout();
  check_own_room(3 * cases, seed);
  check_products(cases, 2 * EVALS, seed);
  return check_report();
}
