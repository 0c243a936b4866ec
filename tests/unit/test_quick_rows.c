/* Exhaustive search, which looks at many rows of trip counts at once, against every row evaluated
 * by itself: as many of them, and the least of each figure, on machines and budgets drawn at
 * random. */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "search/common/complete.h"
#include "search/common/objective.h"
#include "search/space/trips.h"
#include "search/strategy/strategy.h"
#include "tests/unit/case.h"
#include "tests/unit/page.h"

enum { CASES = 16, FIGURES = 4 };

static int pick(tf_rng *g, int lo, int hi) {
  return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1));
}

static const char *const mappings[] = {
    "  DRAM for m=? n=? spatial m=?@x\n    Buf for k=? m=?<=6 spatial n=?@y\n"
    "      Reg for k=?{1,2,4} m=? n=?\n        op C\n",
    "  DRAM for m=? l=?\n    Buf for m=?\n      Seq\n"
    "        Buf for l=? k=? spatial m=?@x\n          Reg for l=?\n"
    "            op C\n        Buf for n=? l=? spatial m=?@x n=?@y\n"
    "          Reg for m=?\n            op E\n",
};

static void draw(tf_rng *g, int which, page *p) {
  say(p,
      "architecture:\n  name: a\n  clock: 1 GHz\n  overlap: %s\n  memories:\n"
      "  - {name: DRAM, bandwidth: %d}\n",
      pick(g, 0, 1) ? "perfect" : "double-buffer", pick(g, 1, 8));
  say(p, "  - {name: Buf, mesh: [2, 1], capacity: %d, bandwidth: %d}\n", pick(g, 30, 400),
      pick(g, 1, 16));
  say(p,
      "  - {name: Reg, mesh: [%d, 4], bandwidth: 4}\n  compute:\n"
      "  - {name: u, ops: [mac], below: Reg}\n",
      pick(g, 2, 8));
  say(p, "workload:\n  name: w\n");
  if (which)
    say(p,
        "  dims: {m: %d, k: 4, l: %d, n: 8}\n"
        "  ops: ['C[m,l] += A[m,k] * B[k,l]', 'E[m,n] += C[m,l] * D[l,n]']\n",
        pick(g, 2, 4) * 8, pick(g, 2, 3) * 4);
  else
    say(p, "  dims: {m: %d, k: 8, n: %d}\n  ops: ['C[m,n] += A[m,k] * B[k,n]']\n",
        pick(g, 4, 8) * 6, pick(g, 1, 4) * 6);
  say(p, "mapping: |\n%s", mappings[which]);
}

typedef struct {
  int64_t evals;
  int fit;
  double least[FIGURES], value; /* value: of the objective */
} found;

static void by_figure(const tf_figures *f, double *by) {
  by[0] = f->cycles, by[1] = f->energy_pj, by[2] = f->traffic_words, by[3] = f->held_words;
}

/* The first `most` rows of the space, one by one. */
static found one_by_one(const test_case *e, tf_objective goal, int64_t most) {
  found x = {.value = INFINITY, .least = {INFINITY, INFINITY, INFINITY, INFINITY}};
  tf_trips *t = tf_trips_new(e->tree, e->d);
  tf_model *m = tf_model_new(e->tree, e->d);
  tf_arena *a = tf_arena_new();
  CHECK(t && m && a);
  if (!t || !m || !a) exit(2);
  tf_model_walk_limit(m, 0);
  void *state = tf_strategy_exhaustive.make(a, &t->space, NULL, 0, tf_rng_new(1, 1));
  uint64_t like;
  while (x.evals < most && tf_strategy_exhaustive.ask(state, &like)) {
    tf_result r;
    x.evals++;
    if (!tf_model_eval(m, t->trips, &r) || !r.feasible) continue;
    tf_figures f = tf_figures_of(e->tree->arch, e->tree->workload, &r);
    double by[FIGURES];
    by_figure(&f, by);
    for (int i = 0; i < FIGURES; i++)
      x.least[i] = fmin(x.least[i], by[i]);
    x.value = fmin(x.value, tf_objective_value(goal, &f));
    x.fit++;
  }
  tf_arena_free(a);
  tf_model_free(m);
  tf_trips_free(t);
  return x;
}

/* A search sums energies in the order of its canonical form, which may differ in the last bits. */
static bool same(double a, double b) {
  return fabs(a - b) <= 1e-14 * fabs(b) || (isinf(a) && isinf(b));
}

static void check_search(const test_case *e, tf_objective goal, int64_t most, const found *x) {
  tf_search_opts o = {.strategy = "exhaustive",
                      .objective = goal,
                      .budget = {.threads = 1, .max_evals = most},
                      .keep = 1};
  tf_search_result *r = tf_search_run(e->tree->arch, e->tree->workload, e->tree, &o, e->d);
  CHECK(r != NULL);
  if (!r) return;
  CHECK_I64(r->evals, x->evals);
  CHECK_I64(r->n_best > 0, x->fit > 0);
  CHECK(!r->n_best || same(r->best[0].value, x->value));
  double least[FIGURES] = {INFINITY, INFINITY, INFINITY, INFINITY};
  for (int i = 0; i < r->n_pareto; i++) {
    double by[FIGURES];
    by_figure(&r->pareto[i].figures, by);
    for (int k = 0; k < FIGURES; k++)
      least[k] = fmin(least[k], by[k]);
  }
  for (int k = 0; k < FIGURES; k++)
    CHECK(same(least[k], x->least[k]));
  tf_search_free(r);
}

int main(void) {
  int64_t rows = 0, fit = 0;
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    tf_rng g = tf_rng_new(seed, 7);
    page p = {.len = 0};
    test_case e = {0};
    draw(&g, (int)tf_rng_below(&g, 2), &p);
    case_read(&e, p.text);
    CHECK(e.tree != NULL);
    if (!e.tree) return check_report();
    tf_objective goal = (tf_objective)pick(&g, 0, TF_N_OBJECTIVES - 1);
    int64_t most = tf_rng_below(&g, 3) ? INT64_C(1) << 40 : pick(&g, 1000, 1200);
    found x = one_by_one(&e, goal, most);
    check_search(&e, goal, most, &x);
    rows += x.evals, fit += x.fit;
    case_drop(&e);
  }
  printf("%d rows, %d fit\n", (int)rows, (int)fit);
  CHECK(rows > 10000 && fit > 1000);
  return check_report();
}
