/* tileflow emit: the mapping as a folder of source code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/safe_dir.h"
#include "cli/safe_write.h"

static const tf_loc nowhere = {0};

/* The command line that makes the same files. */
static void reproduce(const cli_options *o, const char *isa, cli_text *t) {
  cli_printf(t, "tileflow emit");
  for (size_t i = 0; i < o->n_files; i++)
    cli_printf(t, " %s", o->files[i]);
  for (size_t i = 0; i < o->n_set; i++)
    cli_printf(t, " --set %s=%s", o->set[i].name, o->set[i].value);
  cli_printf(t, " --target cpu --isa %s", isa);
  if (o->dtype) cli_printf(t, " --dtype %s", o->dtype);
  if (o->name) cli_printf(t, " --name %s", o->name);
  if (o->out) cli_printf(t, " -o %s", o->out);
}

static cli_status dump(const cli_session *s) {
  char *ir = tf_emit_ir(s->tree, s->diags);
  if (!ir) return CLI_BAD_INPUT;
  bool ok = fputs(ir, stdout) >= 0;
  free(ir);
  return ok ? CLI_DONE : CLI_FAILED;
}

static cli_status write_all(const cli_options *o, const tf_emitted *e) {
  cli_dir_file *files = calloc((size_t)e->n, sizeof *files);
  bool there = false, ok = files != NULL;
  for (int i = 0; ok && i < e->n; i++)
    files[i] = (cli_dir_file){e->file[i].name, e->file[i].text};
  ok = ok && cli_safe_dir(o->out, files, (size_t)e->n, &there);
  free(files);
  return ok ? CLI_DONE : there ? CLI_BAD_INPUT : CLI_FAILED;
}

static cli_status emit(const cli_session *s, const cli_options *o) {
  const char *isa = o->isa ? o->isa : tf_emit_isa(o->dtype);
  cli_text command = {0};
  reproduce(o, isa, &command);
  tf_emit_options e = {.isa = isa, .dtype = o->dtype, .name = o->name, .version = TILEFLOW_VERSION, .command = command.text, .result = &s->result};
  tf_emitted *files = tf_emit_cpu(s->tree, &e, s->diags);
  cli_status status = files ? write_all(o, files) : CLI_BAD_INPUT;
  if (status == CLI_DONE && !o->quiet && !o->dump_ir)
    printf("%s: %s for %s.  Next: make -C %s test\n", o->out, s->tree->workload->name, isa, o->out);
  tf_emitted_free(files);
  cli_text_free(&command);
  return status;
}

/* Whether a short search finds a completion of the template that fits. */
static bool suits(const cli_session *s, const char *text) {
  enum { ENOUGH = 3000, SECONDS = 3 };
  tf_diags *d = tf_diags_new();
  tf_loc at = d ? (tf_loc){tf_diags_add_file(d, "template", text, strlen(text)), 1, 1, 1} : nowhere;
  tf_tree *t = d ? tf_tree_parse(text, at, s->spec->arch, s->spec->workload, d) : NULL;
  tf_search_opts o = {.objective = TF_LATENCY, .seed = 1, .threads = 1, .max_evals = ENOUGH, .time_limit = SECONDS};
  tf_search_result *r = t ? tf_search_run(s->spec->arch, s->spec->workload, t, &o, d) : NULL;
  bool found = r && r->n_best > 0;
  tf_search_free(r);
  tf_tree_free(t);
  tf_diags_free(d);
  return found;
}

/* Where no mapping is given: all ops fused, as far as they can be, and the search fills in the trip counts. */
static cli_status plan(cli_session *s, const cli_options *o) {
  cli_status status = cli_check_sections(s);
  for (int streams = 0; status == CLI_DONE && !s->tree && streams < 2; streams++) {
    char *text = tf_search_template(s->spec->arch, s->spec->workload, streams);
    if (text && suits(s, text))
      status = cli_adopt(s, text, "search");
    else
      free(text);
  }
  if (status == CLI_DONE && (!s->tree || s->tree->open)) {
    char *template = s->found_text;
    s->found_text = NULL;
    cli_options said = *o;
    if (!said.evals && !(said.time_limit > 0)) { /* the template leaves little to look for */
      said.evals = 100000;
      said.time_limit = 5;
    }
    /* Of mappings that keep the units busy alike, the one that moves less has the larger blocks. */
    if (said.objective == TF_LATENCY) said.objective = TF_EDP;
    status = cli_search(s, &said);
    free(template);
  }
  return status == CLI_DONE ? cli_count_words(s) : status;
}

cli_status cmd_emit(const cli_options *o) {
  cli_session s;
  cli_status status = cli_open(&s, o);
  if (status == CLI_DONE) status = plan(&s, o);
  if (status == CLI_DONE) status = cli_report_violations(&s, CLI_DONE);
  if (status == CLI_DONE) {
    if (o->dump_ir) status = dump(&s);
    if (status == CLI_DONE && o->out) status = emit(&s, o);
    if (status == CLI_BAD_INPUT && tf_diags_errors(s.diags)) cli_complain(s.diags);
  }
  cli_close(&s);
  return status;
}
