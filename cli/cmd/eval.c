/* tileflow eval: the report, and the same figures as JSON and CSV. */
#include <stdio.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/session.h"

static bool print(const cli_session *s) {
  cli_text t = {0};
  cli_report_text(s, &t);
  bool ok = cli_safe_write("-", &t);
  cli_text_free(&t);
  fflush(stdout); /* before what goes to stderr */
  return ok;
}

cli_status cmd_eval(const cli_options *o) {
  cli_session s;
  cli_status status = cli_evaluate(&s, o);
  if (status == CLI_DONE) {
    bool ok = cli_write_figures(&s, o, false);
    if (!o->quiet && !cli_stdout_taken(o)) ok = print(&s) && ok;
    status = cli_report_violations(&s, ok ? CLI_DONE : CLI_FAILED);
  }
  cli_close(&s);
  return status;
}
