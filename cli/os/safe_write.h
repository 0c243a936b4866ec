/* Files that are written as a whole or not at all. */
#ifndef CLI_SAFE_WRITE_H
#define CLI_SAFE_WRITE_H
#include "cli/text.h"

/* Writes text to path ("-": stdout) through a temporary file in the same folder, so that a failure leaves the old file
 * as it was.  What is no regular file (a pipe, /dev/null) is written to directly.  False after a message on stderr. */
bool cli_safe_write(const char *path, const cli_text *text);
/* The same, and frees the text. */
bool cli_put_text(const char *path, cli_text *text);
#endif
