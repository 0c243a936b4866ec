/* tileflow import: writes what others describe in the native form. */
#include <stdio.h>

#include "cli/host.h"
#include "cli/report.h"
#include "cli/safe_write.h"

static const tf_loc nowhere = {0};

cli_status cmd_import(const cli_options *o) {
  tf_diags *d = tf_diags_new();
  cli_text text = {0}, notes = {0};
  cli_status status = CLI_BAD_INPUT;
  if (!d) return CLI_FAILED;
  if (o->n_files > 0)
    tf_fail(d, nowhere, TF_E_USAGE, "'%.60s' is not read: import --host takes no files", o->files[0]);
  else if (cli_host_architecture(o->root ? o->root : "", &text, &notes, d))
    status = cli_safe_write(o->out ? o->out : "-", &text) ? CLI_DONE : CLI_FAILED;
  if (status == CLI_BAD_INPUT) cli_complain(d);
  if (!o->quiet && notes.text) fputs(notes.text, stderr);
  cli_text_free(&text);
  cli_text_free(&notes);
  tf_diags_free(d);
  return status;
}
