/* What can be said of trip counts while others are open: dims whose counts are all fixed or bounded and do not reach
 * the extent, and fixed counts of which whole steps begin behind it. */
#include <inttypes.h>

#include "model/tree/check.h"

/* The most steps that a loop can have; 0: any number. */
static int64_t most_steps(const tf_loop *l) {
  int64_t most = l->trip ? l->trip : l->max;
  for (int i = 0; !l->trip && i < l->n_choices; i++)
    if (i == 0 || l->choices[i] > most) most = l->choices[i];
  return most;
}

/* a times b, or `limit` once that is reached; all above 0. */
static int64_t reach(int64_t a, int64_t b, int64_t limit) { return a >= limit || b > limit / a ? limit : a * b; }

/* The next loop on a dim on the way from op o to the root, the k-th of the node; NULL behind the last.  Starts with
 * *node -1. */
static const tf_loop *next_loop(const tf_checker *c, int o, int dim, int *node, int *k) {
  const tf_tree *t = c->f->tree;
  if (*node < 0) {
    *node = t->op_node[o];
    *k = t->nodes[*node].n_loops;
  }
  for (;;) {
    while (--*k >= 0)
      if (t->nodes[*node].loops[*k].dim == dim) return &t->nodes[*node].loops[*k];
    *node = t->nodes[*node].parent;
    if (*node < 0) return NULL;
    *k = t->nodes[*node].n_loops;
  }
}

/* An op that leads everywhere has its whole extent to cover. */
static void check_reach(const tf_checker *c, int o, int dim) {
  const int64_t extent = c->f->wl->dims[dim].extent;
  const tf_loop *l, *first = NULL;
  int64_t steps = 1;
  int node = -1, k = 0;
  while ((l = next_loop(c, o, dim, &node, &k))) {
    if (!most_steps(l) || c->loop_told[c->f->loop_from[node] + k]) return;
    steps = reach(steps, most_steps(l), extent);
    if (!first || l->trip == 0) first = l;
  }
  if (steps >= extent) return;
  c->dim_told[dim] = true;
  tf_fail(c->diags, first ? first->at : tf_leaf(c, o)->at, TF_E_COVER,
          "no choice of trip counts covers '%.50s': they multiply to %" PRId64
          " at most, the range of op '%.50s' is %" PRId64 ": leave '%.50s=?' open on a Tile above it",
          tf_dim_name(c, dim), steps, tf_op_name(c, o), extent, tf_dim_name(c, dim));
  node = -1;
  while ((l = next_loop(c, o, dim, &node, &k)))
    if (l != first) tf_note(c->diags, l->at, "and these are its steps here");
}

/* What the k-th loop of the Tile needs at most to reach the extents that it splits, whatever the open ones inside are.
 */
static int64_t least_count(const tf_checker *c, int tile, int k) {
  const tf_facts *f = c->f;
  const int dim = f->tree->nodes[tile].loops[k].dim;
  int64_t least = 0;
  for (int j = f->leaf_from[tile]; j < f->leaf_end[tile]; j++) {
    const int o = f->leaf_op[j];
    const int64_t extent = f->wl->dims[dim].extent;
    int64_t inner = 1;
    int node = -1, at = 0;
    const tf_loop *l;
    if (tf_dim_slot(f, o, dim) < 0 || !tf_leads(f, o, tile)) continue;
    while ((l = next_loop(c, o, dim, &node, &at)) && (node != tile || at != k))
      if (l->trip && tf_leads(f, o, node)) inner = reach(inner, l->trip, extent);
    const int64_t count = (extent - 1) / inner + 1;
    if (count > least) least = count;
  }
  return least;
}

static void warn_spare(const tf_checker *c, int tile) {
  const tf_node *n = &c->f->tree->nodes[tile];
  for (int k = 0; n->kind == TF_TILE && k < n->n_loops; k++) {
    const tf_loop *l = &n->loops[k];
    const int64_t least = least_count(c, tile, k);
    if (least < 1 || least >= l->trip) continue;
    tf_warn(c->diags, l->at,
            "'%.50s=%" PRId64 "' steps past its extent of %" PRId64 ": %.50s=%" PRId64 " reaches all of it",
            tf_dim_name(c, l->dim), l->trip, c->f->wl->dims[l->dim].extent, tf_dim_name(c, l->dim), least);
  }
}

void tf_check_open(const tf_checker *c) {
  const tf_facts *f = c->f;
  for (int o = 0; o < f->wl->n_ops; o++)
    for (int i = 0; i < f->wl->ops[o].n_dims; i++)
      if (f->lead[o] == 0 && !c->dim_told[f->wl->ops[o].dims[i]]) check_reach(c, o, f->wl->ops[o].dims[i]);
  for (int n = 0; !c->unheard && n < f->tree->n_nodes; n++)
    warn_spare(c, n);
}
