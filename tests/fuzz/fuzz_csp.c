/* Fuzzes the text of constraint systems: any text either gives a system that prints and reads back
 * alike, or located errors; what is propagated, and a sample of small systems, keep the rules. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/standalone.h"
#include "tune/csp/csp.h"

static csp *read_text(tf_arena *a, const char *text, size_t len, tf_diags *d) {
  return csp_read(a, NULL, tf_diags_add_file(d, "x.csp", text, len), text, len, d);
}

/* Few variables of few values: to look for a solution takes no time. */
static bool small(const csp *s) {
  bool ok = s->n_vars < 10 && s->n_rules < 8;
  for (int v = 0; v < s->n_vars; v++)
    ok &= s->var[v].hi - s->var[v].lo < 100;
  return ok;
}

static void check(const csp *s, tf_arena *a, tf_diags *d) {
  char *text = csp_text(s);
  const csp *again = text ? read_text(a, text, strlen(text), d) : NULL;
  char *twice = again ? csp_text(again) : NULL;
  if (!twice || strcmp(text, twice) != 0) abort();
  csp_state st;
  int64_t *value = TF_ARRAY(a, int64_t, (size_t)s->n_vars + 1);
  tf_rng rng = tf_rng_new(1, 1);
  if (!value || !csp_state_new(s, a, &st)) abort();
  if (small(s) && csp_propagate_all(s, &st) && csp_sample(s, NULL, &rng, value) == CSP_FOUND &&
      !csp_holds(s, value))
    abort();
  free(text);
  free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tf_diags *d = tf_diags_new();
  tf_arena *a = tf_arena_new();
  char *text = malloc(size + 1);
  if (!d || !a || !text) abort();
  memcpy(text, data, size);
  text[size] = '\0';
  const csp *s = read_text(a, text, size, d);
  if ((s == NULL) != (tf_diags_errors(d) > 0)) abort();
  if (s) check(s, a, d);
  free(tf_diags_text(d));
  free(text);
  tf_arena_free(a);
  tf_diags_free(d);
  return 0;
}
