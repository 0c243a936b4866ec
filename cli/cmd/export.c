/* tileflow export: the files of another tool, in a new folder. */
#include <stdio.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_dir.h"
#include "cli/session/session.h"

static cli_status write_all(const cli_options *o, const tf_export *e) {
  tf_emitted_file files[TF_EXPORT_MAX_FILES];
  bool there = false;
  for (int i = 0; i < e->n; i++)
    files[i] = (tf_emitted_file){e->file[i].name, e->file[i].text};
  if (!cli_safe_dir(o->out, files, (size_t)e->n, &there)) return there ? CLI_BAD_INPUT : CLI_FAILED;
  for (int i = 0; i < e->n && !o->quiet; i++)
    printf("%s/%s\n", o->out, e->file[i].name);
  return CLI_DONE;
}

cli_status cmd_export(const cli_options *o) {
  cli_session s;
  cli_status status = cli_open(&s, o);
  if (status == CLI_DONE) status = cli_check_sections(&s);
  if (status == CLI_DONE) {
    tf_export *e = tf_export_write(o->format, s.spec->arch, s.spec->workload, s.tree, s.diags);
    status = e ? write_all(o, e) : CLI_BAD_INPUT;
    if (!e) cli_complain(s.diags);
    tf_export_free(e);
  }
  cli_close(&s);
  return status;
}
