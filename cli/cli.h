/* The command line: exit status, what the user asked for, what one run holds. */
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include "tileflow/tileflow.h"

/* Interrupted is 130, and the shell gives it: no command here has results to save. */
typedef enum {
  CLI_DONE = 0,
  CLI_FAILED = 1,    /* the tool or the machine */
  CLI_BAD_INPUT = 2, /* usage or files */
  CLI_INFEASIBLE = 3
} cli_status;

/* What the arguments after the command say.  A path is NULL if not asked for, "-" for stdout.
 */
typedef struct {
  const char **files;
  size_t n_files;
  tf_setting *set;
  size_t n_set;
  const char *json, *csv, *svg, *dot;
  bool quiet, help;
} cli_options;

/* Everything one run reads and makes.  result and bounds are valid after cli_evaluate. */
typedef struct {
  tf_diags *diags;
  tf_spec *spec;
  tf_tree *tree; /* NULL unless all three sections are there */
  tf_model *model;
  tf_result result;
  tf_bounds bounds;
} cli_session;

/* Reads the files and, where all three sections are given, the tree.  Errors go to stderr.
 * To be closed whatever it returns. */
cli_status cli_open(cli_session *s, const cli_options *o);
/* cli_open, then evaluates; a missing section or an open trip count is an error. */
cli_status cli_evaluate(cli_session *s, const cli_options *o);
void cli_close(cli_session *s);

/* Prints the diagnostics to stderr. */
void cli_complain(const tf_diags *d);

cli_status cmd_eval(const cli_options *o);
cli_status cmd_check(const cli_options *o);
cli_status cmd_tree(const cli_options *o);
cli_status cmd_bound(const cli_options *o);
#endif
