/* Which loops are allowed where, and products of trip counts, of which some may be open. */
#include <inttypes.h>

#include "base/checked.h"
#include "model/tree/check.h"

/* ---- placement ---------------------------------------------------------------------- */
/* Reports an op that leads below the Tile but lacks the dim; `owner`: an op below that has it, -1:
 * none. */
static void report_lacking(const tf_checker *c, const tf_loop *l, int o, int owner) {
  const char *dim = tf_dim_name(c, l->dim);
  if (owner < 0)
    tf_fail(c->diags, l->at, TF_E_LOOP, "no op below has dim '%.50s': leave the loop out", dim);
  else
    tf_fail(c->diags, l->at, TF_E_LOOP,
            "op '%.50s' leads here and has no dim '%.50s', it would run again: move the loop to "
            "the branch of op '%.50s'",
            tf_op_name(c, o), dim, tf_op_name(c, owner));
  if (owner >= 0) tf_note(c->diags, tf_leaf(c, o)->at, "the op that would run again");
}

static void report_partial(const tf_checker *c, const tf_loop *l, int o) {
  tf_fail(c->diags, l->at, TF_E_LOOP,
          "op '%.50s' reduces '%.50s' and is read below: its readers would see partial results; "
          "move the loop to its branch, or stream it",
          tf_op_name(c, o), tf_dim_name(c, l->dim));
  tf_note(c->diags, tf_leaf(c, o)->at, "the op that reduces");
}

/* Whether a loop at node n on a dim that op o reduces, where o does not lead, is streamed: it must
 * be above the scope that streams, but not above readers outside of that scope, which need the
 * complete sum or maximum. */
static bool streamed_at(const tf_facts *f, int o, int n) {
  const int scope = f->stream_scope[o], home = f->home_scope[f->wl->ops[o].out];
  const bool outside = home >= 0 && home != scope && tf_is_above(f, home, scope);
  return scope >= 0 && tf_is_above(f, n, scope) && !(outside && tf_is_above(f, n, home));
}

static void check_loop(const tf_checker *c, int n, int k) {
  const tf_loop *l = &c->f->tree->nodes[n].loops[k];
  const tf_facts *f = c->f;
  int lacking = -1, owner = -1, partial = -1;
  for (int i = f->leaf_from[n]; i < f->leaf_end[n]; i++) {
    int o = f->leaf_op[i], slot = tf_dim_slot(f, o, l->dim);
    bool leads = tf_leads(f, o, n);
    if (slot >= 0 && owner < 0) owner = o;
    if (leads && slot < 0 && lacking < 0) lacking = o;
    bool reduces = !leads && slot >= 0 && tf_slot_reduced(f, o, slot);
    if (reduces && !streamed_at(f, o, n) && partial < 0) partial = o;
  }
  if (lacking < 0 && partial < 0) return;
  if (lacking >= 0)
    report_lacking(c, l, lacking, owner);
  else
    report_partial(c, l, partial);
  c->loop_reported[f->loop_from[n] + k] = c->dim_reported[l->dim] = true;
}

void tf_check_loops(const tf_checker *c) {
  for (int i = 0; i < c->f->tree->n_nodes; i++) {
    const tf_node *n = &c->f->tree->nodes[i];
    for (int k = 0; k < n->n_loops; k++)
      if (!tf_loop_trivial(&n->loops[k])) check_loop(c, i, k);
  }
}

/* ---- products ----------------------------------------------------------------------- */
/* The product of the trip counts on each dim of the path to op o; open ones count as 1. */
static bool check_path(const tf_checker *c, int o, int64_t *product) {
  const tf_tree *t = c->f->tree;
  bool ok = true;
  for (int d = 0; d < c->f->wl->n_dims; d++)
    product[d] = 1;
  for (int n = t->op_node[o]; n >= 0; n = t->nodes[n].parent)
    for (int k = t->nodes[n].n_loops - 1; k >= 0; k--) {
      const tf_loop *l = &t->nodes[n].loops[k];
      bool *reported = &c->loop_reported[c->f->loop_from[n] + k];
      if (l->trip == 0 || tf_mul(product[l->dim], l->trip, &product[l->dim])) continue;
      product[l->dim] = 1;
      ok = false;
      if (!*reported)
        tf_fail(c->diags, l->at, TF_E_RANGE,
                "the trip counts on '%.60s' from here inwards multiply to more than 2^63 - 1",
                tf_dim_name(c, l->dim));
      *reported = true;
    }
  return ok;
}

bool tf_check_products(const tf_checker *c) {
  int64_t *product = TF_ARRAY(c->arena, int64_t, (size_t)c->f->wl->n_dims);
  bool ok = product != NULL;
  for (int o = 0; product && o < c->f->wl->n_ops; o++)
    ok &= check_path(c, o, product);
  return ok;
}

/* ---- open counts ------------------------------------------------------------------------
 * Dims whose counts are all fixed or bounded and do not reach the extent, and fixed counts of which
 * whole steps begin behind it. */
/* The most steps that a loop can have; 0: any number. */
static int64_t most_steps(const tf_loop *l) {
  int64_t most = l->trip ? l->trip : l->max;
  for (int i = 0; !l->trip && i < l->n_choices; i++)
    if (i == 0 || l->choices[i] > most) most = l->choices[i];
  return most;
}

/* a times b, or `limit` once that is reached; all above 0. */
static int64_t reach(int64_t a, int64_t b, int64_t limit) {
  return a >= limit || b > limit / a ? limit : a * b;
}

/* The next loop on a dim on the way from op o to the root, the k-th of the node; NULL behind the
 * last.  Starts with *node -1. */
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
    if (!most_steps(l) || c->loop_reported[c->f->loop_from[node] + k]) return;
    steps = reach(steps, most_steps(l), extent);
    if (!first || l->trip == 0) first = l;
  }
  if (steps >= extent) return;
  c->dim_reported[dim] = true;
  tf_fail(c->diags, first ? first->at : tf_leaf(c, o)->at, TF_E_COVER,
          "no choice of trip counts covers '%.50s': they multiply to %" PRId64
          " at most, the range of op '%.50s' is %" PRId64
          ": leave '%.50s=?' open on a Tile above it",
          tf_dim_name(c, dim), steps, tf_op_name(c, o), extent, tf_dim_name(c, dim));
  node = -1;
  while ((l = next_loop(c, o, dim, &node, &k)))
    if (l != first) tf_note(c->diags, l->at, "and these are its steps here");
}

/* What the k-th loop of the Tile needs at most to reach the extents that it splits, whatever the
 * open ones inside are.
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
            "'%.50s=%" PRId64 "' steps past its extent of %" PRId64 ": %.50s=%" PRId64
            " reaches all of it",
            tf_dim_name(c, l->dim), l->trip, c->f->wl->dims[l->dim].extent, tf_dim_name(c, l->dim),
            least);
  }
}

void tf_check_open(const tf_checker *c) {
  const tf_facts *f = c->f;
  for (int o = 0; o < f->wl->n_ops; o++)
    for (int i = 0; i < f->wl->ops[o].n_dims; i++)
      if (f->lead[o] == 0 && !c->dim_reported[f->wl->ops[o].dims[i]])
        check_reach(c, o, f->wl->ops[o].dims[i]);
  for (int n = 0; !c->quiet && n < f->tree->n_nodes; n++)
    warn_spare(c, n);
}
