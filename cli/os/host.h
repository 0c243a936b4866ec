/* The computer at hand, as an architecture. */
#ifndef CLI_HOST_H
#define CLI_HOST_H
#include <stdint.h>

#include "cli/text.h"
#include "tileflow/diag.h"

/* Writes an architecture of the CPU that ROOT/proc and ROOT/sys describe (root "": this computer),
 * each number with its source in a comment.  What the system does not report is measured, with its
 * spread (takes a second or two; `measures`: only for this computer), or gets a stated assumption
 * and a line in notes.  cores: how many of the computer's, with what they share; 0: all.  False
 * with an error in d if no CPU is described there, or it has fewer. */
bool cli_host_architecture(const char *root, bool measures, int64_t cores, cli_text *out,
                           cli_text *notes, tf_diags *d);
#endif
