/* tileflow COMMAND FILE... [OPTION...] */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/os/interrupt.h"

/* A full disk or a closed pipe shows at the latest here. */
static int finish(cli_status status) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return (int)status;
  fprintf(stderr, "tileflow: error[E_IO]: cannot write to stdout: %s\n", strerror(errno));
  return CLI_FAILED;
}

static cli_status run(const cli_command *c, int n, char **args, tf_diags *d) {
  cli_arguments a;
  cli_status status = CLI_BAD_INPUT;
  if (cli_arguments_read(&a, c, n, args, d)) {
    status = CLI_DONE;
    if (a.help)
      cli_command_help(c, stdout);
    else
      status = cli_outputs_ready(&a) ? c->run(a.options) : CLI_FAILED;
    /* what was found until then is printed, and how it ended is said */
    if ((status == CLI_DONE || status == CLI_INFEASIBLE) && cli_interrupted(NULL)) status = CLI_INTERRUPTED;
  }
  cli_arguments_free(&a, c);
  return status;
}

/* What stands instead of a command: 'help COMMAND' reads as 'COMMAND --help'. */
static bool asks(const char *arg, const char *option) { return arg && !strcmp(arg, option); }

static cli_status dispatch(int argc, char **argv, tf_diags *d) {
  const char *name = argc > 1 ? argv[1] : NULL;
  if (asks(name, "--version")) {
    if (argc > 2) {
      tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--version stands alone: '%.60s' means nothing to it", argv[2]);
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
  if (!help) return run(c, argc - 2, argv + 2, d);
  cli_command_help(c, stdout);
  return CLI_DONE;
}

int main(int argc, char **argv) {
  cli_catch_signals();
  tf_diags *d = tf_diags_new();
  if (!d) {
    fputs("tileflow: error[E_LIMIT]: out of memory\n", stderr);
    return CLI_FAILED;
  }
  cli_status status = dispatch(argc, argv, d);
  if (tf_diags_errors(d)) cli_complain(d);
  tf_diags_free(d);
  return finish(status);
}
