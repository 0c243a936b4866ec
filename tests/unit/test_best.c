/* tf_best_find against its parts: no worse than the solver with its share and than each start,
 * never proved without the bound, the same with any number of threads, within its evaluations, and
 * with a mapping where a search of half of them has one. */
#include <math.h>

#include "search/common/objective.h"
#include "tests/unit/case.h"
#include "tileflow/best.h"
#include "tileflow/search.h"

static const char machine[] =
    "architecture:\n"
    "  name: m\n"
    "  clock: 1 GHz\n"
    "  word-bits: 16\n"
    "  memories:\n"
    "  - {name: DRAM, bandwidth: 4}\n"
    "  - {name: SRAM, capacity: 1 KiB, bandwidth: 16}\n"
    "  - {name: RF, mesh: [4, 2], capacity: 16 B, bandwidth: 4}\n"
    "  compute:\n"
    "  - {name: mac, ops: [mac, max, sub, exp, add, div, mul, select], below: RF}\n";

/* One op, whose space is soon exhausted; two; a chain whose middle may stay on chip; a mask. */
static const char *const works[] = {
    "workload:\n  name: w\n  dims: {m: 12, n: 10, k: 9}\n  ops: [\"C[m,n] += A[m,k] * B[k,n]\"]\n",
    "workload:\n  name: w\n  dims: {m: 16, n: 12, k: 8, l: 16}\n"
    "  ops: [\"C[m,l] += A[m,k] * B[k,l]\", \"E[m,n] += C[m,l] * D[l,n]\"]\n",
    "workload:\n  name: w\n  dims: {m: 6, l: 14, k: 4, n: 6}\n"
    "  ops: [\"S[m,l] += A[m,k] * B[k,l]\", \"R[m,l] = exp(S[m,l])\", \"E[m,n] += R[m,l] * "
    "D[l,n]\"]\n",
    "workload:\n  name: w\n  dims: {m: 16, l: 16, k: 4}\n"
    "  ops: [\"S[m,l] += A[m,k] * B[k,l]\", \"T[m,l] = select(l <= m, S[m,l], -inf)\", \"X[m] max= "
    "T[m,l]\"]\n",
};
enum { N_WORKS = sizeof works / sizeof *works, MASKED = N_WORKS - 1 };

static tf_best_opts opts_of(tf_objective o, int64_t evals) {
  return (tf_best_opts){
      .objective = o, .budget.max_evals = evals, .budget.threads = 1, .budget.seed = 1};
}

/* What must hold of any result. */
static void check_sound(const test_case *e, const tf_best_result *r, tf_objective o,
                        int64_t evals) {
  tf_figures f;
  tf_bounds b;
  CHECK(tf_bounds_find(e->spec->arch, e->spec->workload, &b, e->d));
  CHECK(r->bound >= tf_bounds_value(o, &b, e->spec->arch) * (1 - 1e-12));
  CHECK(r->evals > 0 && r->evals <= evals + evals / 10 + 64 && r->solver_evals <= r->evals);
  if (!r->tree) return;
  CHECK(r->value >= r->bound * (1 - 1e-9));
  CHECK(r->proved == (r->value <= r->bound * (1 + 1e-12)));
  CHECK(!r->proved || (r->space_proved && r->stopped_by == TF_STOP_PROVED));
  CHECK(!r->space_proved || r->proved || fabs(r->value - r->space_bound) <= 1e-9 * r->value);
  CHECK(r->trips_bound >= r->bound * (1 - 1e-12));
  if (CHECK(tf_figures_of_tree(r->tree, TF_COUNT_LONG, &f)))
    CHECK(fabs(tf_objective_value(o, &f) - r->value) <= 1e-9 * r->value);
}

/* The solver alone with as many evaluations as it has there. */
static void check_solver(const test_case *e, const tf_best_result *r, tf_objective o,
                         int64_t evals) {
  const tf_solve_opts so = {
      .objective = o, .budget.max_evals = (evals + 1) / 2, .budget.threads = 1};
  tf_solve_result *s = tf_solve_exact(e->spec->arch, e->spec->workload, &so, e->d);
  if (!CHECK(s != NULL)) return;
  CHECK(r->value <= s->value * (1 + 1e-12) && r->bound >= s->bound);
  CHECK(!s->proved || r->proved);
  CHECK(r->proved || (r->space_bound == s->space_bound && r->all_trips == s->all_trips));
  CHECK(r->proved || !r->space_proved || s->space_proved);
  tf_solve_free(s);
}

