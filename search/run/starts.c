#include "search/run/starts.h"

#include <stdlib.h>

#include "model/input/dims.h"
#include "model/tree/build.h"

/* ---- opening --------------------------------------------------------------------------------- */
/* Whether an op below the Tile has the dim, and no temporal loop of the Tile is over it. */
static bool lacks(const tf_tree *t, int n, int dim) {
  const tf_node *node = &t->nodes[n];
  bool needed = false;
  for (int k = 0; k < node->n_temporal; k++)
    if (node->loops[k].dim == dim) return false;
  for (int i = n; i < node->end; i++)
    needed |= t->nodes[i].kind == TF_OP && tf_op_slot(&t->workload->ops[t->nodes[i].op], dim) >= 0;
  return needed && t->workload->dims[dim].extent > 1;
}

/* The tree being opened, and the trip counts that its loops had. */
typedef struct {
  tf_build *b;
  int64_t *trips;
  int n;
} opening;

static void open_loop(opening *w, tf_loop l, int64_t trip) {
  l.trip = l.max = 0;
  l.n_choices = 0;
  tf_build_loop(w->b, l);
  w->trips[w->n++] = trip;
}

/* Emits a node with all its loops open; `more`: also innermost loops over dims without a loop in
 * the Tile. */
static void open_node(opening *w, const tf_tree *t, int n, bool more) {
  const tf_node *from = &t->nodes[n];
  tf_build_node(w->b, from);
  for (int k = 0; k < from->n_temporal; k++)
    open_loop(w, from->loops[k], from->loops[k].trip);
  for (int d = 0; more && from->kind == TF_TILE && d < t->workload->n_dims; d++)
    if (lacks(t, n, d)) open_loop(w, (tf_loop){.dim = d, .axis = TF_TEMPORAL}, 1);
  for (int k = from->n_temporal; k < from->n_loops; k++)
    open_loop(w, from->loops[k], from->loops[k].trip);
}

/* Opens the tree with additional loops, or without them where the rules refuse these. */
static bool open_tree(tf_start *s, const tf_tree *from) {
  size_t room = 1;
  for (int i = 0; i < from->n_nodes; i++)
    room += from->nodes[i].kind == TF_TILE
                ? (size_t)(from->nodes[i].n_loops + from->workload->n_dims)
                : 0;
  opening w = {.trips = calloc(room, sizeof *w.trips)};
  for (int more = 1; w.trips && more >= 0 && !s->open; more--) {
    w.n = 0;
    w.b = tf_build_new(from->arch, from->workload, NULL);
    for (int i = 0; w.b && i < from->n_nodes; i++)
      open_node(&w, from, i, more);
    s->open = s->opened = tf_build_tree(w.b);
  }
  s->n_loops = w.n;
  s->trips = w.trips;
  return w.trips != NULL;
}

bool tf_start_open(tf_start *s, const tf_tree *given) {
  tf_diags *d = tf_diags_new(); /* that it cannot be opened is no error */
  bool ok = d != NULL;
  *s = (tf_start){.open = given->open ? given : NULL};
  if (!s->open) ok = open_tree(s, given) && ok;
  if (ok && s->open) s->shapes = tf_shapes_of(s->open, given->workload, d);
  tf_diags_free(d);
  return ok;
}

void tf_start_clear(tf_start *s) {
  tf_shapes_free(s->shapes);
  tf_tree_free(s->opened);
  free(s->trips);
  *s = (tf_start){0};
}
