/* tileflow bound: what no mapping can beat. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/report.h"
#include "cli/safe_write.h"
#include "cli/table.h"

static const tf_loc nowhere = {0};

static bool find_bounds(cli_session *s) {
  const tf_spec *p = s->spec;
  if (!p->arch)
    tf_fail(s->diags, nowhere, TF_E_MISSING, "no file has a section 'architecture'");
  if (!p->workload)
    tf_fail(s->diags, nowhere, TF_E_MISSING, "no file has a section 'workload'");
  if (!p->arch || !p->workload) return false;
  return tf_bounds_of(p->arch, p->workload, &s->bounds) ||
         tf_fail(s->diags, p->workload->at, TF_E_OVERFLOW, "a bound passes 2^63 - 1");
}

static void describe(const cli_session *s, cli_text *out) {
  const tf_arch *a = s->spec->arch;
  const tf_bounds *b = &s->bounds;
  cli_table t = {.align = "lrl"};
  cli_printf(out, "No mapping of %s on %s can beat\n\n", s->spec->workload->name, a->name);
  cli_cell(&t, "traffic");
  cli_cell(&t, "%s", cli_count(b->traffic_words).s);
  cli_cell(&t, "words through %s: what is read and what is written, each once",
           a->memories[0].name);
  cli_cell(&t, "cycles");
  cli_cell(&t, "%s", cli_real(b->cycles).s);
  cli_cell(&t, "%s: that traffic at full bandwidth, or every unit busy all the time",
           cli_si(b->cycles / a->clock_hz, "s").s);
  cli_cell(&t, "energy");
  cli_cell(&t, "%s", cli_si(b->energy_pj * 1e-12, "J").s);
  cli_cell(&t, "that traffic, and every point once");
  cli_table_end(&t, out);
}

static bool print(const cli_session *s, const cli_options *o) {
  cli_text json = {0}, text = {0};
  bool ok = true;
  if (o->json) {
    cli_bounds_json(s, &json);
    ok = cli_safe_write(o->json, &json);
  }
  if (!o->quiet && !cli_stdout_taken(o)) {
    describe(s, &text);
    ok = cli_safe_write("-", &text) && ok;
  }
  cli_text_free(&json);
  cli_text_free(&text);
  return ok;
}

cli_status cmd_bound(const cli_options *o) {
  cli_session s;
  cli_status status = cli_open(&s, o);
  if (status == CLI_DONE && !find_bounds(&s)) {
    cli_complain(s.diags);
    status = CLI_BAD_INPUT;
  }
  if (status == CLI_DONE && !print(&s, o)) status = CLI_FAILED;
  cli_close(&s);
  return status;
}