/* Begun with what it found, it finds nothing worse, and says so where it finds nothing better. */
static void check_again(const test_case *e, const tf_best_result *r, tf_objective o) {
  const tf_tree *start[] = {r->tree};
  tf_best_opts bo = opts_of(o, 40);
  bo.starts = start;
  bo.n_starts = 1;
  tf_best_result *again = tf_best_find(e->spec->arch, e->spec->workload, &bo, e->d);
  if (!CHECK(again != NULL)) return;
  CHECK(again->tree && again->value <= r->value * (1 + 1e-9));
  if (again->start == 0)
    CHECK(!strcmp(again->method, "given") && case_same_tree(again->tree, r->tree));
  if (again->start < 0) CHECK(again->value < r->value || again->space_proved);
  tf_best_free(again);
}

static void check_threads(const test_case *e, const tf_best_result *r, tf_objective o,
                          int64_t evals) {
  tf_best_opts bo = opts_of(o, evals);
  bo.budget.threads = 3;
  tf_best_result *t = tf_best_find(e->spec->arch, e->spec->workload, &bo, e->d);
  if (!CHECK(t != NULL)) return;
  CHECK(t->value == r->value && t->evals == r->evals && t->space_bound == r->space_bound);
  CHECK(t->method && r->method && !strcmp(t->method, r->method));
  CHECK(t->tree && r->tree && case_same_tree(t->tree, r->tree));
  tf_best_free(t);
}

static int proofs, by_search;

static void check_one(const char *work, tf_objective o, int64_t evals) {
  test_case e = case_of(machine, work);
  const tf_best_opts bo = opts_of(o, evals);
  tf_best_result *r = tf_best_find(e.spec->arch, e.spec->workload, &bo, e.d);
  if (CHECK(r != NULL) && CHECK(r->tree != NULL)) {
    check_sound(&e, r, o, evals);
    check_solver(&e, r, o, evals);
    check_again(&e, r, o);
    check_threads(&e, r, o, evals);
    proofs += r->proved;
    by_search += !!strcmp(r->method, "exact");
  }
  tf_best_free(r);
  case_drop(&e);
}

/* Past the extents of a search the formulas alone find mappings; what fits nowhere is said by no
 * tree, without an error. */
static void check_long(bool fits) {
  static const char tiny[] =
      "architecture:\n  name: m\n  memories:\n  - {name: DRAM}\n  - {name: SRAM, capacity: 2 B}\n"
      "  compute:\n  - {name: mac, ops: [mac], below: SRAM}\n",
                    work[] = "workload:\n  name: w\n  dims: {m: 3000000000, n: 10, k: 9}\n"
                             "  ops: [\"C[m,n] += A[m,k] * B[k,n]\"]\n";
  test_case e = case_of(fits ? machine : tiny, work);
  const tf_best_opts bo = opts_of(TF_LATENCY, 200);
  tf_best_result *r = tf_best_find(e.spec->arch, e.spec->workload, &bo, e.d);
  if (CHECK(r != NULL) && fits)
    CHECK(r->tree && r->value < INFINITY && r->start == -1 && !strcmp(r->method, "closed"));
  if (r && !fits)
    CHECK(!r->tree && r->value == INFINITY && !r->proved && !r->method && r->start == -1);
  tf_best_free(r);
  case_drop(&e);
}

/* By the clock alone: it ends, and what it says holds. */
static void check_clock(void) {
  test_case e = case_of(machine, works[1]);
  tf_best_opts bo = opts_of(TF_LATENCY, 0);
  bo.budget.time_limit = 0.05;
  tf_best_result *r = tf_best_find(e.spec->arch, e.spec->workload, &bo, e.d);
  if (CHECK(r != NULL))
    CHECK(r->stopped_by != TF_STOP_BUDGET && r->stopped_by != TF_STOP_INTERRUPT);
  if (r && r->tree) CHECK(r->value >= r->bound * (1 - 1e-9));
  tf_best_free(r);
  case_drop(&e);
}

/* Little room, and links that make evaluations long: solver and formulas find nothing, nor does a
 * search that ends by effort.  Half of the evaluations are enough for a search by itself. */
