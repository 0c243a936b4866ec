/* What unit tests read and evaluate: texts and files as specs, trees, models and figures. */
#ifndef TESTS_UNIT_CASE_H
#define TESTS_UNIT_CASE_H
#include <stdlib.h>

#include "tests/unit/check.h"
#include "tileflow/tileflow.h"

/* From the first step that failed on, all is NULL.  Starts as {0}. */
typedef struct {
  tf_diags *d;
  tf_spec *spec;
  tf_tree *tree;
  tf_model *model;
  tf_result r;
  bool ok; /* r is there */
} test_case;

static inline void case_complain(const tf_diags *d) {
  char *text = tf_diags_text(d);
  printf("%s", text ? text : "");
  free(text);
}

/* The bytes of a file, to be freed; none where it cannot be read. */
static inline char *case_file(const char *path, size_t *len) {
  enum { ROOM = 1 << 20 };
  FILE *f = fopen(path, "rb");
  char *text = calloc(1, ROOM);
  *len = f && text ? fread(text, 1, ROOM - 1, f) : 0;
  if (f) fclose(f);
  return text;
}

static inline tf_spec *case_spec(const char *text, tf_diags *d) {
  tf_text t = {"text", text, strlen(text)};
  return tf_spec_read_texts(&t, 1, NULL, 0, d);
}

/* Architecture and workload; ends the program where they are wrong. */
static inline test_case case_of(const char *arch, const char *workload) {
  test_case e = {.d = tf_diags_new()};
  tf_text texts[2] = {{"a.yaml", arch, strlen(arch)}, {"w.yaml", workload, strlen(workload)}};
  e.spec = tf_spec_read_texts(texts, 2, NULL, 0, e.d);
  if (e.spec) return e;
  case_complain(e.d);
  exit(2);
}

/* The tree and the model of e->spec, which may be NULL. */
static inline void case_prepare(test_case *e) {
  const tf_spec *s = e->spec;
  if (s && s->mapping_text) e->tree = tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, e->d);
  if (e->tree && !e->tree->open) e->model = tf_model_new(e->tree, e->d);
}

/* A text with all three sections, or NULL. */
static inline void case_read(test_case *e, const char *text) {
  if (!e->d) e->d = tf_diags_new();
  e->spec = text ? case_spec(text, e->d) : NULL;
  case_prepare(e);
}

static inline bool case_evaluate(test_case *e) { return e->ok = e->model && tf_model_eval(e->model, NULL, &e->r); }

static inline void case_drop(test_case *e) {
  tf_model_free(e->model);
  tf_tree_free(e->tree);
  tf_spec_free(e->spec);
  tf_diags_free(e->d);
  *e = (test_case){0};
}
#endif
