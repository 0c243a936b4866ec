/* Fuzzes the reader of search logs: any bytes are a log, read up to its last whole record, or give
 * one located error.  With -DTF_FUZZ_STANDALONE a main runs the files it is given, and some of its
 * own with every byte cut off or changed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search/run/log.h"
#define TF_FUZZ_OWN_MAIN
#include "tests/fuzz/standalone.h"

static const tf_log_head head = {"ga-mcts", "latency", 1, 0x0123456789abcdef};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tf_diags *d = tf_diags_new();
  tf_log log;
  bool ok = tf_log_read("log", (const char *)data, size, &head, &log, d);
  if (ok != (tf_diags_errors(d) == 0) || log.whole > size) abort();
  for (int i = 0; ok && i < log.n; i++) {
    if (tf_log_find(&log, log.tasks[i].no) != &log.tasks[i]) abort();
    for (int by = 0; by < TF_N_BY; by++)
      for (int k = 0; log.tasks[i].best[by].there && k < log.tasks[i].best[by].n_trips; k++)
        if (log.tasks[i].best[by].trips[k] < 1) abort();
  }
  free(tf_diags_text(d));
  tf_log_free(&log);
  tf_diags_free(d);
  return 0;
}

#ifdef TF_FUZZ_STANDALONE
static const char *const sound = "tileflow-search-log 1 ga-mcts latency 1 0123456789abcdef\n"
                                 "task 0 00000000000000ff 1024 0 0x1.8p+10 2\n"
                                 "best 0 0x1.8p+10 0x1.8p+10 0x1p+20 0x1p-3 0x1p+9 0x0p+0 4 8 1\n"
                                 "best 2 0x1.8p+10 0x1.8p+10 0x1p+20 0x1p-3 0x1p+9 0x0p+0 4 8 1\n"
                                 "end 0\n"
                                 "task 3 00000000000000fe 7 1 0x1p+200 0\n"
                                 "end 3\n"
                                 "task 1 00000000000000fd 7 1 inf 0\n"
                                 "end 1\n";

static void vary(void) {
  size_t n = strlen(sound);
  uint8_t *copy = malloc(n + 1);
  if (!copy) abort();
  for (size_t i = 0; i <= n; i++) {
    memcpy(copy, sound, n);
    LLVMFuzzerTestOneInput(copy, i);
    for (int c = 0; c < 256 && i < n; c += 7) {
      copy[i] = (uint8_t)c;
      LLVMFuzzerTestOneInput(copy, n);
    }
  }
  free(copy);
}

int main(int argc, char **argv) {
  tf_diags *d = tf_diags_new();
  tf_log log;
  if (!tf_log_read("log", sound, strlen(sound), &head, &log, d) || log.n != 3) abort();
  tf_log_free(&log);
  tf_diags_free(d);
  vary();
  return run_files(argc - 1, argv + 1);
}
#endif
