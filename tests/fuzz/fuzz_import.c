/* Fuzzes the importer of Timeloop's files: any bytes give either a native text, which the native reader takes or
 * refuses with located errors, or located errors.
 * Without libFuzzer: standalone.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/standalone.h"
#include "tileflow/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *copy = malloc(size + 1);
  tf_diags *d = tf_diags_new();
  if (!copy || !d) abort();
  if (size) memcpy(copy, data, size);
  copy[size] = '\0';
  tf_text foreign = {"fuzz.yaml", copy, size};
  char *native = tf_import_timeloop(&foreign, 1, d);
  if ((native == NULL) != (tf_diags_errors(d) > 0)) abort();
  free(tf_diags_text(d));
  if (native) {
    tf_text t = {"native.yaml", native, strlen(native)};
    tf_spec *s = tf_spec_read_texts(&t, 1, NULL, 0, d);
    if ((s == NULL) != (tf_diags_errors(d) > 0)) abort();
    tf_spec_free(s);
  }
  free(native);
  tf_diags_free(d);
  free(copy);
  return 0;
}