static void check_little(int64_t evals) {
  static const char
      narrow[] =
          "architecture:\n  overlap: double-buffer\n  memories:\n"
          "  - {name: M0, bandwidth: {read: 7, write: 64}}\n"
          "  - {name: M1, mesh: [4, 3], capacity: 276, bandwidth: 64}\n"
          "  - {name: M2, bandwidth: 0.5, network: {reduce: false, topology: mesh}}\n"
          "  - {name: M3, mesh: [1, 2], bandwidth: 64, network: {topology: mesh, width: 2}}\n"
          "  compute:\n  - {name: U0, ops: [add], mesh: [1, 3]}\n",
      work[] = "workload:\n  name: w\n  dims: {a: 1, b: 5, c: 3, d: 8}\n  ops: [\"T0[b,d,c] += "
               "I0[d,a,c + b + 1] + I0[c,3*c + a + 1,3*c + d] + I1[-d + 7,b + 3]\"]\n";
  test_case e = case_of(narrow, work);
  const tf_best_opts bo = opts_of(TF_LATENCY, evals);
  const tf_search_opts so = {.objective = TF_LATENCY,
                             .budget.max_evals = evals / 2,
                             .budget.threads = 1,
                             .budget.seed = 1,
                             .keep = 1};
  tf_best_result *r = tf_best_find(e.spec->arch, e.spec->workload, &bo, e.d);
  tf_search_result *g = tf_search_run(e.spec->arch, e.spec->workload, NULL, &so, e.d);
  if (CHECK(r && g)) {
    CHECK(g->n_best && r->tree);
    if (g->n_best) CHECK(r->value <= g->best[0].value * (1 + 1e-12));
    check_sound(&e, r, TF_LATENCY, evals);
    if (r->tree) check_threads(&e, r, TF_LATENCY, evals);
  }
  tf_best_free(r);
  tf_search_free(g);
  case_drop(&e);
}

static bool at_once(void *ctx) {
  (void)ctx;
  return true;
}

static void check_stopped(void) {
  test_case e = case_of(machine, works[1]);
  tf_best_opts bo = opts_of(TF_LATENCY, 100000);
  bo.budget.stop = at_once;
  tf_best_result *r = tf_best_find(e.spec->arch, e.spec->workload, &bo, e.d);
  if (CHECK(r != NULL)) CHECK(r->stopped_by == TF_STOP_INTERRUPT && r->evals < 20000 && !r->proved);
  tf_best_free(r);
  case_drop(&e);
}

/* A chain of padded convolutions, of which single evaluations take the effort of many: a solver
 * that stops for its budget has used it up, so that what comes after does not begin with it anew.
 */
static void check_charged(void) {
  enum { EVALS = 3000 };
  static const char *const paths[] = {"arch-specs/cloud.yaml", "workloads/conv-chain/c6.yaml"};
  test_case e = {.d = tf_diags_new()};
  e.spec = tf_spec_read(paths, 2, NULL, 0, e.d);
  const tf_solve_opts so = {
      .objective = TF_LATENCY, .budget.max_evals = EVALS, .budget.threads = 1};
  tf_solve_result *s = e.spec ? tf_solve_exact(e.spec->arch, e.spec->workload, &so, e.d) : NULL;
  if (CHECK(s && s->tree && !s->proved && s->stopped_by == TF_STOP_BUDGET)) {
    printf("padded convolutions: %lld of %d evaluations\n", (long long)s->evals, EVALS);
    CHECK(s->evals >= EVALS - EVALS / 10 && s->evals <= EVALS + EVALS / 10);
  }
  tf_solve_free(s);
  case_drop(&e);
}

/* Extents near 2^63, which double has no numbers for: an error, or a mapping that stands. */
static void check_limit(void) {
  static const char *const dims[] = {"9223372036854775807", "9223372036854775296",
                                     "4611686018427387904"};
  static const char *const ops[] = {"C[] += m", "C[m] += A[m] * B[m]", "C[] max= A[0] + m"};
  for (size_t i = 0; i < 9; i++) {
    char text[200];
    snprintf(text, sizeof text, "workload:\n  dims: {m: %s}\n  ops: [\"%s\"]\n", dims[i / 3],
             ops[i % 3]);
    test_case e = case_of(machine, text);
    const tf_solve_opts o = {.budget.threads = 1};
    tf_solve_result *r = tf_solve_closed(e.spec->arch, e.spec->workload, &o, e.d);
    CHECK(r ? !r->tree || r->bound <= r->value * (1 + 1e-12) : tf_diags_count(e.d) > 0);
    tf_solve_free(r);
    case_drop(&e);
  }
}

int main(void) {
  check_limit();
  for (int w = 0; w < N_WORKS; w++)
    for (int o = 0; o < (w == MASKED ? 1 : TF_N_OBJECTIVES); o++) /* masks take long to count */
      check_one(works[w], (tf_objective)o, w == MASKED ? 200 : w == 2 ? 1200 : 800);
  CHECK(proofs > 0 && by_search > 0); /* else one side was not looked at */
  check_long(true);
  check_long(false);
  check_little(300);
  check_stopped();
  check_charged();
  check_clock();
  return check_report();
}
