/* The table of commands. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H
#include <stdio.h>

#include "cli/cmd/options.h"

/* In the order of the help; each is in a file cmd_NAME.c, here, in cli/first or in cli/train. */
/* clang-format off */
#define CLI_COMMANDS(X) \
  X(best) X(eval) X(check) X(tree) X(bound) X(diff) X(explain) X(solve) X(search) X(sweep) X(results) X(plot) \
  X(plan) X(pack) X(instructions) X(npu) X(grad) X(train) X(import) X(export) X(emit) X(tune) X(init) X(example) X(schema) X(completion) X(why)
/* clang-format on */

struct cli_command {
  const char *name, *summary;
  const char *arguments; /* NULL: FILE... */
  const char *about;     /* what it reads, prints and returns; lines end in \n */
  const char *example;   /* arguments that work in the folder of the sources; cmake/Install.cmake */
  bool two_sides;        /* "--" separates two lists of files */
  size_t size;           /* of the struct of its options */
  const cli_slot *slots; /* [n_slots] besides --set, --quiet and --help, which every command has */
  size_t n_slots;
  void (*check)(void *options,
                tf_diags *d); /* checks the options after they were read; may be NULL */
  cli_status (*run)(const void *options);
};
#define CLI_SLOTS(slots) .slots = (slots), .n_slots = sizeof(slots) / sizeof *(slots)

#define X(name) extern const cli_command cmd_##name;
CLI_COMMANDS(X)
#undef X

/* The k-th command; NULL past the last. */
const cli_command *cli_command_at(size_t k);
/* The command of that name; NULL with an error in d. */
const cli_command *cli_find_command(const char *name, tf_diags *d);

void cli_help(FILE *out);
void cli_command_help(const cli_command *c, FILE *out);
#endif
