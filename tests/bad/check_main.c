/* What `tileflow check` does for the spec alone: reads the files, prints the diagnostics.
 * Serves tests/bad/run.sh where the CLI is not built. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tileflow/spec.h"
#include "tileflow/tree.h"

enum { MAX_ARGS = 64 };

int main(int argc, char **argv) {
  const char *paths[MAX_ARGS];
  tf_setting set[MAX_ARGS];
  size_t n_paths = 0, n_set = 0;
  for (int i = 1; i < argc && i < MAX_ARGS; i++) {
    if (strcmp(argv[i], "check") == 0) continue;
    if (strcmp(argv[i], "--set") != 0 || i + 1 == argc) {
      paths[n_paths++] = argv[i];
      continue;
    }
    char *equals = strchr(argv[++i], '=');
    if (!equals) return 2;
    *equals = '\0';
    set[n_set++] = (tf_setting){argv[i], equals + 1};
  }
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read(paths, n_paths, set, n_set, d);
  char *text = tf_diags_text(d);
  if (text) fputs(text, stderr);
  int status = tf_diags_errors(d) ? 2 : 0;
  free(text);
  tf_spec_free(s);
  tf_diags_free(d);
  return status;
}
