/* emit of a network's plan: a folder with a kernel for each distinct group and network.c. */
#ifndef CLI_NETWORK_H
#define CLI_NETWORK_H
#include "cli/cli.h"
#include "tileflow/emit.h"

/* Whether a file of the command holds a plan. */
bool cli_has_plan(const cli_input *in);
cli_status cli_emit_network(const cli_input *in, const char *out, const char *target, const tf_emit_options *o);
#endif
