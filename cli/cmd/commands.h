/* The commands this version has, and those of the contract that it lacks. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H
#include <stdio.h>

#include "cli/cli.h"

/* Bits, so that an option can name the commands that take it. */
enum {
  CLI_EVAL = 1,
  CLI_CHECK = 2,
  CLI_TREE = 4,
  CLI_BOUND = 8,
  CLI_SOLVE = 16,
  CLI_SEARCH = 32,
  CLI_IMPORT = 64,
  CLI_EMIT = 128,
  CLI_EXPORT = 256,
  CLI_DIFF = 512,
  CLI_SWEEP = 1024,
  CLI_RESULTS = 2048,
  CLI_ALL = 4095,
  CLI_READING = CLI_ALL & ~(CLI_IMPORT | CLI_RESULTS),                    /* read native files */
  CLI_SEARCHING = CLI_EVAL | CLI_TREE | CLI_SOLVE | CLI_SEARCH | CLI_EMIT /* may have to find a mapping */
};

typedef struct {
  unsigned id; /* one of the bits */
  const char *name, *summary;
  const char *about;   /* what it reads, prints and returns; lines end in \n */
  const char *example; /* arguments that work in the folder of the sources */
  cli_status (*run)(const cli_options *o);
} cli_command;

cli_status cmd_eval(const cli_options *o);
cli_status cmd_check(const cli_options *o);
cli_status cmd_tree(const cli_options *o);
cli_status cmd_bound(const cli_options *o);
cli_status cmd_diff(const cli_options *o);
cli_status cmd_solve(const cli_options *o);
cli_status cmd_search(const cli_options *o);
cli_status cmd_import(const cli_options *o);
cli_status cmd_export(const cli_options *o);
cli_status cmd_emit(const cli_options *o);
cli_status cmd_sweep(const cli_options *o);
cli_status cmd_results(const cli_options *o);

/* The command of that name; NULL with an error in d. */
const cli_command *cli_find_command(const char *name, tf_diags *d);

void cli_help(FILE *out);
void cli_command_help(const cli_command *c, FILE *out);
#endif
