/* Prints a tree as the text that reads back to it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/tree/facts.h"
#include "model/tree/parse.h"

/* A growing text; bad once memory ran out. */
typedef struct {
  char *text;
  size_t len, room;
  bool bad;
} out;

static bool make_room(out *o, size_t n) {
  if (o->len + n < o->room) return true;
  size_t room = (o->room + n + 1) * 2;
  char *bigger = realloc(o->text, room);
  o->bad |= !bigger;
  if (!bigger) return false;
  o->text = bigger;
  o->room = room;
  return true;
}

static void put(out *o, const char *fmt, ...) TF_PRINTF(2, 3);
static void put(out *o, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(NULL, 0, fmt, args);
  va_end(args);
  if (o->bad || n < 0 || !make_room(o, (size_t)n)) return;
  va_start(args, fmt);
  vsnprintf(o->text + o->len, (size_t)n + 1, fmt, args);
  va_end(args);
  o->len += (size_t)n;
}

static void put_trip(out *o, const tf_loop *l) {
  if (l->trip > 0) {
    put(o, "%" PRId64, l->trip);
    return;
  }
  put(o, "?");
  if (l->max > 0) put(o, "<=%" PRId64, l->max);
  for (int i = 0; i < l->n_choices; i++)
    put(o, "%s%" PRId64, i ? "," : "{", l->choices[i]);
  if (l->n_choices > 0) put(o, "}");
}

static void put_loop(out *o, const tf_tree *t, const tf_loop *l) {
  put(o, "%s=", t->workload->dims[l->dim].name);
  put_trip(o, l);
  if (l->axis != TF_TEMPORAL) put(o, "@%c", l->axis == TF_SPATIAL_X ? 'x' : 'y');
}

static void put_list(out *o, const tf_tree *t, const char *key, const tf_named *list, int n) {
  if (n > 0) put(o, " %s", key);
  for (int i = 0; i < n; i++)
    put(o, " %s", t->workload->tensors[list[i].tensor].name);
}

static void put_tile(out *o, const tf_tree *t, const tf_node *n) {
  put(o, "%s", t->arch->memories[n->level].name);
  bool braces = n->order_open && n->n_temporal > 0;
  if (n->n_temporal > 0) put(o, braces ? " for {" : " for ");
  for (int i = 0; i < n->n_loops; i++) {
    if (i == n->n_temporal) put(o, " spatial ");
    put_loop(o, t, &n->loops[i]);
    if (braces && i == n->n_temporal - 1) put(o, "}");
    if (i != n->n_temporal - 1 && i != n->n_loops - 1) put(o, " ");
  }
  put_list(o, t, "bypass", n->bypass, n->n_bypass);
}

static void put_scope(out *o, const tf_tree *t, const tf_node *n) {
  put(o, "%s", n->scope_open ? "?" : tf_scope_key(n->scope));
  if (n->n_keep > 0) put(o, " keep");
  for (int i = 0; i < n->n_keep; i++)
    put(o, " %s@%s", t->workload->tensors[n->keep[i].tensor].name, t->arch->memories[n->keep[i].level].name);
  put_list(o, t, "retain", n->retain, n->n_retain);
  put_list(o, t, "stream", n->stream, n->n_stream);
}

static void put_node(out *o, const tf_tree *t, int i) {
  const tf_node *n = &t->nodes[i];
  put(o, "%*s", 2 * tf_tree_depth(t, i), "");
  switch (n->kind) {
  case TF_TILE: put_tile(o, t, n); break;
  case TF_SCOPE: put_scope(o, t, n); break;
  case TF_OP: put(o, "op %s", t->workload->ops[n->op].name); break;
  }
  put(o, "\n");
}

char *tf_tree_text(const tf_tree *t) {
  out o = {0};
  put(&o, "%s", "");
  for (int i = 0; i < t->n_nodes; i++)
    put_node(&o, t, i);
  if (!o.bad) return o.text;
  free(o.text);
  return NULL;
}
