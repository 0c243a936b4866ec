/* Files that are written whole or not at all. */
#ifndef CLI_SAFE_WRITE_H
#define CLI_SAFE_WRITE_H
#include "cli/text.h"

/* Writes text to path ("-": stdout) through a temporary file in the same folder, so that a
 * failure leaves what stood there as it was.  What is no regular file (a pipe, /dev/null) is
 * written to as it is.  False after a message on stderr. */
bool cli_safe_write(const char *path, const cli_text *text);
/* The same of a text that is done with: frees it. */
bool cli_put_text(const char *path, cli_text *text);
#endif
