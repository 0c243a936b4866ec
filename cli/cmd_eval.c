#include <stdlib.h>

#include "cli.h"

static bool write_results(const cli_session *s, const cli_options *o) {
  bool ok = true;
  if (o->json) {
    char *json = report_json(s);
    ok = json && cli_write(o->json, json);
    free(json);
  }
  if (o->csv) {
    cli_text t = {0};
    report_csv(s, &t);
    ok = t.text && cli_write(o->csv, t.text) && ok;
    free(t.text);
  }
  return ok;
}

/* Whether stdout already carries a machine-readable result. */
static bool taken(const cli_options *o) {
  return (o->json && o->json[0] == '-' && !o->json[1]) || (o->csv && o->csv[0] == '-' && !o->csv[1]);
}

int cmd_eval(const cli_options *o) {
  cli_session s;
  int status = cli_evaluate(&s, o);
  if (status == CLI_DONE) {
    cli_text t = {0};
    if (!write_results(&s, o))
      status = CLI_FAILED;
    if (!o->quiet && !taken(o)) {
      report_text(&s, &t);
      fputs(t.text ? t.text : "", stdout);
    }
    free(t.text);
    if (!s.result.feasible) {
      report_violations(&s, &s.result, stderr);
      status = status == CLI_DONE ? CLI_INFEASIBLE : status;
    }
  }
  cli_close(&s);
  return status;
}
