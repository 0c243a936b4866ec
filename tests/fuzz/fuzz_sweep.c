/* Fuzzes the reader of the section `sweep`: any text either gives a sound section or located
 * errors.  No file that it names is opened.  Without libFuzzer: standalone.h. */
#include <string.h>

#include "sweep/section/section.h"
#include "tests/fuzz/standalone.h"

/* What every section that was read must keep to; conditions are evaluated on the first values. */
static void check(const sweep_section *s) {
  sweep_value first[TF_SWEEP_AXES];
  if (!s->name || s->n_goals < 1 || s->n_over > TF_SWEEP_AXES) abort();
  for (int i = 0; i < s->n_over; i++) {
    const sweep_over *o = &s->over[i];
    if (o->n < 1 || o->n > SWEEP_MAX_VALUES || s->over[o->zip].n != o->n) abort();
    first[i] = (sweep_value){o->values[0], NULL};
  }
  for (int i = 0; i < s->n_where; i++)
    sweep_expr_holds(s->where[i].expr, first);
  for (int i = 0; i < s->workloads.n; i++)
    if (!(s->workloads.pattern[i].weight > 0)) abort();
}

static void read_section(tf_arena *a, const tf_ynode *root, tf_diags *d) {
  const tf_ynode *params = tf_ymap_get(root, "params"), *section = tf_ymap_get(root, "sweep");
  tf_reader r = {.arena = a, .diags = d, .file = 1};
  bool shared = true;
  tf_param_files files = {
      .n = params && params->kind == TF_Y_MAP, .map = &params, .shared = &shared};
  sweep_section s;
  size_t before = tf_diags_errors(d);
  if (!section || section->kind != TF_Y_MAP || !tf_params_read(&r, &files, NULL, 0)) return;
  if (tf_diags_errors(d) > before) return;
  bool ok = sweep_section_read(&r, section, &s);
  if (ok != (tf_diags_errors(d) == before)) abort();
  if (ok) check(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tf_diags *d = tf_diags_new();
  tf_arena *a = tf_arena_new();
  if (!d || !a) abort();
  char *text = tf_arena_strndup(a, size ? (const char *)data : "", size);
  const tf_ynode *root =
      tf_yaml_read(a, tf_diags_add_file(d, "fuzz.yaml", text, size), text, size, d);
  if (root && root->kind == TF_Y_MAP) read_section(a, root, d);
  free(tf_diags_text(d));
  tf_arena_free(a);
  tf_diags_free(d);
  return 0;
}
