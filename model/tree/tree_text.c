/* Prints a tree as the text that reads back to it. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/locale.h"
#include "model/tree/facts.h"
#include "model/tree/parse.h"

/* A growing text; bad once memory ran out. */
typedef struct {
  char *text;
  size_t len, room;
  bool bad;
  tf_node *placed; /* that is being printed and gets its place; NULL: nobody asks */
  uint16_t file;
  uint32_t line;
  size_t begin; /* of the line */
} out;

/* Appends n characters; searches print a tree for each that they keep. */
static void append(out *o, const char *s, size_t n) {
  o->bad |= o->len + n + 1 > o->room && !tf_grow_text(&o->text, &o->room, o->len + n + 1);
  if (o->bad) return;
  memcpy(o->text + o->len, s, n);
  o->len += n;
  o->text[o->len] = '\0';
}

static void put(out *o, const char *s) { append(o, s, strlen(s)); }

static void put_number(out *o, int64_t v) {
  char digits[24], *at = digits + sizeof digits;
  uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  do {
    *--at = (char)('0' + left % 10);
    left /= 10;
  } while (left);
  if (v < 0) *--at = '-';
  append(o, at, (size_t)(digits + sizeof digits - at));
}

/* What was printed from there on is the place of `at`, one of o->placed. */
static void place(const out *o, tf_loc *at, size_t from) {
  *at = (tf_loc){o->file, o->line, (uint32_t)(from - o->begin) + 1, (uint32_t)(o->len - from)};
}

static void put_trip(out *o, const tf_loop *l) {
  if (l->trip > 0) {
    put_number(o, l->trip);
    return;
  }
  put(o, "?");
  if (l->max > 0) {
    put(o, "<=");
    put_number(o, l->max);
  }
  for (int i = 0; i < l->n_choices; i++) {
    put(o, i ? "," : "{");
    put_number(o, l->choices[i]);
  }
  if (l->n_choices > 0) put(o, "}");
}

static void put_loop(out *o, const tf_tree *t, const tf_loop *l) {
  put(o, t->workload->dims[l->dim].name);
  put(o, "=");
  put_trip(o, l);
  if (l->axis != TF_TEMPORAL) put(o, l->axis == TF_SPATIAL_X ? "@x" : "@y");
}

static void put_list(out *o, const tf_tree *t, const char *key, tf_named *list, int n) {
  if (n > 0) put(o, " ");
  if (n > 0) put(o, key);
  for (int i = 0; i < n; i++) {
    put(o, " ");
    const size_t from = o->len;
    put(o, t->workload->tensors[list[i].tensor].name);
    if (o->placed) place(o, &list[i].at, from);
  }
}

static void put_tile(out *o, const tf_tree *t, const tf_node *n) {
  const size_t head = o->len;
  put(o, t->arch->memories[n->level].name);
  if (o->placed) place(o, &o->placed->at, head);
  bool braces = n->order_open && n->n_temporal > 0;
  if (n->n_temporal > 0) put(o, braces ? " for {" : " for ");
  for (int i = 0; i < n->n_loops; i++) {
    if (i == n->n_temporal) put(o, " spatial ");
    const size_t from = o->len;
    put_loop(o, t, &n->loops[i]);
    if (o->placed) place(o, &n->loops[i].at, from);
    if (braces && i == n->n_temporal - 1) put(o, "}");
    if (i != n->n_temporal - 1 && i != n->n_loops - 1) put(o, " ");
  }
  put_list(o, t, "bypass", n->bypass, n->n_bypass);
}

static void put_scope(out *o, const tf_tree *t, const tf_node *n) {
  const size_t head = o->len;
  put(o, n->scope_open ? "?" : tf_scope_at(n->scope)->key);
  if (o->placed) place(o, &o->placed->at, head);
  if (n->n_keep > 0) put(o, " keep");
  for (int i = 0; i < n->n_keep; i++) {
    put(o, " ");
    const size_t from = o->len;
    put(o, t->workload->tensors[n->keep[i].tensor].name);
    put(o, "@");
    put(o, t->arch->memories[n->keep[i].level].name);
    if (o->placed) place(o, &n->keep[i].at, from);
  }
  put_list(o, t, "retain", n->retain, n->n_retain);
  put_list(o, t, "stream", n->stream, n->n_stream);
}

static void put_op(out *o, const tf_tree *t, const tf_node *n) {
  const size_t head = o->len;
  put(o, "op ");
  put(o, t->workload->ops[n->op].name);
  if (o->placed) place(o, &o->placed->at, head);
}

static void put_node(out *o, const tf_tree *t, int i) {
  const tf_node *n = &t->nodes[i];
  o->line = (uint32_t)i + 1;
  o->begin = o->len;
  for (int depth = tf_tree_depth(t, i); depth > 0; depth--)
    put(o, "  ");
  switch (n->kind) {
  case TF_TILE: put_tile(o, t, n); break;
  case TF_SCOPE: put_scope(o, t, n); break;
  case TF_OP: put_op(o, t, n); break;
  }
  put(o, "\n");
}

/* `placed`: t itself, whose nodes get their places in that file; NULL: no tree is. */
static char *print(const tf_tree *t, tf_tree *placed, uint16_t file) {
  out o = {.file = file};
  put(&o, "");
  for (int i = 0; i < t->n_nodes && !o.bad; i++) {
    o.placed = placed ? &placed->nodes[i] : NULL;
    put_node(&o, t, i);
  }
  if (!o.bad) return o.text;
  free(o.text);
  return NULL;
}

char *tf_tree_text(const tf_tree *t) {
  TF_IN_C_LOCALE;
  return print(t, NULL, 0);
}

bool tf_tree_place(tf_tree *t, const char *name, tf_diags *d) {
  TF_IN_C_LOCALE;
  char *text = tf_tree_text(t);
  if (!text) return tf_out_of_memory(d);
  const uint16_t file = tf_diags_add_file(d, name, text, strlen(text));
  free(text);
  text = print(t, t, file);
  const bool placed = text != NULL;
  free(text);
  return placed || tf_out_of_memory(d);
}
