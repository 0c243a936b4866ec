/* Reports, and the files that they are written to. */
#include <stdio.h>

#include "cli/os/safe_write.h"
#include "cli/report/report.h"

bool cli_write_figures(const cli_session *s, const cli_figures *f, bool nodes) {
  bool ok = true;
  if (f->json) {
    cli_text t = {0};
    cli_report_json(s, nodes, &t);
    ok = cli_put_text(f->json, &t);
  }
  if (f->csv) {
    cli_text t = {0};
    cli_report_csv(s, &t);
    ok = cli_put_text(f->csv, &t) && ok;
  }
  return ok;
}

bool cli_print_report(const cli_session *s) {
  cli_text t = {0};
  cli_report_text(s, &t);
  bool ok = cli_put_text("-", &t);
  fflush(stdout); /* before anything goes to stderr */
  return ok;
}

bool cli_write_found(const cli_session *s, const cli_input *in, const cli_figures *f, const char *mapping) {
  bool ok = cli_write_figures(s, f, false);
  if (mapping) {
    cli_text t = {0};
    cli_mapping_yaml(s, &t);
    ok = cli_put_text(mapping, &t) && ok;
  }
  if (!in->quiet && !in->stdout_taken) ok = cli_print_report(s) && ok;
  return ok;
}
