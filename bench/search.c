/* Evaluations per second, and per second of processor time, inside each strategy, with one thread
 * and with two: on one shape of the two-op chain, or over all shapes of the files given.
 *
 *     bench_search [SECONDS [FILE...]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/machine.h"
#include "tileflow/tileflow.h"

static const char chain_text[] = BENCH_CHAIN "mapping: |\n"
                                             "  DRAM for m=?\n"
                                             "    L1 for m=? l=?\n"
                                             "      Seq\n"
                                             "        L1 for m=? k=64 spatial m=?@x l=?@y\n"
                                             "          L0 for m=1\n"
                                             "            op C\n"
                                             "        L1 for m=? n=? l=? spatial m=?@x n=?@y\n"
                                             "          L0 for m=1\n"
                                             "            op E\n";

/* Processor time of all threads, in seconds: on a shared machine the clock says little. */
static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void row(const char *what, const tf_spec *s, const tf_tree *given, const char *strategy,
                int threads, double seconds, tf_diags *d) {
  tf_search_opts o = {.strategy = strategy,
                      .budget.seed = 1,
                      .budget.threads = threads,
                      .budget.time_limit = seconds};
  double before = cpu_seconds();
  tf_search_result *r = tf_search_run(s->arch, s->workload, given, &o, d);
  double cpu = cpu_seconds() - before;
  if (!r) return;
  printf("%s,%s,%d,%.0f,%.0f,%" PRId64 ",%.6g,%s\n", what, strategy, threads,
         (double)r->evals / r->seconds, (double)r->evals / cpu, r->shapes,
         r->n_best ? r->best[0].value : -1.0, tf_stop_key(r->stopped_by));
  fflush(stdout);
  tf_search_free(r);
}

static void rows(const char *what, const tf_spec *s, double seconds, tf_diags *d) {
  tf_tree *given = NULL;
  if (s->mapping_text)
    given = tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d);
  for (int k = 0; tf_search_strategy(k, NULL) && tf_diags_errors(d) == 0; k++)
    for (int threads = 1; threads <= 2; threads++)
      row(what, s, given, tf_search_strategy(k, NULL), threads, seconds, d);
  tf_tree_free(given);
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 2;
  tf_diags *d = tf_diags_new();
  if (!d) return 1;
  tf_text chain[] = {{"machine", bench_arch, strlen(bench_arch)},
                     {"chain", chain_text, strlen(chain_text)}};
  tf_spec *s = argc > 2 ? tf_spec_read((const char *const *)argv + 2, (size_t)argc - 2, NULL, 0, d)
                        : tf_spec_read_texts(chain, 2, NULL, 0, d);
  printf("case,strategy,threads,evaluations_per_s,evaluations_per_cpu_s,tasks,best,stopped_by\n");
  if (s) rows(argc > 2 ? argv[argc - 1] : "two-op chain", s, seconds, d);
  bool failed = tf_diags_errors(d) > 0;
  if (failed) {
    char *text = tf_diags_text(d);
    fputs(text ? text : "out of memory\n", stderr);
    free(text);
  }
  tf_spec_free(s);
  tf_diags_free(d);
  return failed;
}
