/* The arguments after the command. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H
#include <stdio.h>

#include "cli/cmd/commands.h"

/* Sorts n arguments into out, which borrows them (and cuts NAME=VALUE apart).  False with
 * every error in d.  To be freed whatever it returns. */
bool cli_options_read(cli_options *out, const cli_command *c, int n, char **args, tf_diags *d);
void cli_options_free(cli_options *o);

/* A line for each option that the command takes. */
void cli_options_help(unsigned command, FILE *out);
#endif
