#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"

tf_diags *cli_diags(void) {
  tf_diags *d = tf_diags_new();
  if (!d) cli_complain(NULL);
  return d;
}

/* On a terminal: where to read more of the first error.  What is wrong with a command line or a
 * path says its message.
 */
static void name_why(const tf_diags *d) {
  for (size_t i = 0; i < tf_diags_count(d); i++) {
    const tf_diag *e = tf_diags_at(d, i);
    if (e->note || e->warning || e->code == TF_E_IO || e->code == TF_E_USAGE) continue;
    fprintf(stderr, "tileflow why %s: what it means, an example, the repair\n",
            tf_code_key(e->code));
    return;
  }
}

void cli_complain(const tf_diags *d) {
  char *text = d ? tf_diags_text(d) : NULL;
  const bool lost =
      d && tf_diags_errors(d) && text && !*text; /* an error that there was no memory to store */
  fputs(text && !lost ? text : "tileflow: error[E_LIMIT]: out of memory\n", stderr);
  if (d && !lost && tf_diags_errors(d) && isatty(STDERR_FILENO)) name_why(d);
  free(text);
}

cli_status cli_status_of(const tf_diags *d) {
  for (size_t i = 0; i < tf_diags_count(d); i++)
    if (tf_diags_at(d, i)->code == TF_E_IO) return CLI_FAILED;
  return CLI_BAD_INPUT;
}

void cli_complain_of(const char *path, tf_code code, const char *fmt, ...) {
  char said[128];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(said, sizeof said, fmt, ap);
  va_end(ap);
  tf_diags *d = tf_diags_new();
  if (d) tf_fail(d, (tf_loc){tf_diags_add_file(d, path, "", 0), 0, 0, 0}, code, "%s", said);
  cli_complain(d);
  tf_diags_free(d);
}
