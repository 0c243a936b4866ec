/* Moves from a mapping (search/run/tree_local_search.h): of drawn machines and workloads, what they
 * end with is never worse, is a mapping that the rules allow and `eval` counts as they say, no
 * better than the bound, and within the evaluations. test_polish [CASES [SEED]] */
#include "search/run/tree_local_search.h"

#include <math.h>

#include "base/rng.h"
#include "search/common/objective.h"
#include "tests/unit/case.h"
#include "tests/unit/page.h"
#include "tileflow/tileflow.h"

static int pick(tf_rng *g, int lo, int hi) {
  return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1));
}

static const char *const works[] = {
    "ops: ['C[n,m,l] += A[n,m,k] * B[n,k,l]']",
    "ops: ['S[m,l] += A[m,k] * B[k,l]', 'C[m,n] += S[m,l] * D[l,n]']",
    ("ops: ['S[m,l] += A[m,k] * B[k,l]', 'X[m] max= S[m,l]', 'E[m,l] = exp(S[m,l] - X[m])', 'Z[m] "
     "+= E[m,l]', 'P[m,l] = E[m,l] / Z[m]', 'O[m,n] += P[m,l] * V[l,n]']"),
    "tensors: {I: {pad: [0, 1]}}\n"
    "  ops: ['Y[l,m] += I[k, m + n - 1] * W[l,k,n]', 'O[k,m] += Y[l,m] * V[k,l]']",
};

static tf_spec *draw(tf_rng *g, tf_diags *d) {
  static const char *const overlaps[] = {"perfect", "double-buffer", "none"};
  page p = {0};
  say(&p, "architecture:\n  name: a\n  overlap: %s\n  memories:\n  - {name: D, bandwidth: %d}\n",
      overlaps[pick(g, 0, 2)], pick(g, 1, 8));
  say(&p, "  - {name: B, capacity: %d, bandwidth: %d, mesh: [%d, %d]}\n", pick(g, 60, 600),
      pick(g, 4, 32), pick(g, 1, 2), pick(g, 1, 2));
  if (pick(g, 0, 1))
    say(&p, "  - {name: R, capacity: %d, mesh: [%d, 2]}\n", pick(g, 3, 9), pick(g, 1, 4));
  say(&p, "  compute:\n  - {name: u, ops: [mac], below: %s}\n",
      strstr(p.text, "name: R") ? "R" : "B");
  say(&p, "  - {name: v, ops: [max, exp, sub, add, div, mul], below: B, mesh: [%d, 1]}\n",
      pick(g, 1, 4));
  say(&p, "workload:\n  name: w\n  dims: {m: %d, l: %d, k: %d, n: %d}\n  %s\n", pick(g, 3, 24),
      pick(g, 1, 24), pick(g, 1, 12), pick(g, 1, 4),
      works[pick(g, 0, (int)(sizeof works / sizeof *works) - 1)]);
  return case_spec(p.text, d);
}

/* Whether the mapping's text, read again, costs that. */
static bool counts(const tf_spec *s, const tf_found *f, tf_objective by, tf_diags *d) {
  char *text = tf_tree_text(f->tree);
  tf_tree *t = text ? tf_tree_parse(text, (tf_loc){0}, s->arch, s->workload, d) : NULL;
  tf_figures now;
  const bool ok =
      t && tf_figures_of_tree(t, TF_COUNT_LONG, &now) && tf_objective_value(by, &now) == f->value;
  if (!ok) printf("%s: not %.17g\n", text ? text : "no text", f->value);
  tf_tree_free(t);
  free(text);
  return ok;
}

/* From a mapping of few evaluations. 1: better; 0: none is; -1: nothing fits. */
static int check_one(const tf_spec *s, tf_objective by, int most, tf_diags *d) {
  const tf_search_opts o = {.objective = by, .budget = {.threads = 1, .max_evals = 40}, .keep = 1};
  tf_search_result *r = tf_search_run(s->arch, s->workload, NULL, &o, d);
  tf_bounds b;
  int better = -1;
  if (r && r->n_best && CHECK(tf_bounds_of(s->arch, s->workload, &b))) {
    const double from = r->best[0].value;
    const tf_local_search_opts how = {.evals = most};
    tf_evaluator q = {.objective = by}, again = {.objective = by};
    tf_found f, twice;
    better = tf_tree_local_search(r->best[0].tree, from, &how, NULL, &q, &f);
    CHECK(tf_tree_local_search(r->best[0].tree, from, &how, NULL, &again, &twice) == better);
    CHECK(q.evals == again.evals && q.evals <= most && !q.failed && twice.value == f.value);
    CHECK(better ? f.value < from && counts(s, &f, by, d) : f.value == from && !f.tree);
    CHECK(f.value >= tf_bounds_value(by, &b, s->arch) * (1 - 1e-12));
    /* Where the goal is met, one descent shows that no move makes it better. */
    const tf_local_search_opts on = {.goal = f.value, .evals = most};
    tf_evaluator met = {.objective = by};
    tf_found none;
    if (better && q.evals < most && q.effort < most)
      CHECK(!tf_tree_local_search(f.tree, f.value, &on, NULL, &met, &none));
    tf_tree_free(f.tree);
    tf_tree_free(twice.tree);
  }
  tf_search_free(r);
  return better;
}

