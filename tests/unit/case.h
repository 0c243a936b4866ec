/* What unit tests read and evaluate: texts and files as specs, trees, models and figures. */
#ifndef TESTS_UNIT_CASE_H
#define TESTS_UNIT_CASE_H
#include <stdlib.h>

#include "tests/unit/check.h"
#include "tileflow/model.h"
#include "tileflow/tree.h"

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

/* Where a text of any length is written; *text is there, to be freed, when it is closed. */
static inline FILE *case_text(char **text) {
  static size_t size;
  FILE *f = open_memstream(text, &size);
  if (!f) exit(2);
  return f;
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
  if (s && s->mapping_text)
    e->tree = tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, e->d);
  if (e->tree && !e->tree->open) e->model = tf_model_new(e->tree, e->d);
}

/* A text with all three sections, or NULL. */
static inline void case_read(test_case *e, const char *text) {
  if (!e->d) e->d = tf_diags_new();
  e->spec = text ? case_spec(text, e->d) : NULL;
  case_prepare(e);
}

static inline bool case_evaluate(test_case *e) {
  return e->ok = e->model && tf_model_eval(e->model, NULL, &e->r);
}

static inline void case_drop(test_case *e) {
  tf_model_free(e->model);
  tf_tree_free(e->tree);
  tf_spec_free(e->spec);
  tf_diags_free(e->d);
  *e = (test_case){0};
}

/* ---- trees that are the same, place apart -------------------------------------------- */
static inline bool case_same_list(const tf_named *a, const tf_named *b, int n, int m) {
  bool same = n == m;
  for (int i = 0; same && i < n; i++)
    same = a[i].tensor == b[i].tensor;
  return same;
}

static inline bool case_same_loop(const tf_loop *a, const tf_loop *b) {
  bool same = a->dim == b->dim && a->axis == b->axis && a->trip == b->trip && a->max == b->max;
  same = same && a->n_choices == b->n_choices;
  for (int c = 0; same && c < a->n_choices; c++)
    same = a->choices[c] == b->choices[c];
  return same;
}

static inline bool case_same_node(const tf_node *x, const tf_node *y) {
  bool same = x->kind == y->kind && x->parent == y->parent && x->child_no == y->child_no &&
              x->n_children == y->n_children && x->end == y->end && x->op == y->op &&
              x->level == y->level && x->scope == y->scope && x->scope_open == y->scope_open &&
              x->order_open == y->order_open && x->n_loops == y->n_loops &&
              x->n_temporal == y->n_temporal && x->n_keep == y->n_keep;
  same = same && case_same_list(x->bypass, y->bypass, x->n_bypass, y->n_bypass);
  same = same && case_same_list(x->retain, y->retain, x->n_retain, y->n_retain);
  same = same && case_same_list(x->stream, y->stream, x->n_stream, y->n_stream);
  for (int k = 0; same && k < x->n_keep; k++)
    same = x->keep[k].tensor == y->keep[k].tensor && x->keep[k].level == y->keep[k].level;
  for (int k = 0; same && k < x->n_loops; k++)
    same = case_same_loop(&x->loops[k], &y->loops[k]) &&
           (x->loops[k].axis == TF_TEMPORAL) == (k < x->n_temporal);
  for (int k = 0; same && k < x->n_children; k++)
    same = x->children[k] == y->children[k];
  return same;
}

static inline bool case_same_tree(const tf_tree *a, const tf_tree *b) {
  bool same = a->n_nodes == b->n_nodes && a->open == b->open;
  for (int i = 0; same && i < a->n_nodes; i++)
    same = case_same_node(&a->nodes[i], &b->nodes[i]);
  for (int o = 0; same && o < a->workload->n_ops; o++)
    same = a->op_node[o] == b->op_node[o];
  return same;
}
#endif
