#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

void cli_complain(const tf_diags *d) {
  char *text = tf_diags_text(d);
  fputs(text ? text : "tileflow: error[E_LIMIT]: out of memory\n", stderr);
  free(text);
}
