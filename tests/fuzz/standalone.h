/* With -DTF_FUZZ_STANDALONE, for compilers without libFuzzer: runs the fuzzer over files.  A fuzzer
 * that has more to do than that defines TF_FUZZ_OWN_MAIN and calls run_files from its own main. */
#ifndef TESTS_FUZZ_STANDALONE_H
#define TESTS_FUZZ_STANDALONE_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

static int run_files(int n, char **paths) {
  int status = 0;
  for (int i = 0; i < n; i++)
    status |= run_file(paths[i]);
  return status;
}

#ifndef TF_FUZZ_OWN_MAIN
int main(int argc, char **argv) { return run_files(argc - 1, argv + 1); }
#endif
#endif
#endif
