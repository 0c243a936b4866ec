/* Fuzzes the reader of specs: any bytes either give a spec or located errors.
 * Input: texts split at byte 0x01; a part that starts with 0x02 is a setting "NAME=VALUE".
 * Without libFuzzer: standalone.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/standalone.h"
#include "tileflow/spec.h"

enum { MAX_PARTS = 4 };

typedef struct {
  tf_text texts[MAX_PARTS];
  tf_setting set[MAX_PARTS];
  size_t n_texts, n_set;
} input;

static void add_part(input *in, char *part, size_t len) {
  char *equals = len && part[0] == 2 ? memchr(part, '=', len) : NULL;
  if (equals && in->n_set < MAX_PARTS) {
    *equals = '\0';
    in->set[in->n_set++] = (tf_setting){part + 1, equals + 1};
  } else if (in->n_texts < MAX_PARTS) {
    in->texts[in->n_texts++] = (tf_text){"fuzz.yaml", part, len};
  }
}

/* What every spec that was read must keep to. */
static void check(const tf_spec *s) {
  const tf_workload *wl = s->workload;
  for (int o = 0; wl && o < wl->n_ops; o++) {
    const tf_op *op = &wl->ops[o];
    if (op->n_expr < 1 || op->kinds == 0 || wl->tensors[op->out].producer != o) abort();
    for (int i = 0; i < op->n_expr; i++)
      for (int k = 0; k < op->expr[i].n_args; k++)
        if (op->expr[i].arg[k] >= i) abort();
  }
  for (int t = 0; wl && t < wl->n_tensors; t++)
    for (int r = 0; r < wl->tensors[t].rank; r++)
      if (wl->tensors[t].extent[r] < 1 || wl->tensors[t].pad[r] < 0) abort();
  for (int m = 0; s->arch && m < s->arch->n_memories; m++)
    if (!(s->arch->memories[m].read_bw > 0) || !s->arch->memories[m].name) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {.n_texts = 0};
  char *copy = malloc(size + 1);
  tf_diags *d = tf_diags_new();
  if (!copy || !d) abort();
  if (size) memcpy(copy, data, size);
  copy[size] = '\0';
  for (size_t from = 0, i = 0; i <= size; i++) {
    if (i < size && data[i] != 1) continue;
    copy[i] = '\0';
    add_part(&in, copy + from, i - from);
    from = i + 1;
  }
  tf_spec *s = tf_spec_read_texts(in.texts, in.n_texts, in.set, in.n_set, d);
  if ((s == NULL) != (tf_diags_errors(d) > 0)) abort();
  if (s) check(s);
  free(tf_diags_text(d));
  tf_spec_free(s);
  tf_diags_free(d);
  free(copy);
  return 0;
}
