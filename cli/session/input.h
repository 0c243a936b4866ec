/* The files of a command. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H
#include "cli/cli.h"
#include "cli/text.h"

/* Reads all files named, in order; to be freed by cli_free_texts; "-" is stdin, once.  False with
 * errors in d. */
bool cli_read_texts(const cli_input *in, tf_text **texts, tf_diags *d);
void cli_free_texts(tf_text *texts, size_t n);

/* Reads the files; those of Timeloop and TileFlow as `import` does, with its warnings and errors on
 * stderr.  NULL after an error; other errors in d. */
tf_spec *cli_read_spec(const cli_input *in, tf_diags *d);
/* The same for files already read. */
tf_spec *cli_spec_of(const cli_input *in, const tf_text *texts, tf_diags *d);
/* The settings as options of a command: " --set NAME=VALUE" each. */
void cli_put_settings(cli_text *out, const cli_input *in);
/* The first file that holds a plan of a network; NULL: none. */
const tf_text *cli_find_plan(const cli_input *in, const tf_text *texts);
#endif
