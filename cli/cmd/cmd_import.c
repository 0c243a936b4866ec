/* tileflow import: converts other tools' files to the native form. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd/commands.h"
#include "cli/os/host.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/input.h"
#include "tileflow/import.h"

typedef struct {
  cli_input in;
  bool host, no_measure;
  int64_t cores; /* 0: all */
  const char *root, *out;
} import_options;
static const cli_slot slots[] = {
    CLI_AT_SAYS(import_options, SET, in.set,
                "give a macro or a named axis another value; may be repeated"),
    CLI_AT(import_options, HOST, host),
    CLI_AT(import_options, ROOT, root),
    CLI_AT(import_options, CORES, cores),
    CLI_AT(import_options, NO_MEASURE, no_measure),
    CLI_AT(import_options, OUT, out)};

static const tf_loc nowhere = {0};

static bool import_files(const import_options *o, cli_text *text, tf_diags *d) {
  tf_text *files;
  char *native = NULL;
  if (cli_read_texts(&o->in, &files, d))
    native = tf_import(files, o->in.n_files, o->in.set, o->in.n_set, d);
  if (native) cli_printf(text, "%s", native);
  cli_free_texts(files, o->in.n_files);
  free(native);
  return native != NULL;
}

static void check_import(void *options, tf_diags *d) {
  import_options *o = options;
  (void)d;
  o->in.fileless = o->host;
}

static cli_status run_import(const void *options) {
  const import_options *o = options;
  tf_diags *d = cli_diags();
  cli_text text = {0}, notes = {0};
  cli_status status = CLI_BAD_INPUT;
  bool ok = false;
  if (!d) return CLI_FAILED;
  if (o->host && o->in.n_files > 0)
    tf_fail(d, nowhere, TF_E_USAGE, "'%.60s' is not read: import --host takes no files",
            o->in.files[0]);
  else if (o->cores && !o->host)
    tf_fail(d, nowhere, TF_E_USAGE,
            "--cores says how many of this computer's cores --host describes: there is no --host");
  else
    ok = o->host ? cli_host_architecture(o->root ? o->root : "", !o->root && !o->no_measure,
                                         o->cores, &text, &notes, d)
                 : import_files(o, &text, d);
  if (ok) status = cli_safe_write(o->out ? o->out : "-", &text) ? CLI_DONE : CLI_FAILED;
  if (status == CLI_BAD_INPUT || (!o->in.quiet && tf_diags_count(d)))
    cli_complain(d); /* or prints warnings */
  if (!o->in.quiet && notes.text) fputs(notes.text, stderr);
  cli_text_free(&text);
  cli_text_free(&notes);
  tf_diags_free(d);
  return status;
}

const cli_command cmd_import = {
    .name = "import",
    .arguments = "FILE...|--host",
    .summary =
        "write the native form of Timeloop's, TileFlow's, AccelForge's or ONNX's files, or of this "
        "computer",
    .about = "Reads Timeloop's architecture (0.2 to 0.4), problem, mapping or constraints, "
             "Accelergy's tables, or TileFlow's architecture, problem, mapping and macros, or "
             "AccelForge's workload, architecture and mapping, or an ONNX model, and writes the "
             "sections that mean the same; "
             "what has no place in the "
             "model is a warning.  With --host, writes the CPU it runs on as an architecture: the "
             "cores that this process may run on (taskset, cpusets), caches, clock and vectors "
             "from /sys and /proc, each number with where it was read; what no file says (clock, "
             "what caches and memory deliver, multiply-adds, exp, tiles, calls) it measures in "
             "some seconds, and gives with its spread.  With --no-measure, or --root, which reads "
             "a copy of another machine's, these are marked assumptions.  With --cores, it writes "
             "so many of the cores, and what shared caches deliver to these.\n"
             "Exit status: 0, or 2 for bad input.\n",
    .example = "tests/data/timeloop/case004.yaml",
    .size = sizeof(import_options),
    CLI_SLOTS(slots),
    .check = check_import,
    .run = run_import,
};