/* A product whose mapping has all loops in one place: moves alone meet the bound. */
static void check_met(void) {
  test_case e = case_of(
      "architecture: {name: a, memories: [{name: D, bandwidth: 4}, {name: B, capacity: 200, mesh: "
      "[2, 2]}], compute: [{name: u, ops: [mac], below: B, mesh: [4, 1]}]}",
      "workload: {name: w, dims: {m: 16, l: 16, k: 16}, ops: ['C[m,l] += A[m,k] * B[k,l]']}");
  e.tree = tf_tree_parse("D for m=16 l=16 k=16\n  B\n    op C\n", (tf_loc){0}, e.spec->arch,
                         e.spec->workload, e.d);
  tf_figures f;
  if (!CHECK(e.tree && tf_figures_of_tree(e.tree, TF_COUNT_LONG, &f))) return;
  tf_evaluator q = {.objective = TF_TRAFFIC};
  tf_found out;
  CHECK(tf_tree_local_search(e.tree, tf_objective_value(TF_TRAFFIC, &f),
                             &(tf_local_search_opts){.evals = 3000}, NULL, &q, &out));
  CHECK(out.value < tf_objective_value(TF_TRAFFIC, &f) / 4 &&
        counts(e.spec, &out, TF_TRAFFIC, e.d));
  tf_tree_free(out.tree);
  q = (tf_evaluator){.objective = TF_TRAFFIC, .exportable = "timeloop"};
  CHECK(tf_tree_local_search(e.tree, tf_objective_value(TF_TRAFFIC, &f),
                             &(tf_local_search_opts){.evals = 300}, NULL, &q, &out) &&
        q.evals <= 300);
  tf_tree_free(out.tree);
  tf_tree_free(e.tree);
  tf_spec_free(e.spec);
  tf_diags_free(e.d);
}

/* A chain in two branches alike: what the first one makes stays in the registers, which have room
 * for it, while Buf has none. */
static void check_kept(void) {
  test_case e = case_of(
      "architecture: {name: a, memories: [{name: D, bandwidth: 4}, {name: B, capacity: 20}, {name: "
      "R, capacity: 5, mesh: [4, 4]}], compute: [{name: u, ops: [mac], below: R}]}",
      "workload: {name: w, dims: {m: 8, l: 8, k: 3, n: 3}, ops: ['C[m,l] += A[m,k] * B[k,l]', "
      "'E[m,n] += C[m,l] * D[l,n]']}");
  e.tree = tf_tree_parse("D\n  Seq\n"
                         "    D for k=3\n      B spatial m=4@x l=4@y bypass C\n"
                         "        R for m=2 l=2 bypass A B\n          op C\n"
                         "    D for n=3\n      B spatial m=4@x l=4@y bypass C\n"
                         "        R for m=2 l=2 bypass D E\n          op E\n",
                         (tf_loc){0}, e.spec->arch, e.spec->workload, e.d);
  tf_figures f;
  if (!CHECK(e.tree && tf_figures_of_tree(e.tree, TF_COUNT_LONG, &f))) return;
  CHECK(f.traffic_words == 24 + 24 + 24 + 24 + 64); /* C is written */
  tf_evaluator q = {.objective = TF_TRAFFIC};
  tf_found out;
  CHECK(tf_tree_local_search(e.tree, f.traffic_words,
                             &(tf_local_search_opts){.goal = 96, .evals = 300}, NULL, &q, &out));
  CHECK(out.value == 96 && counts(e.spec, &out, TF_TRAFFIC, e.d));
  CHECK(out.tree && tf_tree_home(out.tree, e.spec->workload->ops[0].out) == 2);
  tf_tree_free(out.tree);
  tf_tree_free(e.tree);
  tf_spec_free(e.spec);
  tf_diags_free(e.d);
}

int main(int argc, char **argv) {
  const int cases = argc > 1 ? atoi(argv[1]) : 40;
  tf_rng g = tf_rng_new(argc > 2 ? (uint64_t)atoi(argv[2]) : 37, 0);
  int better = 0, fit = 0;
  for (int i = 0; i < cases; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *s = draw(&g, d);
    const int got = CHECK(s != NULL) ? check_one(s, (tf_objective)pick(&g, 0, TF_N_OBJECTIVES - 1),
                                                 pick(&g, 1, 500), d)
                                     : -1;
    better += got > 0;
    fit += got >= 0;
    tf_spec_free(s);
    tf_diags_free(d);
  }
  printf("%d of %d mappings made better\n", better, fit);
  CHECK(better > fit / 2 && fit > cases / 2);
  check_met();
  check_kept();
  return check_report();
}
