/* tileflow schema: the JSON Schema of an input, for editors. */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/os/safe_write.h"

typedef struct {
  cli_input in; /* whose one file is the name of a section */
  const char *out;
} schema_options;
static const cli_slot slots[] = {CLI_AT_SAYS(schema_options, WRITE, out, "write it there (-o, too)")};

static void check(void *options, tf_diags *d) {
  schema_options *o = options;
  o->in.fileless = true;
  for (size_t i = 0; i < o->in.n_files; i++)
    if (strcmp(o->in.files[i], "arch") != 0 && strcmp(o->in.files[i], "architecture") != 0)
      tf_fail(d, (tf_loc){0}, TF_E_USAGE, "no schema of '%.40s'; known: arch", o->in.files[i]);
}

static cli_status run(const void *options) {
  const schema_options *o = options;
  if (o->in.quiet && !o->out) return CLI_DONE;
  cli_text t = {0};
  char *text = tf_arch_schema();
  t.bad = !text;
  if (text) cli_printf(&t, "%s", text);
  free(text);
  return cli_put_text(o->out ? o->out : "-", &t) ? CLI_DONE : CLI_FAILED;
}

const cli_command cmd_schema = {
    .name = "schema",
    .summary = "JSON Schema of architectures, for editors",
    .arguments = "[arch]",
    .about = "Prints the JSON Schema of the section architecture, from the tables by which files are read: an editor "
             "completes keys with it and underlines what is none (docs/HOWTO-arch.md).\n"
             "Exit status: 0, 2 for bad usage.\n",
    .example = "arch",
    .size = sizeof(schema_options),
    CLI_SLOTS(slots),
    .check = check,
    .run = run,
};
