/* The files that a command writes. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H
#include "cli/cmd/options.h"

/* Errors in d where two results go to the same file, or one over a file that is read; start: such files beside the
 * command's, may be NULL. */
void cli_check_outputs(const cli_arguments *a, const cli_paths *start, tf_diags *d);
/* Before work begins: whether the folders of the results are there and can be written to.  False after a message for
 * each that is not. */
bool cli_outputs_ready(const cli_arguments *a);
#endif
