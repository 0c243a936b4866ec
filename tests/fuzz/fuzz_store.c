/* Fuzzes the reader of stores: any bytes are a store that is read, or give an error.  With
 * -DTF_FUZZ_STANDALONE a main makes a sound store and reads it with bytes changed and cut off. */
#include <string.h>
#include <unistd.h>

#include "tileflow/sweep.h"
#define TF_FUZZ_OWN_MAIN
#include "tests/fuzz/standalone.h"

static void name_file(char *path, size_t size, const char *what) {
  snprintf(path, size, "/tmp/fuzz-store-%ld%s", (long)getpid(), what);
}

static bool check_row(void *ctx, const tf_sweep_row *r) {
  (void)ctx;
  return r->point >= 0 || (abort(), false);
}

static void read_store(const char *path) {
  tf_diags *d = tf_diags_new();
  if (!d) abort();
  tf_store *s = tf_store_open(path, d);
  if (!s && tf_diags_errors(d) == 0) abort();
  if (s) {
    tf_condition *c = tf_condition_read("cycles > 1 and state == 'found'", s, d);
    if (!c) abort();
    tf_store_rows(s, check_row, NULL, d);
    free(tf_store_mapping(s, 0, d));
    tf_sweep_summary_free(tf_sweep_summary_of(s, d));
    tf_condition_free(c);
  }
  tf_store_close(s);
  free(tf_diags_text(d));
  tf_diags_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  name_file(path, sizeof path, ".tfdb");
  FILE *f = fopen(path, "wb");
  if (!f) abort();
  if (size) fwrite(data, 1, size, f);
  fclose(f);
  read_store(path);
  unlink(path);
  return 0;
}

#ifdef TF_FUZZ_STANDALONE
static const char sound[] = "params: {side: 2}\n"
                            "sweep: {method: bound, over: {side: [1, 2, 3]}}\n"
                            "architecture:\n"
                            "  memories: [{name: DRAM}, {name: L1, capacity: 1 KiB}]\n"
                            "  compute: [{name: mac, ops: [mac], mesh: [side, 1]}]\n"
                            "workload: {dims: {m: 4, k: 4}, ops: ['C[m] += A[m,k] * B[k]']}\n";

static void make_sound(const char *store) {
  char yaml[64];
  const char *path = yaml;
  name_file(yaml, sizeof yaml, ".yaml");
  FILE *f = fopen(yaml, "w");
  if (!f) abort();
  fputs(sound, f);
  fclose(f);
  tf_diags *d = tf_diags_new();
  tf_sweep *s = tf_sweep_read(&path, 1, NULL, 0, d);
  tf_store *st = s ? tf_store_of(store, s, d) : NULL;
  if (!st || !tf_sweep_run(s, st, &(tf_sweep_opts){.threads = 1}, NULL, d)) abort();
  tf_store_close(st);
  tf_sweep_free(s);
  tf_diags_free(d);
  unlink(yaml);
}

static void vary(void) {
  enum { STEP = 331 };
  char store[64];
  name_file(store, sizeof store, "-sound.tfdb");
  make_sound(store);
  uint8_t *data = malloc(1 << 20);
  FILE *f = fopen(store, "rb");
  size_t n = f && data ? fread(data, 1, 1 << 20, f) : 0;
  if (n == 0) abort();
  fclose(f);
  unlink(store);
  for (size_t i = 0; i < n; i += i < 120 ? 1 : STEP) {
    uint8_t was = data[i];
    data[i] = (uint8_t)(was ^ (1 + i % 255));
    LLVMFuzzerTestOneInput(data, n);
    data[i] = was;
    if (i % 5 == 0) LLVMFuzzerTestOneInput(data, i);
  }
  free(data);
}

int main(int argc, char **argv) {
  vary();
  return run_files(argc - 1, argv + 1);
}
#endif
