/* A row as a mapping: the form's tree with its trip counts and orders. */
#include <stdlib.h>
#include <string.h>

#include "model/tree/build.h"
#include "tune/space/schedules.h"

/* The choice for a knob of a node; -1: it has none. */
static int32_t choice(const tune_form *f, const int32_t *row, int node, int loop) {
  for (int k = 0; k < f->s->n_knobs; k++)
    if (f->knob[k].node == node && f->knob[k].loop == loop) return row[f->first + k];
  return -1;
}

tf_choices tune_choices(const tune_space *s, const int32_t *row) {
  const tune_form *f = tune_form_of(s, row);
  tf_choices all = {{0}};
  for (int k = 0; k < f->s->n_knobs; k++)
    if (tune_is_choice(&f->knob[k])) all.at[f->knob[k].loop] = (signed char)row[f->first + k];
  return all;
}

static void add_loops(tf_build *b, const tune_form *f, const int32_t *row, int node) {
  const tf_node *n = &f->tree->nodes[node];
  int order[TUNE_ORDER_LOOPS];
  const int32_t o = choice(f, row, node, -1);
  if (o >= 0) tune_order(n->n_temporal, o, order);
  for (int k = 0; k < n->n_loops; k++) {
    const int at = o >= 0 && k < n->n_temporal ? order[k] : k;
    tf_loop l = n->loops[at];
    const int32_t trip = choice(f, row, node, at);
    if (trip >= 0) l = (tf_loop){.dim = l.dim, .axis = l.axis, .trip = trip};
    if (l.trip > 1) tf_build_loop(b, l);
  }
}

tf_tree *tune_decode(const tune_space *s, const int32_t *row) {
  const tune_form *f = tune_form_of(s, row);
  tf_build *b = tf_build_new(s->arch, s->wl, NULL);
  for (int i = 0; b && i < f->tree->n_nodes; i++) {
    tf_node n = f->tree->nodes[i];
    n.n_loops = n.n_temporal = 0;
    n.order_open = n.scope_open = false;
    tf_build_node(b, &n);
    if (n.kind == TF_TILE) add_loops(b, f, row, i);
  }
  return tf_build_tree(b);
}
