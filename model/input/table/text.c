/* Whole files as texts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "model/yaml/node.h"
#include "tileflow/spec.h"

static bool fail_file(tf_diags *d, const char *path, const char *why) {
  tf_loc at = {tf_diags_add_file(d, path, "", 0), 0, 0, 0};
  return tf_fail(d, at, TF_E_IO, "cannot read: %s", why);
}

/* An ONNX model: its first byte no YAML can have; weights make it long. */
#define MAX_BINARY ((size_t)1 << 31)
static bool is_binary(const char *text, size_t len) { return len > 0 && text[0] == 8; }

/* The whole file, malloc'd; one byte more than the limit is enough to see it is too large. */
static char *load(FILE *f, size_t *len, size_t *most) {
  size_t room = 1 << 14;
  char *text = malloc(room);
  *len = 0;
  while (text) {
    *len += fread(text + *len, 1, room - *len, f);
    if (is_binary(text, *len)) *most = MAX_BINARY;
    if (*len < room || room > *most) return text;
    room = room * 2 < *most + 1 ? room * 2 : *most + 1;
    char *bigger = realloc(text, room);
    if (!bigger) free(text);
    text = bigger;
  }
  return NULL;
}

static tf_text read_whole(FILE *f, const char *name, size_t most, tf_diags *d) {
  tf_text t = {.name = name};
  char large[40];
  errno = 0;
  char *text = load(f, &t.len, &most);
  snprintf(large, sizeof large, "larger than %zu MiB", most >> 20);
  const char *why = !text          ? "out of memory"
                    : ferror(f)    ? strerror(errno)
                    : t.len > most ? large
                                   : NULL;
  t.text = text;
  if (!why) return t;
  fail_file(d, name, why);
  free(text);
  return (tf_text){.name = name};
}

tf_text tf_text_read_most(const char *path, size_t most, tf_diags *d) {
  TF_IN_C_LOCALE;
  if (!strcmp(path, "-")) return read_whole(stdin, "<stdin>", most, d);
  FILE *f = fopen(path, "rb");
  if (!f) {
    fail_file(d, path, strerror(errno));
    return (tf_text){.name = path};
  }
  tf_text t = read_whole(f, path, most, d);
  fclose(f);
  return t;
}

tf_text tf_text_read(const char *path, tf_diags *d) {
  TF_IN_C_LOCALE;
  return tf_text_read_most(path, TF_YAML_MAX_BYTES, d);
}
