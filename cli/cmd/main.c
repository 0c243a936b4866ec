/* tileflow COMMAND FILE... [OPTION...]: the table of commands, the help that is made from it, and
 * main. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/nearest.h"
#include "cli/os/interrupt.h"
#include "cli/wrap.h"
#include "tileflow/version.h"

/* ---- the table ------------------------------------------------------------------------------- */
#define X(name) &cmd_##name,
static const cli_command *const commands[] = {CLI_COMMANDS(X)};
#undef X
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

const cli_command *cli_command_at(size_t k) { return k < N_COMMANDS ? commands[k] : NULL; }

static void note_commands(tf_diags *d) {
  char list[400] = "";
  size_t len = 0;
  for (size_t i = 0; i < N_COMMANDS && len < sizeof list; i++)
    len +=
        (size_t)snprintf(list + len, sizeof list - len, "%s%s", i ? ", " : "", commands[i]->name);
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

static const char *arguments(const cli_command *c) {
  return c->arguments ? c->arguments : "FILE...";
}

void cli_help(FILE *out) {
  fputs("usage: tileflow COMMAND FILE... [OPTION...]\n\n"
        "Counts what a fused dataflow moves, holds, takes and costs on a spatial\n"
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
  fprintf(
      out,
      "\nexample, in the sources, or in share/tileflow where it is installed:\n  tileflow %s %s\n",
      c->name, c->example);
}

/* ---- one run --------------------------------------------------------------------------------- */
/* Flushes stdout, so that a full disk or a closed pipe is noticed. */
static int finish(cli_status status) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return (int)status;
  fprintf(stderr, "tileflow: error[E_IO]: cannot write to stdout: %s\n", strerror(errno));
  return CLI_FAILED;
}

static cli_status run_command(const cli_command *c, int n, char **args, tf_diags *d) {
  cli_arguments a;
  cli_status status = CLI_BAD_INPUT;
  if (cli_arguments_read(&a, c, n, args, d)) {
    status = CLI_DONE;
    if (a.help)
      cli_command_help(c, stdout);
    else
      status = cli_outputs_ready(&a) ? c->run(a.options) : CLI_FAILED;
    /* what was found until then is printed; the status says how it ended */
    if ((status == CLI_DONE || status == CLI_INFEASIBLE) && cli_interrupted(NULL))
      status = CLI_INTERRUPTED;
  }
  cli_arguments_free(&a, c);
  return status;
}

/* Forms of asking for help: 'help COMMAND' reads as 'COMMAND --help'. */
static bool asks(const char *arg, const char *option) { return arg && !strcmp(arg, option); }

static cli_status dispatch(int argc, char **argv, tf_diags *d) {
  const char *name = argc > 1 ? argv[1] : NULL;
  if (asks(name, "--version")) {
    if (argc > 2) {
      tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--version stands alone: '%.60s' means nothing to it",
              argv[2]);
      return CLI_BAD_INPUT;
    }
    puts("tileflow " TILEFLOW_VERSION);
    return CLI_DONE;
  }
  bool help = asks(name, "help") || asks(name, "--help") || asks(name, "-h");
  if (!name || (help && argc == 2)) {
    cli_help(name ? stdout : stderr);
    return name ? CLI_DONE : CLI_BAD_INPUT;
  }
  const cli_command *c = cli_find_command(help ? argv[2] : name, d);
  if (!c) return CLI_BAD_INPUT;
  if (!help) return run_command(c, argc - 2, argv + 2, d);
  cli_command_help(c, stdout);
  return CLI_DONE;
}

int main(int argc, char **argv) {
  cli_catch_signals();
  tf_diags *d = cli_diags();
  if (!d) return CLI_FAILED;
  cli_status status = dispatch(argc, argv, d);
  if (tf_diags_errors(d)) cli_complain(d);
  tf_diags_free(d);
  return finish(status);
}
