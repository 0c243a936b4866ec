/* tileflow import: writes what others describe in the native form. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd/commands.h"
#include "cli/os/host.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/input.h"

static const tf_loc nowhere = {0};

static bool import_files(const cli_options *o, cli_text *text, tf_diags *d) {
  tf_text *files;
  char *native = NULL;
  if (cli_read_texts(o, &files, d)) native = tf_import(files, o->n_files, o->set, o->n_set, d);
  if (native) cli_printf(text, "%s", native);
  cli_free_texts(files, o->n_files);
  free(native);
  return native != NULL;
}

cli_status cmd_import(const cli_options *o) {
  tf_diags *d = tf_diags_new();
  cli_text text = {0}, notes = {0};
  cli_status status = CLI_BAD_INPUT;
  bool ok = false;
  if (!d) return CLI_FAILED;
  if (o->host && o->n_files > 0)
    tf_fail(d, nowhere, TF_E_USAGE, "'%.60s' is not read: import --host takes no files", o->files[0]);
  else
    ok = o->host ? cli_host_architecture(o->root ? o->root : "", &text, &notes, d) : import_files(o, &text, d);
  if (ok) status = cli_safe_write(o->out ? o->out : "-", &text) ? CLI_DONE : CLI_FAILED;
  if (status == CLI_BAD_INPUT || (!o->quiet && tf_diags_count(d))) cli_complain(d); /* or warn */
  if (!o->quiet && notes.text) fputs(notes.text, stderr);
  cli_text_free(&text);
  cli_text_free(&notes);
  tf_diags_free(d);
  return status;
}
