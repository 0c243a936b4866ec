/* Fuzzes the NPU's assembler and simulator: any bytes are a program, which the disassembler says
 * again as the same one, and which runs or has faults; or they give located errors.  Without
 * libFuzzer: standalone.h. */
#include <stdlib.h>
#include <string.h>

#define TF_FUZZ_OWN_MAIN
#include "tests/fuzz/standalone.h"
#include "tileflow/npu.h"

enum { MOST_STEPS = 300 };

static void check_text(const tf_npu *p) {
  tf_diags *d = tf_diags_new();
  char *once = tf_npu_text(p);
  if (!d || !once) abort();
  const tf_text text = {"again.npu", once, strlen(once)};
  tf_npu *same = tf_npu_read(&text, d);
  char *twice = same ? tf_npu_text(same) : NULL;
  if (!twice || strcmp(once, twice) != 0) abort();
  tf_npu_free(same);
  free(once);
  free(twice);
  tf_diags_free(d);
}

static bool is_small(const tf_npu *p) {
  tf_npu_tensor t;
  int64_t words = 0;
  for (int i = 0; tf_npu_tensor_at(p, i, &t); i++)
    words += t.words;
  return words < 1 << 20;
}

static void run(const tf_npu *p, bool timing, tf_diags *d) {
  const tf_npu_options o = {.timing_only = timing, .spans = timing, .most = MOST_STEPS};
  tf_npu_result r;
  const size_t errors = tf_diags_errors(d);
  const bool ok = tf_npu_run(p, &o, NULL, &r, d);
  if (ok != (tf_diags_errors(d) == errors) || !(r.cycles >= 0)) abort();
  for (size_t i = 0; i < r.n_spans; i++)
    if (r.spans[i].begin > r.spans[i].end || r.spans[i].end > r.cycles) abort();
  tf_npu_result_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tf_diags *d = tf_diags_new();
  const tf_text text = {"fuzz.npu", (const char *)data, size};
  tf_npu *p = tf_npu_read(&text, d);
  if (!d || (p == NULL) != (tf_diags_errors(d) > 0)) abort();
  if (p) {
    check_text(p);
    run(p, true, d);
    if (is_small(p)) run(p, false, d);
  }
  free(tf_diags_text(d));
  tf_npu_free(p);
  tf_diags_free(d);
  return 0;
}

#ifdef TF_FUZZ_STANDALONE
/* The example with a byte changed or a line left out, again and again. */
static void vary(void) {
  enum { ROOM = 1 << 14, STEP = 7 };
  static uint8_t text[ROOM], copy[ROOM];
  FILE *f = fopen("examples/product.npu", "rb");
  const size_t n = f ? fread(text, 1, ROOM, f) : 0;
  if (n == 0) abort();
  fclose(f);
  for (size_t i = 0; i < n; i += STEP) {
    memcpy(copy, text, n);
    copy[i] = (uint8_t) "09-+*:[]@ x#\n"[i % 13];
    LLVMFuzzerTestOneInput(copy, n);
  }
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i; end < n && text[end++] != '\n';) {
    }
    memcpy(copy, text, i);
    memcpy(copy + i, text + end, n - end);
    LLVMFuzzerTestOneInput(copy, n - (end - i));
  }
}

int main(int argc, char **argv) {
  vary();
  return run_files(argc - 1, argv + 1);
}
#endif
