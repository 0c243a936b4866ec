/* A solver with a fault writes certificates that the checker refuses.  Here the bound of a box is
 * the solver's own with something wrong in it: this program's tf_single_bound stands in the place
 * of the library's. */
#define _XOPEN_SOURCE 700 /* popen */
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

/* The library's text under another name, so that a fault can be put around it. */
#define tf_single_bound sound_bound
#include "search/exact/single_bound.c"
#undef tf_single_bound
#include "tests/unit/case.h"
#include "tileflow/solve.h"

typedef enum { SOUND, HIGH, FULL, LATE, N_FAULTS } fault;
static fault planted;
static int64_t boxes;

tf_single_cost tf_single_bound(const tf_single_op *op, const tf_single_box *b) {
  tf_single_cost least = sound_bound(op, b);
  boxes++;
  if (planted == HIGH) least.cycles *= 1.01;
  if (planted == FULL && boxes % 50 == 49 && !least.empty)
    least = (tf_single_cost){.empty = true, .full = 1};
  if (planted == LATE && boxes % 50 == 49 && !least.empty) least = (tf_single_cost){.empty = true};
  return least;
}

static bool passes(const char *text) {
  FILE *f = popen(CERTIFY " -", "w");
  if (!f) exit(2);
  fputs(text, f);
  const int status = pclose(f);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static const char machine[] = "architecture:\n  overlap: double-buffer\n  memories:\n"
                              "  - {name: Far, bandwidth: 16}\n"
                              "  - {name: Near, mesh: [2, 1], capacity: 90, bandwidth: 16}\n"
                              "  - {name: Reg, mesh: [4, 4], capacity: 6, bandwidth: 4}\n"
                              "  compute:\n  - {name: u, ops: [mac], below: Reg}\n";
static const char product[] =
    "workload:\n  name: w\n  dims: {m: 13, n: 11, k: 17}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n";

int main(void) {
  static const char *const name[N_FAULTS] = {"none", "a bound 1 % too high",
                                             "a box that is said not to fit",
                                             "a box that is said to be empty"};
  const tf_solve_opts opts = {.objective = TF_LATENCY,
                              .budget = {.threads = 1, .max_evals = 60000}};
  const tf_certificate_opts few = {.objective = TF_LATENCY, .budget = {.max_evals = 300000}};
  test_case e = case_of(machine, product);
  signal(SIGPIPE, SIG_IGN);
  tf_solve_result *r = tf_solve_exact(e.spec->arch, e.spec->workload, &opts, e.d);
  CHECK(r && r->tree);
  for (planted = SOUND; r && r->tree && planted < N_FAULTS; planted++) {
    tf_certificate c;
    boxes = 0;
    CHECK(tf_certify(r->tree, &few, &c, e.d));
    printf("%s: %lld boxes\n", name[planted], (long long)c.boxes);
    fflush(stdout);
    CHECK(c.boxes > 100 && passes(c.text) == (planted == SOUND));
    tf_certificate_free(&c);
  }
  tf_solve_free(r);
  tf_spec_free(e.spec);
  tf_diags_free(e.d);
  return check_report();
}
