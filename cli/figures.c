/* Sums over a result that several reports show, and the files they go to. */
#include <string.h>

#include "cli/report.h"
#include "cli/safe_write.h"

tf_counts cli_level_counts(const cli_session *s, int level) {
  int n = s->spec->workload->n_tensors;
  tf_counts sum = {0};
  for (int z = 0; z < n; z++) {
    const tf_counts *c = &s->result.counts[level * n + z];
    sum.fill += c->fill;
    sum.read += c->read;
    sum.update += c->update;
    sum.drain += c->drain;
  }
  return sum;
}

int64_t cli_outer_traffic(const cli_session *s) {
  const tf_counts sum = cli_level_counts(s, 0);
  return sum.read + sum.update;
}

double cli_units_there(const tf_arch *a, int unit) {
  const tf_unit *u = &a->units[unit];
  double n = (double)u->mesh[0] * (double)u->mesh[1];
  for (int l = 1; l <= u->below; l++)
    n *= (double)a->memories[l].mesh[0] * (double)a->memories[l].mesh[1];
  return n;
}

static bool is_stdout(const char *path) { return path && !strcmp(path, "-"); }

bool cli_stdout_taken(const cli_options *o) {
  return is_stdout(o->json) || is_stdout(o->csv) || is_stdout(o->svg) || is_stdout(o->dot);
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
