/* Fuzzes the importers of foreign files: any bytes, an ONNX model or cut into several texts at form
 * feeds, give either a native text, which the native reader takes or refuses with located errors,
 * or located errors. Without libFuzzer: standalone.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/standalone.h"
#include "tileflow/import.h"

enum { MAX_TEXTS = 3 };

static size_t cut(char *copy, size_t size, tf_text *texts) {
  size_t n = 0, from = 0;
  texts[0] = (tf_text){"fuzz.onnx", copy, size};
  if (tf_import_is_onnx(&texts[0])) return 1;
  while (n < MAX_TEXTS) {
    char *feed = n + 1 < MAX_TEXTS ? memchr(copy + from, '\f', size - from) : NULL;
    size_t end = feed ? (size_t)(feed - copy) : size;
    copy[end] = '\0';
    texts[n++] = (tf_text){"fuzz.yaml", copy + from, end - from};
    if (!feed) break;
    from = end + 1;
  }
  return n;
}

/* The model's weights: a file, or errors. */
static void pack(const tf_text *model) {
  char *file = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&file, &size);
  tf_diags *d = tf_diags_new();
  if (!f || !d) abort();
  const bool ok = tf_import_onnx_weights(model, NULL, 0, model->len % 2 ? "bf16" : NULL, f, d);
  if (fclose(f) != 0 || ok == (tf_diags_errors(d) > 0) || (ok && size < 40)) abort();
  free(file);
  tf_diags_free(d);
}

/* Settings that are the model's stand first, and the others keep their order. */
static void set_axes(const tf_text *model) {
  tf_setting set[] = {{"a", "1"}, {"batch", "2"}, {"b", "3"}, {"x_0", "4"}};
  const size_t n = tf_import_onnx_axes(model, set, 4);
  bool after = n > 4;
  for (size_t i = 1; i < 4; i++)
    after |= i != n && *set[i].value < *set[i - 1].value;
  if (after) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *copy = malloc(size + 1);
  tf_diags *d = tf_diags_new();
  tf_text foreign[MAX_TEXTS];
  if (!copy || !d) abort();
  if (size) memcpy(copy, data, size);
  copy[size] = '\0';
  char *native = tf_import(foreign, cut(copy, size, foreign), NULL, 0, d);
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
  if (tf_import_is_onnx(&foreign[0])) {
    pack(&foreign[0]);
    set_axes(&foreign[0]);
  }
  free(copy);
  return 0;
}
