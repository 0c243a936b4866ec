/* The table of commands, and the help that is made from it. */
#include "cli/cmd/commands.h"

#include <string.h>

#include "cli/nearest.h"
#include "cli/wrap.h"

#define X(name) &cmd_##name,
static const cli_command *const commands[] = {CLI_COMMANDS(X)};
#undef X
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void note_commands(tf_diags *d) {
  char list[400] = "";
  size_t len = 0;
  for (size_t i = 0; i < N_COMMANDS && len < sizeof list; i++)
    len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", i ? ", " : "", commands[i]->name);
  tf_note(d, (tf_loc){0}, "version " TILEFLOW_VERSION " has %s", list);
}

const cli_command *cli_find_command(const char *name, tf_diags *d) {
  const tf_loc nowhere = {0};
  cli_nearest near = cli_nearest_to(name);
  for (size_t i = 0; i < N_COMMANDS; i++) {
    if (!strcmp(commands[i]->name, name)) return commands[i];
    cli_nearest_offer(&near, commands[i]->name);
  }
  if (name[0] == '-')
    tf_fail(d, nowhere, TF_E_USAGE, "the command comes before '%.60s'", name);
  else if (near.best)
    tf_fail(d, nowhere, TF_E_USAGE, "no command '%.60s', did you mean '%s'?", name, near.best);
  else
    tf_fail(d, nowhere, TF_E_USAGE, "no command '%.60s'", name);
  if (!near.best) note_commands(d);
  return NULL;
}

static const char *arguments(const cli_command *c) { return c->arguments ? c->arguments : "FILE..."; }

void cli_help(FILE *out) {
  fputs("usage: tileflow COMMAND FILE... [OPTION...]\n\n"
        "Counts what a fused dataflow moves, holds, takes and costs on a spatial "
        "accelerator.\n\n",
        out);
  for (size_t i = 0; i < N_COMMANDS; i++)
    cli_wrap(out, commands[i]->summary,
             fprintf(out, "  tileflow %-12s %-14s  ", commands[i]->name, arguments(commands[i])));
  fputs("\ntileflow COMMAND --help    its options, and an example that runs\n"
        "tileflow --version         the version\n",
        out);
}

void cli_command_help(const cli_command *c, FILE *out) {
  fprintf(out, "usage: tileflow %s %s [OPTION...]\n\n", c->name, arguments(c));
  cli_wrap(out, c->about, 0);
  fputs("\noptions:\n", out);
  cli_options_help(c, out);
  fprintf(out, "\nexample, in the folder of the sources:\n  tileflow %s %s\n", c->name, c->example);
}
