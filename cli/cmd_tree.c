#include <stdlib.h>

#include "cli.h"

static bool draw_to(const cli_session *s, const char *path,
                    void (*draw)(const cli_session *, cli_text *)) {
  cli_text t = {0};
  draw(s, &t);
  bool ok = t.text && cli_write(path, t.text);
  free(t.text);
  return ok;
}

int cmd_tree(const cli_options *o) {
  cli_session s;
  int status = cli_evaluate(&s, o);
  if (status == CLI_DONE) {
    bool ok = true;
    if (o->svg)
      ok &= draw_to(&s, o->svg, draw_svg);
    if (o->dot)
      ok &= draw_to(&s, o->dot, draw_dot);
    if (!o->svg && !o->dot)
      ok &= draw_to(&s, "-", draw_text);
    status = ok ? CLI_DONE : CLI_FAILED;
    if (!s.result.feasible) {
      report_violations(&s, &s.result, stderr);
      status = status == CLI_DONE ? CLI_INFEASIBLE : status;
    }
  }
  cli_close(&s);
  return status;
}
