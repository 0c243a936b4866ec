/* tileflow tree: the tree as text, SVG or Graphviz. */
#include <stdio.h>

#include "cli/cmd/commands.h"
#include "cli/draw/draw.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/session.h"

static bool draw(const cli_session *s, const char *path, void (*how)(const cli_session *, cli_text *)) {
  cli_text t = {0};
  how(s, &t);
  bool ok = cli_safe_write(path, &t);
  cli_text_free(&t);
  return ok;
}

static bool draw_all(const cli_session *s, const cli_options *o) {
  bool ok = cli_write_figures(s, o, true);
  if (o->svg) ok = draw(s, o->svg, cli_draw_svg) && ok;
  if (o->dot) ok = draw(s, o->dot, cli_draw_dot) && ok;
  bool text = !o->svg && !o->dot && !o->quiet && !cli_stdout_taken(o);
  if (text) ok = draw(s, "-", cli_draw_text) && ok;
  fflush(stdout); /* before what goes to stderr */
  return ok;
}

cli_status cmd_tree(const cli_options *o) {
  cli_session s;
  cli_status status = cli_evaluate(&s, o);
  if (status == CLI_DONE) status = cli_report_violations(&s, draw_all(&s, o) ? CLI_DONE : CLI_FAILED);
  cli_close(&s);
  return status;
}
