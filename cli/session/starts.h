/* --start: mappings for a search to begin with. */
#ifndef CLI_STARTS_H
#define CLI_STARTS_H
#include "cli/cli.h"

/* Reads the mapping of each file into s->starts: native YAML, what search or solve printed, or the
 * JSON of eval, solve and search (mapping.text).  CLI_BAD_INPUT with every error of every file on
 * stderr. */
cli_status cli_read_starts(cli_session *s, const cli_paths *files);
/* Takes ownership of the tree.  False: out of memory. */
bool cli_starts_add(cli_starts *s, tf_tree *tree);
void cli_starts_free(cli_starts *s);
#endif
