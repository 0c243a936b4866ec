#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

void cli_complain(const tf_diags *d) {
  char *text = d ? tf_diags_text(d) : NULL;
  const bool lost =
      d && tf_diags_errors(d) && text && !*text; /* an error that could not be stored for lack of memory */
  fputs(text && !lost ? text : "tileflow: error[E_LIMIT]: out of memory\n", stderr);
  free(text);
}
