/* Searches and solvers that are asked for exportable mappings: export takes every one of them, no
 * better one is lost where the best of all can be exported, and without being asked they find some
 * that it refuses. */
#include "base/rng.h"
#include "tests/unit/case.h"
#include "tileflow/export.h"
#include "tileflow/solve.h"

typedef struct {
  tf_rng rng;
  int refused,
      lossless; /* optima of all that export refuses; that it takes, and that were found again */
} draw;

static int one_of(draw *d, const int *from, int n) {
  return from[tf_rng_below(&d->rng, (uint32_t)n)];
}

/* One product on a machine with a mesh of memories, of units, or of both. */
static char *draw_case(draw *d) {
  static const char *const ops[] = {"Z[m,n] += A[m,k] * B[k,n]", "Z[m,n] += A[m+k] * B[n,k]",
                                    "Z[m] += A[m,n] * B[m,k] * C[n,k]",
                                    "Z[m,n] += A[m,n,k] * B[k]"};
  static const int extents[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16}, sides[] = {1, 2, 3, 4, 8};
  char *text = NULL;
  FILE *f = case_text(&text);
  fprintf(f, "architecture:\n  overlap: perfect\n  memories:\n  - {name: D, bandwidth: %d}\n",
          1 + one_of(d, sides, 5));
  fprintf(f, "  - {name: S, mesh: [%d, %d], capacity: %d, bandwidth: 16}\n", one_of(d, sides, 5),
          one_of(d, sides, 5), 16 << tf_rng_below(&d->rng, 5));
  fprintf(f, "  compute:\n  - {name: u, ops: [mac, mul, add], below: S, mesh: [%d, %d]}\n",
          one_of(d, sides, 3), one_of(d, sides, 5));
  fprintf(f, "workload:\n  dims: {m: %d, n: %d, k: %d}\n  ops:\n  - \"%s\"\n",
          one_of(d, extents, 10), one_of(d, extents, 10), one_of(d, extents, 10),
          ops[tf_rng_below(&d->rng, 4)]);
  fclose(f);
  return text;
}

static bool exports(const tf_tree *t) {
  tf_diags *d = tf_diags_new();
  tf_export *e = t ? tf_export_write("timeloop", t->arch, t->workload, t, d) : NULL;
  const bool ok = e != NULL;
  tf_export_free(e);
  tf_diags_free(d);
  return ok;
}

static void check_search(const test_case *c, const char *strategy, uint64_t seed) {
  const tf_search_opts o = {.strategy = strategy,
                            .exportable = "timeloop",
                            .variants = 4,
                            .budget = {.seed = seed, .threads = 1, .max_evals = 300}};
  tf_search_result *r = tf_search_run(c->spec->arch, c->spec->workload, NULL, &o, c->d);
  for (int i = 0; r && i < r->n_best; i++)
    CHECK(exports(r->best[i].tree));
  for (int i = 0; r && i < r->n_variants; i++)
    CHECK(exports(r->variants[i].tree));
  CHECK(r != NULL);
  tf_search_free(r);
}

static bool best_of_space(const tf_solve_result *r) { return r->proved || r->space_proved; }

/* The optimum of the solver's space, and of its exportable part. */
static void check_solve(draw *d, const test_case *c) {
  tf_solve_opts o = {.alone = true, .budget = {.threads = 1, .max_evals = 200000}};
  tf_solve_result *all = tf_solve_exact(c->spec->arch, c->spec->workload, &o, c->d);
  o.exportable = "timeloop";
  tf_solve_result *some = tf_solve_exact(c->spec->arch, c->spec->workload, &o, c->d);
  tf_solve_result *closed = tf_solve_closed(c->spec->arch, c->spec->workload, &o, c->d);
  if (CHECK(all && some && closed) && best_of_space(all) && best_of_space(some)) {
    CHECK(!some->tree || exports(some->tree));
    CHECK(!closed->tree || exports(closed->tree));
    CHECK(!some->tree || (all->tree && some->value >= all->value * (1 - 1e-12)));
    if (all->tree && exports(all->tree)) {
      CHECK(some->tree && some->value <= all->value * (1 + 1e-12));
      d->lossless++;
    } else {
      d->refused += all->tree != NULL;
    }
  }
  tf_solve_free(all);
  tf_solve_free(some);
  tf_solve_free(closed);
}

/* A choice along one side may have to be made on Y although X has room for a part of it: n on X, m
 * on Y. */
static void check_layout(void) {
  test_case c =
      case_of("architecture:\n  memories:\n  - {name: D}\n  - {name: S, mesh: [8, 4]}\n  compute:\n"
              "  - {name: u, ops: [mac], below: S}\n",
              "workload:\n  dims: {m: 4, n: 4}\n  ops:\n  - \"Z[m] += A[m,n] * B[n]\"\n");
  const tf_solve_opts o = {.alone = true, .exportable = "timeloop", .budget = {.threads = 1}};
  tf_solve_result *r = tf_solve_exact(c.spec->arch, c.spec->workload, &o, c.d);
  CHECK(r && best_of_space(r) && r->tree && r->figures.cycles <= 1.5);
  tf_solve_free(r);
  case_drop(&c);
}

/* What Timeloop has no mapping of is an error at its place, not a search without a result. */
static void check_refused(void) {
  test_case c =
      case_of("architecture:\n  memories:\n  - {name: D}\n  compute:\n  - {name: u, ops: [mac]}\n",
              "workload:\n  dims: {m: 4, n: 8}\n  ops:\n  - \"Z[m] += A[m,n] * B[n]\"\n"
              "  - \"Y[m] += Z[m] * A[m,n]\"\n");
  const tf_search_opts o = {.exportable = "timeloop", .budget = {.max_evals = 10}};
  tf_search_result *r = tf_search_run(c.spec->arch, c.spec->workload, NULL, &o, c.d);
  CHECK(!r && tf_diags_errors(c.d) > 0 && tf_diags_at(c.d, 0)->code == TF_E_SHAPE);
  case_drop(&c);
}

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
enum { CASES = 120 };
#else
enum { CASES = 30 };
#endif

int main(void) {
  draw d = {.rng = tf_rng_new(34, 1)};
  for (int i = 0; i < CASES; i++) {
    char *text = draw_case(&d);
    test_case c = {.d = tf_diags_new()};
    c.spec = case_spec(text, c.d);
    if (CHECK(c.spec != NULL)) {
      check_solve(&d, &c);
      check_search(&c, i % 4 ? NULL : "random", (uint64_t)i);
    }
    case_drop(&c);
    free(text);
  }
  check_layout();
  check_refused();
  CHECK(d.refused >= 5 && d.lossless >= 20);
  return check_report();
}
