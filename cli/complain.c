#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

tf_diags *cli_diags(void) {
  tf_diags *d = tf_diags_new();
  if (!d) cli_complain(NULL);
  return d;
}

void cli_complain(const tf_diags *d) {
  char *text = d ? tf_diags_text(d) : NULL;
  const bool lost =
      d && tf_diags_errors(d) && text && !*text; /* an error that could not be stored for lack of memory */
  fputs(text && !lost ? text : "tileflow: error[E_LIMIT]: out of memory\n", stderr);
  free(text);
}
