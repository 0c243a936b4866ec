/* tileflow schema: the JSON Schema of an input, for editors. */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"

typedef struct {
  cli_input in; /* whose one file names a section */
  const char *out;
} schema_options;
static const cli_slot slots[] = {
    CLI_AT_SAYS(schema_options, WRITE, out, "write it there (-o, too)")};

/* What the words of the command line stand for. */
static const struct {
  const char *word, *section;
} sections[] = {{"file", ""},
                {"arch", "architecture"},
                {"architecture", "architecture"},
                {"workload", "workload"},
                {"mapping", "mapping"}};
enum { N_SECTIONS = sizeof sections / sizeof *sections };

static const char *section_of(const schema_options *o) {
  for (size_t i = 0; i < N_SECTIONS && o->in.n_files; i++)
    if (!strcmp(o->in.files[0], sections[i].word)) return sections[i].section;
  return o->in.n_files ? NULL : "";
}

static void check_schema(void *options, tf_diags *d) {
  schema_options *o = options;
  o->in.fileless = true;
  if (!section_of(o))
    tf_fail(d, (tf_loc){0}, TF_E_USAGE,
            "no schema of '%.40s'; known: file, arch, workload, mapping", o->in.files[0]);
  if (o->in.n_files > 1)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "one schema at a time: '%.40s' is a second",
            o->in.files[1]);
}

static cli_status run_schema(const void *options) {
  const schema_options *o = options;
  if (o->in.quiet && !o->out) return CLI_DONE;
  cli_text t = {0};
  char *text = tf_file_schema(section_of(o));
  t.bad = !text;
  if (text) cli_printf(&t, "%s", text);
  free(text);
  return cli_put_text(o->out ? o->out : "-", &t) ? CLI_DONE : CLI_FAILED;
}

const cli_command cmd_schema = {
    .name = "schema",
    .summary = "JSON Schema of input files, for editors",
    .arguments = "[SECTION]",
    .about = "Prints the JSON Schema of whole files, or of one section (arch, workload, mapping), "
             "from the tables by which files are read: an editor completes keys with it and "
             "underlines what is none (docs/HOWTO-arch.md).\n"
             "Exit status: 0, 2 for bad usage.\n",
    .example = "",
    .size = sizeof(schema_options),
    CLI_SLOTS(slots),
    .check = check_schema,
    .run = run_schema,
};
