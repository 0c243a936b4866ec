/* Searches and solvers of masked workloads rank, and report, what `eval` counts of the mapping
 * found. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/check.h"
#include "tileflow/tileflow.h"

static const char machine[] =
    "architecture:\n"
    "  clock: 1 GHz\n"
    "  memories:\n"
    "  - {name: DRAM, bandwidth: 4, energy: 100 pJ}\n"
    "  - {name: L1, capacity: 1024, mesh: [2, 1], bandwidth: 16, energy: 2 pJ}\n"
    "  compute:\n"
    "  - {name: pe, below: L1, mesh: [4, 4], ops: [mac], energy: 1 pJ}\n"
    "  - {name: vector, below: L1, mesh: [4, 1], ops: [add, sub, mul, div, max, exp, select], "
    "energy: 1 pJ}\n";

/* Banded attention: which keys l count for a query m. */
static const char attention[] = "workload:\n"
                                "  dims: {m: 24, l: 24, a: 4, n: 4}\n"
                                "  ops:\n"
                                "  - S[m,l] += Q[m,a] * K[l,a]\n"
                                "  - T[m,l] = select(%s, S[m,l], -inf)\n"
                                "  - X[m] max= T[m,l]\n"
                                "  - E[m,l] = exp(T[m,l] - X[m])\n"
                                "  - Z[m] += E[m,l]\n"
                                "  - P[m,l] = E[m,l] / Z[m]\n"
                                "  - O[m,n] += P[m,l] * V[l,n]\n";
static const char *const bands[] = {"l <= m", "l <= m and m - l < 6", "m - l <= 3 and l - m <= 3"};

static tf_spec *problem(const char *band, tf_diags *d) {
  char text[sizeof attention + 64];
  snprintf(text, sizeof text, attention, band);
  const tf_text t[] = {{"machine", machine, strlen(machine)}, {"workload", text, strlen(text)}};
  tf_spec *s = tf_spec_read_texts(t, 2, NULL, 0, d);
  CHECK(s != NULL && tf_workload_masked(s->workload));
  return s;
}

/* What `eval` finds of the mapping. */
static tf_figures figures_of(const tf_spec *s, const char *text, tf_diags *d) {
  tf_tree *t = tf_tree_parse(text, (tf_loc){0}, s->arch, s->workload, d);
  tf_model *m = t ? tf_model_new(t, d) : NULL;
  tf_figures f = {0};
  tf_result r;
  CHECK(m && tf_model_eval(m, NULL, &r) && r.feasible);
  if (m)
    f = (tf_figures){r.cycles, r.energy_pj, r.energy_pj * r.seconds,
                     tf_result_traffic(s->workload, &r), tf_result_held(s->arch, &r)};
  tf_model_free(m);
  tf_tree_free(t);
  return f;
}

static void check_best(const tf_spec *s, const tf_search_result *r, tf_objective by, tf_diags *d) {
  for (int i = 0; i < r->n_best; i++) {
    const tf_figures f = figures_of(s, r->best[i].text, d);
    CHECK_NEAR(r->best[i].value, tf_objective_value(by, &f), 1e-12);
    CHECK_NEAR(r->best[i].figures.cycles, f.cycles, 1e-12);
    CHECK_NEAR(r->best[i].figures.traffic_words, f.traffic_words, 1e-12);
    CHECK(i == 0 || r->best[i - 1].value <= r->best[i].value);
  }
  for (int i = 0; i < r->n_pareto;
       i++) { /* all points where a count would take too long: never less */
    const tf_figures f = figures_of(s, r->pareto[i].text, d);
    CHECK(r->pareto[i].figures.cycles >= f.cycles * (1 - 1e-12));
    CHECK(r->pareto[i].figures.energy_pj >= f.energy_pj * (1 - 1e-12));
  }
}

