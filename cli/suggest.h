/* A mapping to start from. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H
#include <stdio.h>

#include "cli/cli.h"

/* Prints the smallest mapping that this architecture and workload accept: one op after the
 * other, every loop at the outermost memory. */
void cli_suggest_mapping(const tf_spec *spec, FILE *out);
#endif
