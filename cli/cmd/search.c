/* tileflow search: the best mapping found, its report, and the front of those that none beats. */
#include <stdio.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/session.h"
#include "cli/session/starts.h"

static bool write(const char *path, cli_text *t) {
  bool ok = cli_safe_write(path, t);
  cli_text_free(t);
  return ok;
}

/* A mapping's lines in one cell of one line: \n stands between them. */
static void put_in_line(const char *text, cli_text *out) {
  for (; *text; text++) {
    if (*text != '\n')
      cli_printf(out, "%c", *text);
    else if (text[1])
      cli_printf(out, "\\n");
  }
}

static bool write_pareto(const cli_session *s, const char *path) {
  cli_text t = {0};
  cli_printf(&t, "cycles,energy_pj,edp,traffic_words,held_words,mapping\n");
  for (int i = 0; i < s->search->n_pareto; i++) {
    const tf_found *f = &s->search->pareto[i];
    cli_printf(&t, "%.15g,%.15g,%.15g,%.15g,%.15g,\"", f->figures.cycles, f->figures.energy_pj, f->figures.edp,
               f->figures.traffic_words, f->figures.held_words);
    put_in_line(f->text, &t);
    cli_printf(&t, "\"\n");
  }
  return write(path, &t);
}

static bool print_all(const cli_session *s, const cli_options *o) {
  bool ok = cli_write_figures(s, o, false);
  cli_text t = {0};
  if (o->mapping) {
    cli_mapping_yaml(s, &t);
    ok = write(o->mapping, &t) && ok;
    t = (cli_text){0};
  }
  if (o->pareto) ok = write_pareto(s, o->pareto) && ok;
  if (o->quiet || cli_stdout_taken(o)) return ok;
  cli_report_text(s, &t);
  ok = write("-", &t) && ok;
  fflush(stdout);
  return ok;
}

cli_status cmd_search(const cli_options *o) {
  cli_session s;
  cli_status status = cli_open(&s, o);
  if (status == CLI_DONE) status = cli_check_sections(&s);
  if (status == CLI_DONE) status = cli_read_starts(&s, o);
  if (status == CLI_DONE) status = cli_search_after_formulas(&s, o);
  if (status == CLI_DONE) status = cli_count_words(&s);
  if (status == CLI_DONE && !print_all(&s, o)) status = CLI_FAILED;
  cli_close(&s);
  return status;
}
