/* Names in mapping texts: what they refer to, and the nearest name if they refer to nothing. */
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "model/tree/parse.h"

static const tf_scope_row scopes[TF_N_SCOPES] = {
#define X(id, key, words, time, drops, at_once, feeds)                                             \
  [TF_##id] = {key, TF_HELD_##words, TF_TAKES_##time, drops, at_once, feeds},
    TF_SCOPES(X)
#undef X
};

const tf_scope_row *tf_scope_at(tf_scope s) { return &scopes[s]; }

static bool same_word(const char *name, const char *text, size_t len) {
  return strlen(name) == len && memcmp(name, text, len) == 0;
}

tf_scope tf_scope_find(const char *word, size_t len) {
  int s = 0;
  while (s < TF_N_SCOPES && !same_word(scopes[s].key, word, len))
    s++;
  return (tf_scope)s;
}

/* The i-th name of one kind; past the last, NULL. */
typedef const char *(*name_at)(const tf_tree *t, int i);

static const char *level_at(const tf_tree *t, int i) {
  return i < t->arch->n_memories ? t->arch->memories[i].name : NULL;
}

/* What may open a line: memories, then the keywords of scopes and leaves. */
static const char *head_at(const tf_tree *t, int i) {
  int s = i - t->arch->n_memories;
  if (s < 0) return level_at(t, i);
  return s < TF_N_SCOPES ? scopes[s].key : s == TF_N_SCOPES ? "op" : NULL;
}

static const char *dim_at(const tf_tree *t, int i) {
  return i < t->workload->n_dims ? t->workload->dims[i].name : NULL;
}

static const char *tensor_at(const tf_tree *t, int i) {
  return i < t->workload->n_tensors ? t->workload->tensors[i].name : NULL;
}

static const char *op_at(const tf_tree *t, int i) {
  return i < t->workload->n_ops ? t->workload->ops[i].name : NULL;
}

static int find_name(const tf_tree *t, const tf_mtok *tok, name_at names) {
  const char *name;
  for (int i = 0; (name = names(t, i)) != NULL; i++)
    if (same_word(name, tok->text, tok->len)) return i;
  return -1;
}

static int fail(tf_build *b, const tf_mtok *tok, const char *what, name_at names) {
  tf_near near = tf_near_start(tok->text, tok->len);
  char hint[96];
  const char *name;
  for (int i = 0; (name = names(b->tree, i)) != NULL; i++)
    tf_near_offer(&near, name);
  int len = tok->len < 60 ? (int)tok->len : 60;
  tf_fail(b->diags, tok->at, TF_E_NAME, "no %s '%.*s'%s", what, len, tok->text,
          tf_near_text(&near, hint, sizeof hint));
  return -1;
}

static int find_or_fail(tf_build *b, const tf_mtok *t, const char *what, name_at names) {
  const int i = find_name(b->tree, t, names);
  return i >= 0 ? i : fail(b, t, what, names);
}

int tf_mapping_head(tf_build *b, const tf_mtok *t) {
  const int i = find_name(b->tree, t, level_at);
  return i >= 0 ? i : fail(b, t, "memory or scope", head_at);
}

int tf_mapping_level(tf_build *b, const tf_mtok *t) {
  return find_or_fail(b, t, "memory", level_at);
}
/* A dim that was cut (model/input/cut) is written by its parts: fills `list` with their names. */
static bool parts_named(const tf_build *b, const tf_mtok *t, char *list, size_t room) {
  const tf_workload *wl = b->tree->workload;
  size_t n = 0;
  for (int d = 0; d < wl->n_dims && n < room; d++) {
    const char *name = wl->dims[d].name;
    if (strncmp(name, t->text, t->len) != 0) continue;
    if (strncmp(name + t->len, "_div", 4) != 0 && strncmp(name + t->len, "_mod", 4) != 0) continue;
    n += (size_t)snprintf(list + n, room - n, "%s%.60s=%lld", n ? " " : "", name,
                          (long long)wl->dims[d].extent);
  }
  return n > 0;
}

int tf_mapping_dim(tf_build *b, const tf_mtok *t) {
  char list[160];
  const int i = find_name(b->tree, t, dim_at);
  if (i >= 0) return i;
  if (!parts_named(b, t, list, sizeof list)) return fail(b, t, "dim", dim_at);
  tf_fail(b->diags, t->at, TF_E_NAME, "'%.*s' is cut, as indices divide it: loops are over %s",
          t->len < 60 ? (int)t->len : 60, t->text, list);
  return -1;
}
int tf_mapping_tensor(tf_build *b, const tf_mtok *t) {
  return find_or_fail(b, t, "tensor", tensor_at);
}
int tf_mapping_op(tf_build *b, const tf_mtok *t) { return find_or_fail(b, t, "op", op_at); }
