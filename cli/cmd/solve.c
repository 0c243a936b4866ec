/* tileflow solve: the best mapping of a stated space, with a proof of it or of how far it may be. */
#include <stdio.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/session.h"

static bool put(const char *path, cli_text *t) {
  bool ok = cli_safe_write(path, t);
  cli_text_free(t);
  return ok;
}

static bool print_all(const cli_session *s, const cli_options *o) {
  bool ok = cli_write_figures(s, o, false);
  cli_text t = {0};
  if (o->mapping) {
    cli_mapping_yaml(s, &t);
    ok = put(o->mapping, &t) && ok;
    t = (cli_text){0};
  }
  if (o->quiet || cli_stdout_taken(o)) return ok;
  cli_report_text(s, &t);
  ok = put("-", &t) && ok;
  fflush(stdout);
  return ok;
}

static cli_status solve(cli_session *s, const cli_options *o) {
  tf_solve_result *r = NULL;
  cli_status status = cli_solve(s, o, &r);
  if (status == CLI_DONE) status = cli_count_words(s);
  if (status == CLI_DONE && !print_all(s, o)) status = CLI_FAILED;
  if (status == CLI_DONE && !r->proved && !o->quiet) cli_say_left_out(s, r, stderr);
  tf_solve_free(r);
  return status;
}

cli_status cmd_solve(const cli_options *o) {
  cli_session s;
  cli_status status = cli_open(&s, o);
  if (status == CLI_DONE) status = cli_check_sections(&s);
  if (status == CLI_DONE && s.tree) {
    fputs("tileflow: the files hold a mapping, which solve does not complete: leave it out, or use search\n", stderr);
    status = CLI_BAD_INPUT;
  }
  if (status == CLI_DONE) status = solve(&s, o);
  cli_close(&s);
  return status;
}
