/* The files of a command. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H
#include "cli/cli.h"

/* All files named, in their order, for cli_free_texts; "-" is stdin, once.  False with errors in d. */
bool cli_read_texts(const cli_input *in, tf_text **texts, tf_diags *d);
void cli_free_texts(tf_text *texts, size_t n);

/* What the files say, native ones and those of Timeloop and TileFlow, as `import` reads them: its warnings and errors
 * go to stderr.  NULL after an error, the others in d. */
tf_spec *cli_read_spec(const cli_input *in, tf_diags *d);
/* The same of files that have been read. */
tf_spec *cli_spec_of(const cli_input *in, const tf_text *texts, tf_diags *d);
/* The first that holds a plan of a network; NULL: none does. */
const tf_text *cli_find_plan(const cli_input *in, const tf_text *texts);
#endif
