/* tileflow export: the files of another tool, in a new folder. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_dir.h"
#include "cli/session/session.h"
#include "tileflow/export.h"

typedef struct {
  cli_input in;
  const char *out, *format;
} export_options;
static const cli_slot slots[] = {CLI_AT_SAYS(export_options, OUT, out, "the new folder (-o, too)"),
                                 CLI_AT(export_options, TO, format)};

static cli_status write_export(const export_options *o, const tf_export *e) {
  tf_emitted_file files[TF_EXPORT_MAX_FILES];
  bool there = false;
  for (int i = 0; i < e->n; i++)
    files[i] = (tf_emitted_file){e->file[i].name, e->file[i].text};
  if (!cli_safe_dir(o->out, files, (size_t)e->n, &there)) return there ? CLI_BAD_INPUT : CLI_FAILED;
  for (int i = 0; i < e->n && !o->in.quiet; i++)
    printf("%s/%s\n", o->out, e->file[i].name);
  return CLI_DONE;
}

static void check_export(void *options, tf_diags *d) {
  const export_options *o = options;
  bool known = false;
  for (int i = 0; tf_export_format(i); i++)
    known |= o->format && !strcmp(o->format, tf_export_format(i));
  if (!o->format)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "export needs --to timeloop or --to tileflow");
  else if (!known)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "no format '%.40s': timeloop or tileflow", o->format);
  if (!o->out)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "export needs -o DIR, a folder that is not there yet");
}

static cli_status run_export(const void *options) {
  const export_options *o = options;
  cli_session s;
  cli_status status = cli_open(&s, &o->in);
  if (status == CLI_DONE) status = cli_check_sections(&s);
  if (status == CLI_DONE) {
    const size_t said = tf_diags_count(s.diags);
    tf_export *e = tf_export_write(o->format, s.spec->arch, s.spec->workload, s.tree, s.diags);
    status = e ? write_export(o, e) : CLI_BAD_INPUT;
    if (!e || (tf_diags_count(s.diags) > said && !o->in.quiet)) cli_complain(s.diags);
    tf_export_free(e);
  }
  cli_close(&s);
  return status;
}

const cli_command cmd_export = {
    .name = "export",
    .summary = "write architecture, workload and mapping for another tool",
    .about = "Writes a new folder with the files that Timeloop (one op) or TileFlow (fused ops) "
             "reads, for a second opinion; import reads them back to the same tree.  What the "
             "format cannot say is an error where it would change counts, else a warning and a "
             "comment in the files.  Without a mapping, the other two are written.\n"
             "Exit status: 0, or 2 for bad input (or a folder that is there already).\n",
    .example = "examples/matmul.yaml --to timeloop -o matmul-timeloop",
    .size = sizeof(export_options),
    CLI_SLOTS(slots),
    .check = check_export,
    .run = run_export,
};
