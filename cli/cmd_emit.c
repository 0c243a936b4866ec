/* tileflow emit: the mapping as a folder of source code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/safe_dir.h"
#include "cli/safe_write.h"

/* The command line that makes the same files. */
static void reproduce(const cli_options *o, const char *isa, cli_text *t) {
  cli_printf(t, "tileflow emit");
  for (size_t i = 0; i < o->n_files; i++)
    cli_printf(t, " %s", o->files[i]);
  for (size_t i = 0; i < o->n_set; i++)
    cli_printf(t, " --set %s=%s", o->set[i].name, o->set[i].value);
  cli_printf(t, " --target cpu --isa %s", isa);
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
  const char *isa = o->isa ? o->isa : tf_emit_isa();
  cli_text command = {0};
  reproduce(o, isa, &command);
  tf_emit_options e = {.isa = isa, .name = o->name, .command = command.text, .result = &s->result};
  tf_emitted *files = tf_emit_cpu(s->tree, &e, s->diags);
  cli_status status = files ? write_all(o, files) : CLI_BAD_INPUT;
  if (status == CLI_DONE && !o->quiet && !o->dump_ir)
    printf("%s: %s for %s.  Next: make -C %s test\n", o->out, s->tree->workload->name, isa, o->out);
  tf_emitted_free(files);
  cli_text_free(&command);
  return status;
}

cli_status cmd_emit(const cli_options *o) {
  cli_session s;
  cli_status status = cli_evaluate(&s, o);
  if (status == CLI_DONE) status = cli_report_violations(&s, CLI_DONE);
  if (status == CLI_DONE) {
    if (o->dump_ir) status = dump(&s);
    if (status == CLI_DONE && o->out) status = emit(&s, o);
    if (status == CLI_BAD_INPUT && tf_diags_errors(s.diags)) cli_complain(s.diags);
  }
  cli_close(&s);
  return status;
}
