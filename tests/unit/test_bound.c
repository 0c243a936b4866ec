/* The capacity bound against all mappings of small products, against uneven nests, and against what
 * searches find for chains. test_bound [CASES [SEED]] */
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
  return check_report();
}
