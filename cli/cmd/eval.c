/* tileflow eval: the report, and the same figures as JSON and CSV. */
#include <stdio.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/session.h"

typedef struct {
  cli_input in;
  cli_figures figures;
  cli_looking look;
  const char *trace;
} eval_options;
static const cli_slot slots[] = {CLI_FIGURES_AT(eval_options, figures), CLI_LOOKING_AT(eval_options, look),
                                 CLI_AT(eval_options, TRACE, trace)};

/* Most runs of a child that are shown one by one: more could not be seen. */
enum { TRACE_RUNS = 500 };

static bool write_trace(cli_session *s, const char *path) {
  tf_trace *t = tf_trace_of(s->model, TRACE_RUNS, s->diags);
  if (!t) {
    cli_complain(s->diags);
    return false;
  }
  cli_text csv = {0};
  cli_trace_csv(s, t, &csv);
  tf_trace_free(t);
  return cli_put_text(path, &csv);
}

static cli_status run(const void *options) {
  const eval_options *o = options;
  cli_session s;
  cli_status status = cli_evaluate(&s, &o->in, &o->look);
  if (status == CLI_DONE) {
    bool ok = cli_write_figures(&s, &o->figures, false);
    if (o->trace) ok = write_trace(&s, o->trace) && ok;
    if (!o->in.quiet && !o->in.stdout_taken) ok = cli_print_report(&s) && ok;
    status = cli_report_violations(&s, ok ? CLI_DONE : CLI_FAILED);
  }
  cli_close(&s);
  return status;
}

const cli_command cmd_eval = {
    .name = "eval",
    .summary = "evaluate the mapping: counts, latency, energy",
    .about = "Reads architecture, workload and mapping from the files, in any order, and prints what "
             "the mapping moves, holds, takes and costs, and what limits it.  A mapping that does not "
             "fit the machine is told where and by how much; its counts are printed all the same.\n"
             "Exit status: 0, 2 for bad input, 3 if the mapping does not fit.\n",
    .example = "arch-specs/edge.yaml workloads/attention/g1.yaml \\\n"
               "    workloads/dataflows/edge/attention-flat-rgran.yaml",
    .size = sizeof(eval_options),
    CLI_SLOTS(slots),
    .run = run,
};
