/* Fuzzes the importer of Timeloop's files: any bytes give either a native text, which the native reader takes or
 * refuses with located errors, or located errors.
 * With -DTF_FUZZ_STANDALONE a main runs the files it is given, for compilers without libFuzzer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tileflow/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

#ifdef TF_FUZZ_STANDALONE
static int run_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return 1;
  uint8_t *data = malloc(1 << 20);
  size_t n = data ? fread(data, 1, 1 << 20, f) : 0;
  fclose(f);
  if (data) LLVMFuzzerTestOneInput(data, n);
  free(data);
  return 0;
}

int main(int argc, char **argv) {
  int status = 0;
  for (int i = 1; i < argc; i++)
    status |= run_file(argv[i]);
  return status;
}
#endif
