/* Folders that are written as a whole or not at all. */
#ifndef CLI_SAFE_DIR_H
#define CLI_SAFE_DIR_H
#include "tileflow/emit.h"

/* Whether something exists at path. */
bool cli_is_there(const char *path);
/* Creates the folder `path` with those files, under a temporary name first.  Something that exists
 * at path is never touched: then false after a message on stderr, with *there set; false if the
 * disk fails. */
bool cli_safe_dir(const char *path, const tf_emitted_file *files, size_t n, bool *there);
#endif
