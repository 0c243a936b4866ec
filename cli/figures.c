/* Sums over a result that several reports show, and the files they go to. */
#include <string.h>

#include "cli/report.h"
#include "cli/safe_write.h"

static bool add(int64_t *sum, int64_t n) { return !__builtin_add_overflow(*sum, n, sum); }

bool cli_sum_counts(const cli_session *s, int level, tf_counts *sum) {
  int n = s->spec->workload->n_tensors;
  bool fits = true;
  *sum = (tf_counts){0};
  for (int z = 0; z < n; z++) {
    const tf_counts *c = &s->result.counts[level * n + z];
    fits = add(&sum->fill, c->fill) && add(&sum->read, c->read) &&
           add(&sum->update, c->update) && add(&sum->drain, c->drain) && fits;
  }
  return fits;
}

tf_counts cli_level_counts(const cli_session *s, int level) {
  tf_counts sum;
  cli_sum_counts(s, level, &sum);
  return sum;
}

double cli_outer_traffic(const cli_session *s) {
  const tf_counts sum = cli_level_counts(s, 0);
  return (double)sum.read + (double)sum.update;
}

double cli_all_units(const tf_arch *a) {
  double n = 0;
  for (int u = 0; u < a->n_units; u++)
    n += tf_bounds_units(a, u);
  return n;
}

static bool is_stdout(const char *path) { return path && !strcmp(path, "-"); }

bool cli_stdout_taken(const cli_options *o) {
  return is_stdout(o->json) || is_stdout(o->csv) || is_stdout(o->svg) || is_stdout(o->dot) ||
         is_stdout(o->mapping) || is_stdout(o->pareto);
}

bool cli_write_figures(const cli_session *s, const cli_options *o, bool nodes) {
  bool ok = true;
  if (o->json) {
    cli_text t = {0};
    cli_report_json(s, nodes, &t);
    ok = cli_safe_write(o->json, &t);
    cli_text_free(&t);
  }
  if (o->csv) {
    cli_text t = {0};
    cli_report_csv(s, &t);
    ok = cli_safe_write(o->csv, &t) && ok;
    cli_text_free(&t);
  }
  return ok;
}
