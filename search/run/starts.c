#include "search/run/starts.h"

#include <stdlib.h>
#include <string.h>

static tf_tree *parse(const char *text, const tf_arch *arch, const tf_workload *wl) {
  tf_diags *d = tf_diags_new();
  tf_tree *t = d && text ? tf_tree_parse(text, (tf_loc){0}, arch, wl, d) : NULL;
  tf_diags_free(d);
  return t;
}

/* ---- opening ---------------------------------------------------------------------------------- */
/* The tree that is being opened: copies of its nodes and loops. */
typedef struct {
  const tf_tree *from;
  tf_node *nodes;
  tf_loop *loops; /* room for every dim once more in every Tile */
  int64_t *trips;
  int n;
} opening;

static bool op_has(const tf_workload *wl, int o, int dim) {
  for (int i = 0; i < wl->ops[o].n_dims; i++)
    if (wl->ops[o].dims[i] == dim) return true;
  return false;
}

/* Whether an op below the Tile has the dim, and no temporal loop of the Tile goes along it. */
static bool lacks(const tf_tree *t, int n, int dim) {
  const tf_node *node = &t->nodes[n];
  bool needed = false;
  for (int k = 0; k < node->n_temporal; k++)
    if (node->loops[k].dim == dim) return false;
  for (int i = n; i < node->end; i++)
    needed |= t->nodes[i].kind == TF_OP && op_has(t->workload, t->nodes[i].op, dim);
  return needed && t->workload->dims[dim].extent > 1;
}

static void add(opening *w, tf_loop l, int64_t trip) {
  l.trip = l.max = 0;
  l.n_choices = 0;
  w->loops[w->n] = l;
  w->trips[w->n++] = trip;
}

/* All loops of a Tile open; with `more`, those it lacks innermost. */
static void open_tile(opening *w, int n, bool more) {
  const tf_node *from = &w->from->nodes[n];
  tf_node *to = &w->nodes[n];
  to->loops = &w->loops[w->n];
  for (int k = 0; k < from->n_temporal; k++)
    add(w, from->loops[k], from->loops[k].trip);
  for (int d = 0; more && d < w->from->workload->n_dims; d++)
    if (lacks(w->from, n, d)) add(w, (tf_loop){.dim = d, .axis = TF_TEMPORAL, .at = from->at}, 1);
  to->n_temporal = (int)(&w->loops[w->n] - to->loops);
  for (int k = from->n_temporal; k < from->n_loops; k++)
    add(w, from->loops[k], from->loops[k].trip);
  to->n_loops = (int)(&w->loops[w->n] - to->loops);
}

static tf_tree *opened(opening *w, bool more) {
  const tf_tree *from = w->from;
  w->n = 0;
  memcpy(w->nodes, from->nodes, (size_t)from->n_nodes * sizeof *w->nodes);
  for (int i = 0; i < from->n_nodes; i++)
    if (from->nodes[i].kind == TF_TILE) open_tile(w, i, more);
  tf_tree whole = *from;
  whole.nodes = w->nodes;
  whole.open = true;
  char *text = tf_tree_text(&whole);
  tf_tree *t = parse(text, from->arch, from->workload);
  free(text);
  return t;
}

/* Where the rules refuse the loops that it lacks, it is opened without them. */
static bool open_tree(tf_start *s, const tf_tree *from) {
  size_t room = 1;
  for (int i = 0; i < from->n_nodes; i++)
    room += from->nodes[i].kind == TF_TILE ? (size_t)(from->nodes[i].n_loops + from->workload->n_dims) : 0;
  opening w = {.from = from,
               .nodes = calloc((size_t)from->n_nodes, sizeof *w.nodes),
               .loops = calloc(room, sizeof *w.loops),
               .trips = calloc(room, sizeof *w.trips)};
  bool ok = w.nodes && w.loops && w.trips;
  for (int more = 1; ok && more >= 0 && !s->open; more--)
    s->open = opened(&w, more);
  s->n_loops = w.n;
  s->trips = w.trips;
  free(w.nodes);
  free(w.loops);
  return ok;
}

bool tf_start_open(tf_start *s, const char *text, const tf_arch *arch, const tf_workload *wl) {
  tf_tree *from = parse(text, arch, wl);
  tf_diags *d = tf_diags_new();
  bool ok = d != NULL;
  *s = (tf_start){0};
  if (from && from->open) {
    s->open = from;
    from = NULL;
  } else if (from) {
    ok = open_tree(s, from) && ok;
  }
  if (ok && s->open) s->shapes = tf_shapes_of(s->open, wl, d);
  tf_tree_free(from);
  tf_diags_free(d);
  return ok;
}

void tf_start_clear(tf_start *s) {
  tf_shapes_free(s->shapes);
  tf_tree_free(s->open);
  free(s->trips);
  *s = (tf_start){0};
}
