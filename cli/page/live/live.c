/* The model in a page: what `eval --html PAGE --live` puts there, compiled to WebAssembly (cli/page/live/build.sh). The
 * page passes its files as they are edited; what comes back is what its pictures are drawn from. */
#include <stdlib.h>

#include "cli/page/page.h"
#include "cli/report/report.h"
#include "tileflow/tree.h"

#define EXPORTED __attribute__((visibility("default")))
char *live_eval(const char *json);

enum { FILES_MOST = 16, SETTINGS_MOST = 64 };
typedef struct {
  tf_text texts[FILES_MOST];
  tf_setting set[SETTINGS_MOST];
  size_t n, n_set;
} inputs;

/* Reads {"files": [{"name", "text"}, ..], "set": {NAME: VALUE, ..}}; the texts are those of `root`. */
static inputs inputs_of(const json_t *root) {
  inputs in = {.n = 0};
  size_t i;
  json_t *file, *value;
  const char *name;
  json_array_foreach(json_object_get(root, "files"), i, file) {
    const json_t *text = json_object_get(file, "text");
    if (in.n < FILES_MOST)
      in.texts[in.n++] = (tf_text){.name = json_string_value(json_object_get(file, "name")),
                                   .text = json_string_value(text),
                                   .len = json_string_length(text)};
  }
  json_object_foreach(json_object_get(root, "set"), name, value) {
    if (in.n_set < SETTINGS_MOST) in.set[in.n_set++] = (tf_setting){.name = name, .value = json_string_value(value)};
  }
  return in;
}

static bool counted(cli_session *s) {
  static const tf_loc nowhere = {0};
  const tf_spec *p = s->spec;
  if (!p) return false;
  if (!p->arch || !p->workload || !p->mapping_text)
    return tf_fail(s->diags, nowhere, TF_E_MISSING, "an architecture, a workload and a mapping are needed");
  s->tree = tf_tree_parse(p->mapping_text, p->mapping_at, p->arch, p->workload, s->diags);
  if (!s->tree) return false;
  const tf_loc at = s->tree->nodes[0].at;
  if (s->tree->open)
    return tf_fail(s->diags, at, TF_E_OPEN,
                   "a page evaluates a mapping, and looks for none: all trip counts must be given");
  s->model = tf_model_new(s->tree, s->diags);
  if (!s->model) return false;
  if (!tf_model_eval(s->model, NULL, &s->result) && !s->result.overflow)
    return tf_fail(s->diags, at, TF_E_COVER, "the trip counts do not reach the extents");
  if (s->result.overflow) return tf_fail(s->diags, at, TF_E_OVERFLOW, "a count of this mapping passes 2^63 - 1");
  if (tf_model_gave_up(s->model)) return tf_fail(s->diags, at, TF_E_LIMIT, "this mapping takes too long to count");
  tf_why_of(s->model, &s->why); /* unknown causes are none */
  return tf_bounds_find(p->arch, p->workload, &s->bounds, s->diags);
}

/* {"mapping": what page_mapping says, "says": warnings}, or {"says": the errors}; to be freed; NULL: out of memory. */
EXPORTED char *live_eval(const char *json) {
  json_t *root = json_loads(json, 0, NULL);
  const inputs in = inputs_of(root);
  cli_session s = {.diags = tf_diags_new(), .origin = "given"};
  if (s.diags) s.spec = tf_spec_read_texts(in.texts, in.n, in.set, in.n_set, s.diags);
  json_t *out = json_object();
  if (s.diags && counted(&s)) json_object_set_new(out, "mapping", page_mapping(&s));
  char *says = s.diags && tf_diags_count(s.diags) ? tf_diags_text(s.diags) : NULL;
  if (says) json_object_set_new(out, "says", json_string(says));
  free(says);
  tf_why_free(&s.why);
  tf_model_free(s.model);
  tf_tree_free(s.tree);
  tf_spec_free(s.spec);
  tf_diags_free(s.diags);
  json_decref(root);
  char *text = json_dumps(out, JSON_COMPACT | JSON_REAL_PRECISION(12));
  json_decref(out);
  return text;
}
