/* Files that are written as a whole or not at all. */
#ifndef CLI_SAFE_WRITE_H
#define CLI_SAFE_WRITE_H
#include <stdio.h>

#include "cli/text.h"

/* An error in d where a regular file is at the path (NULL: none is asked for) already: --force
 * writes over it. */
void cli_refuse_over(const char *path, bool force, tf_diags *d);
/* Writes text to path ("-": stdout) through a temporary file in the same folder, so that a failure
 * leaves the old file as it was.  What is no regular file (a pipe, /dev/null) is written to
 * directly.  False after a message on stderr. */
bool cli_safe_write(const char *path, const cli_text *text);
/* The same with all that the file holds, from its beginning. */
bool cli_safe_copy(const char *path, FILE *from);
/* A file without a name, to be read and written, for what may be too long for memory and is then
 * copied to path: beside it, where a regular file can be; NULL with errno. */
FILE *cli_scratch(const char *path);
/* The same, and frees the text. */
bool cli_put_text(const char *path, cli_text *text);
#endif