static void test_searches(void) {
  for (int b = 0; b < 3; b++) {
    tf_diags *d = tf_diags_new();
    tf_spec *s = problem(bands[b], d);
    for (int k = 0; s && tf_search_strategy(k, NULL); k++) {
      const tf_objective by = (tf_objective)((k + b) % TF_N_OBJECTIVES);
      tf_search_opts o = {.strategy = tf_search_strategy(k, NULL),
                          .objective = by,
                          .budget = {.max_evals = 1000, .threads = 1, .seed = 3}};
      tf_search_result *r = tf_search_run(s->arch, s->workload, NULL, &o, d);
      CHECK(r && r->n_best > 0);
      if (r) check_best(s, r, by, d);
      tf_search_free(r);
    }
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

static void check_solved(const tf_spec *s, tf_solve_result *r, tf_objective by, tf_diags *d) {
  CHECK(r && r->tree);
  char *text = r && r->tree ? tf_tree_text(r->tree) : NULL;
  if (text) {
    const tf_figures f = figures_of(s, text, d);
    CHECK_NEAR(r->value, tf_objective_value(by, &f), 1e-12);
    CHECK(r->bound <= r->value * (1 + 1e-12));
    CHECK(!r->proved || r->value <= r->bound * (1 + 1e-12));
  }
  free(text);
  tf_solve_free(r);
}

static void test_solvers(void) {
  for (int b = 0; b < 3; b++) {
    tf_diags *d = tf_diags_new();
    tf_spec *s = problem(bands[b], d);
    const tf_objective by = b == 1 ? TF_TRAFFIC : TF_LATENCY;
    tf_solve_opts o = {.objective = by, .budget = {.max_evals = 3000, .threads = 1}};
    if (s) check_solved(s, tf_solve_closed(s->arch, s->workload, &o, d), by, d);
    if (s) check_solved(s, tf_solve_exact(s->arch, s->workload, &o, d), by, d);
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

/* All even completions of a small open mapping, one by one. */
static const char open_part[] = "workload:\n"
                                "  dims: {m: 12, l: 12}\n"
                                "  ops:\n"
                                "  - T[m,l] = select(l <= m and m - l < 2, S[m,l], -inf)\n"
                                "  - X[m] max= T[m,l]\n"
                                "mapping: |\n"
                                "  Seq\n"
                                "    DRAM for m=? l=?\n"
                                "      L1 for m=? l=?\n"
                                "        op T\n"
                                "    DRAM for m=? l=?\n"
                                "      L1 for m=? l=?\n"
                                "        op X\n";

static const char closed_part[] = "Seq\n"
                                  "  DRAM for m=12 l=12\n"
                                  "    L1 for m=1 l=1\n"
                                  "      op T\n"
                                  "  DRAM for m=12 l=12\n"
                                  "    L1 for m=1 l=1\n"
                                  "      op X\n";

static double least_of_all(const tf_spec *s, bool all_points, tf_diags *d) {
  tf_tree *t = tf_tree_parse(closed_part, (tf_loc){0}, s->arch, s->workload, d);
  tf_model *m = t ? tf_model_new(t, d) : NULL;
  double least = INFINITY;
  CHECK(m != NULL);
  if (m && all_points) tf_model_all_points(m);
  for (int64_t i = 0; m && i < 12 * 12 * 12 * 12; i++) {
    const int64_t a = 1 + i % 12, b = 1 + i / 12 % 12, e = 1 + i / 144 % 12, f = 1 + i / 1728;
    const int64_t trips[] = {a, b, 12 / a, 12 / b, e, f, 12 / e, 12 / f};
    tf_result r;
    if (12 % a || 12 % b || 12 % e || 12 % f || !tf_model_eval(m, trips, &r) || !r.feasible)
      continue;
    least = fmin(least, r.cycles);
  }
  tf_model_free(m);
  tf_tree_free(t);
  return least;
}

/* A search that sees all completions finds the least that `eval` counts, not the least of all
 * points. */
static void test_exhaustive(void) {
  tf_diags *d = tf_diags_new();
  const tf_text t[] = {{"machine", machine, strlen(machine)},
                       {"open", open_part, strlen(open_part)}};
  tf_spec *s = tf_spec_read_texts(t, 2, NULL, 0, d);
  tf_tree *given =
      s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  CHECK(given != NULL);
  tf_search_opts o = {.strategy = "exhaustive", .budget.threads = 1};
  tf_search_result *r = given ? tf_search_run(s->arch, s->workload, given, &o, d) : NULL;
  CHECK(r && r->n_best > 0 && r->stopped_by == TF_STOP_EXHAUSTED);
  if (r && r->n_best > 0) {
    check_best(s, r, TF_LATENCY, d);
    CHECK(r->best[0].value <= least_of_all(s, false, d) * (1 + 1e-12));
    CHECK(r->best[0].value < least_of_all(s, true, d));
  }
  tf_search_free(r);
  tf_tree_free(given);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* Along 2^40 rows no count with a mask ends: it is given up, and all points stand. */
static void test_long(void) {
  static const char rows[] = "workload:\n"
                             "  dims: {m: 1099511627776, l: 3, a: 2}\n"
                             "  ops:\n"
                             "  - S[m,l] += Q[m,a] * K[l,a]\n"
                             "  - T[m,l] = select(l <= m, S[m,l], -inf)\n"
                             "  - X[m] max= T[m,l]\n";
  tf_diags *d = tf_diags_new();
  const tf_text t[] = {{"machine", machine, strlen(machine)}, {"rows", rows, strlen(rows)}};
  tf_spec *s = tf_spec_read_texts(t, 2, NULL, 0, d);
  tf_solve_opts o = {.budget = {.max_evals = 3, .threads = 1}};
  tf_solve_result *r = s ? tf_solve_closed(s->arch, s->workload, &o, d) : NULL;
  CHECK(r && r->tree && r->value > r->bound);
  tf_model *m = r && r->tree ? tf_model_new(r->tree, d) : NULL;
  tf_result all;
  CHECK(m != NULL);
  if (m) tf_model_all_points(m);
  if (m) CHECK(tf_model_eval(m, NULL, &all) && r->value <= all.cycles);
  tf_model_free(m);
  tf_solve_free(r);
  tf_spec_free(s);
  tf_diags_free(d);
}

int main(void) {
  test_long();
  test_searches();
  test_solvers();
  test_exhaustive();
  return check_report();
}
