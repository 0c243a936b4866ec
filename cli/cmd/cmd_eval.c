/* tileflow eval: the report, and the same figures as JSON and CSV. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"
#include "cli/page/page.h"
#include "cli/report/report.h"
#include "cli/session/session.h"
#include "tileflow/emit.h"

typedef struct {
  cli_input in;
  cli_figures figures;
  cli_looking look;
  cli_page page;
  const char *trace, *target;
  bool live;
} eval_options;
static const cli_slot slots[] = {CLI_FIGURES_AT(eval_options, figures),
                                 CLI_LOOKING_AT(eval_options, look),
                                 CLI_PAGE_AT(eval_options, page),
                                 CLI_AT(eval_options, LIVE, live),
                                 CLI_AT_SAYS(eval_options, TRACE, trace,
                                             "write what loads, works, stores and is held when: as "
                                             "CSV for plot, FILE.json for Perfetto"),
                                 CLI_AT_WORDS(eval_options, TARGET, target, "cuda|opencl|npu",
                                              "beside the model's cycles those that this target "
                                              "expects of its kernel")};

/* Most runs of a child that are shown one by one: more could not be seen. */
enum { TRACE_RUNS = 500 };

static bool write_page(const cli_session *s, const char *path, bool live) {
  cli_text t = {0};
  cli_report_text(s, &t);
  const bool ok = cli_page_mapping(path, "eval", s, &t, live);
  cli_text_free(&t);
  return ok;
}

static bool ends_in(const char *path, const char *end) {
  const size_t n = strlen(path), m = strlen(end);
  return n > m && !strcmp(path + n - m, end);
}

/* FILE.json: as Perfetto and Chrome read it. */
static bool write_trace(cli_session *s, const char *path) {
  tf_trace *t = tf_trace_of(s->model, TRACE_RUNS, s->diags);
  if (!t) {
    cli_complain(s->diags);
    return false;
  }
  cli_text out = {0};
  if (ends_in(path, ".json"))
    cli_trace_json(s, t, &out);
  else
    cli_trace_csv(s, t, &out);
  tf_trace_free(t);
  return cli_put_text(path, &out);
}

/* Targets whose cycles are all that a kernel takes, or NULL past the last. */
static const char *target_at(int i) {
  const char *name;
  for (int k = 0; (name = tf_emit_target(k, NULL)); k++)
    if (tf_emit_cycles_whole(name) && !tf_emit_able(name, TF_EMIT_READ) && i-- == 0) break;
  return name;
}

static void check_eval(void *options, tf_diags *d) {
  const eval_options *o = options;
  cli_text known = {0};
  const char *name;
  cli_refuse_over(o->page.html, o->page.force, d);
  if (o->live && !o->page.html)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--live is for a page: --html FILE, too");
  if (o->live && !cli_page_has_model())
    tf_fail(d, (tf_loc){0}, TF_E_USAGE,
            "this tileflow was built without the model for pages: cli/page/live/build.sh makes it "
            "(docs/HOWTO-page.md)");
  bool any = !o->target;
  for (int i = 0; (name = target_at(i)); i++) {
    any |= o->target && !strcmp(name, o->target);
    cli_printf(&known, "%s%s", i ? ", " : "", name);
  }
  if (!any)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "no cycles are expected of kernels for '%.40s'; known: %s",
            o->target, known.text ? known.text : "");
  cli_text_free(&known);
}

/* Of a mapping that fits. */
static cli_status expect(cli_session *s, const char *target) {
  if (!target || !s->result.feasible) return CLI_DONE;
  const double cycles = tf_emit_cycles(s->tree, target, &(tf_emit_options){0}, s->diags);
  if (cycles < 0 || !tf_emit_fits(s->tree, target, s->diags)) {
    cli_complain(s->diags);
    return CLI_BAD_INPUT;
  }
  s->expected.target = target;
  s->expected.cycles = cycles;
  return CLI_DONE;
}

static cli_status run_eval(const void *options) {
  const eval_options *o = options;
  cli_session s;
  cli_status status = cli_evaluate(&s, &o->in, &o->look);
  if (status == CLI_DONE) status = expect(&s, o->target);
  if (status == CLI_DONE) {
    bool ok = cli_write_figures(&s, &o->figures, false);
    if (o->trace) ok = write_trace(&s, o->trace) && ok;
    if (o->page.html) ok = write_page(&s, o->page.html, o->live) && ok;
    if (!o->in.quiet && !o->in.stdout_taken) ok = cli_print_report(&s) && ok;
    if (!o->in.quiet && !s.spec->mapping_text) {
      fflush(stdout);
      fputs("note: no mapping was given, and one was searched for; 'tileflow best' says what "
            "limits it, and keeps it\n",
            stderr);
    }
    status = cli_report_violations(&s, ok ? CLI_DONE : CLI_FAILED);
  }
  cli_close(&s);
  return status;
}

const cli_command cmd_eval = {
    .name = "eval",
    .summary = "evaluate the mapping: counts, latency, energy",
    .about = "Reads architecture, workload and mapping from the files, in any order, and prints "
             "what the mapping moves, holds, takes and costs, and what limits it.  A mapping that "
             "does not fit the machine is told where and by how much; its counts are printed all "
             "the same.  Where no mapping is given, one is searched for; best says more of it.\n"
             "Exit status: 0, 2 for bad input, 3 if the mapping does not fit.\n",
    .example = "arch-specs/edge.yaml workloads/attention/g1.yaml \\\n"
               "    workloads/dataflows/edge/attention-flat-rgran.yaml",
    .size = sizeof(eval_options),
    CLI_SLOTS(slots),
    .check = check_eval,
    .run = run_eval,
};
