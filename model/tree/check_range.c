/* Rules that need ranges: trip counts cover them, nothing is computed twice within a production,
 * and readers outside a nested scope find what they read. */
#include <inttypes.h>

#include "model/tree/check.h"
#include "model/tree/cover.h"

typedef struct {
  const tf_checker *c;
  int64_t *most;   /* [as ranges] the longest range where the op leads */
  bool *made_told; /* [op] */
  bool nested;     /* some intermediate is produced in a scope below its home */
  int home, loop_node, loop_dim;
  tf_loc loop_at;
  tf_ival *first; /* [as ranges] what is produced with every loop at its start */
  tf_ival *saved; /* [as ranges] the state at the home scope, and the steps left there */
  int64_t *saved_steps;
} range_rules;

/* ---- cover -------------------------------------------------------------------------- */
/* Number of the innermost loop on the dim from the node at which op o leads; -1 if there is none.
 */
static int last_loop(const tf_facts *f, int o, int dim, const tf_loop **out) {
  const tf_tree *t = f->tree;
  for (int n = t->op_node[o]; n != t->nodes[f->lead[o]].parent; n = t->nodes[n].parent)
    for (int k = t->nodes[n].n_loops - 1; k >= 0; k--)
      if (t->nodes[n].loops[k].dim == dim) {
        *out = &t->nodes[n].loops[k];
        return f->loop_from[n] + k;
      }
  return -1;
}

static void report_cover(const tf_checker *c, int o, int dim, int64_t steps, int64_t len) {
  const tf_loop *l = NULL;
  int loop = last_loop(c->f, o, dim, &l);
  const char *inferred = c->f->lead[o] > 0 ? ", which its readers need here" : "";
  if (loop < 0) {
    tf_fail(c->diags, tf_leaf(c, o)->at, TF_E_COVER,
            "no loop on '%.50s' for op '%.50s', whose range is %" PRId64 "%s: put '%.50s=%" PRId64
            "' on a Tile above it",
            tf_dim_name(c, dim), tf_op_name(c, o), len, inferred, tf_dim_name(c, dim), len);
    return;
  }
  if (c->loop_reported[loop]) return;
  c->loop_reported[loop] = true;
  tf_fail(c->diags, l->at, TF_E_COVER,
          "trip counts on '%.50s' multiply to %" PRId64 ", the range of op '%.50s' is %" PRId64
          "%s: raise one",
          tf_dim_name(c, dim), steps, tf_op_name(c, o), len, inferred);
}

/* Where nothing depends on how long a range is, it is enough to know that its steps reach as far.
 */
static void check_cover(const range_rules *q, tf_cover *cover, int o) {
  const tf_facts *f = q->c->f;
  const tf_op *op = &f->wl->ops[o];
  for (int i = 0; i < op->n_dims; i++) {
    int at = f->dim_from[o] + i;
    const tf_reach *w = &cover->reach[at];
    if (q->c->quiet && w->bound <= w->steps) continue;
    q->most[at] = tf_cover_longest(cover, o, i, q->c->quiet ? w->steps : INT64_MAX);
    if (q->most[at] > w->steps && !q->c->dim_reported[op->dims[i]])
      report_cover(q->c, o, op->dims[i], w->steps, q->most[at]);
  }
}

/* ---- more than cover ---------------------------------------------------------------- */
/* Warns of steps beyond every range, which are empty: a count that was meant otherwise, or that
 * misleads. */
static void warn_spare(const tf_ranges *r) {
  const range_rules *q = r->user;
  const tf_checker *c = q->c;
  for (int n = 0; n < r->f->tree->n_nodes; n++)
    for (int k = 0; k < r->f->tree->nodes[n].n_loops; k++) {
      const tf_loop *l = &r->f->tree->nodes[n].loops[k];
      int o = -1;
      const int64_t least = tf_cover_needs(r->f, NULL, q->most, (tf_loop_at){n, k}, &o);
      if (least < 1 || least >= l->trip) continue;
      tf_warn(c->diags, l->at,
              "'%.50s=%" PRId64 "' steps past the range of op '%.50s': %.50s=%" PRId64
              " reaches all of it",
              tf_dim_name(c, l->dim), l->trip, tf_op_name(c, o), tf_dim_name(c, l->dim), least);
    }
}

/* ---- found -------------------------------------------------------------------------- */
static bool contains(tf_ival outer, tf_ival inner) {
  return inner.len <= 0 ||
         (outer.len > 0 && inner.lo >= outer.lo && inner.lo + inner.len <= outer.lo + outer.len);
}

static void report_found(const range_rules *q, int o, const char *which) {
  int z = q->c->f->wl->ops[o].out;
  q->made_told[o] = true;
  tf_fail(q->c->diags, tf_leaf(q->c, o)->at, TF_E_ORDER,
          "readers of '%.50s' outside the inner scope %s: let all its readers share one scope",
          tf_tensor_name(q->c, z), which);
  tf_note(q->c->diags, q->c->f->tree->nodes[q->c->f->home_scope[z]].at,
          "the scope that runs all its readers");
}

/* One run of the branch at `node` produces what its own readers need; what the readers beside it
 * need, up to the home scope, must be part of that. */
static void check_found(tf_ranges *r, int o, int i, int node, tf_ival before) {
  range_rules *q = r->user;
  const tf_tree *t = r->f->tree;
  int z = r->f->wl->ops[o].out, home = r->f->home_scope[z], up = t->nodes[node].parent;
  bool branch = up >= 0 && t->nodes[up].kind == TF_SCOPE && tf_is_above(r->f, home, up);
  if (!branch || q->made_told[o] || contains(r->range[r->f->dim_from[o] + i], before)) return;
  report_found(q, o, "want more of it than is made for those inside");
}

static void unknown_found(tf_ranges *r, int o) {
  range_rules *q = r->user;
  if (!q->made_told[o])
    report_found(q, o,
                 "may want more of it than is made for those inside, in steps too many to look at");
}

static void gaps_found(tf_ranges *r, int o) {
  range_rules *q = r->user;
  if (!q->made_told[o])
    report_found(q, o, "want more of it than is made for those inside, whose steps leave gaps");
}

/* ---- made once ---------------------------------------------------------------------- */
static void remember_first(tf_ranges *r, int o) {
  range_rules *q = r->user;
  for (int i = 0; i < r->f->wl->ops[o].n_dims; i++)
    q->first[r->f->dim_from[o] + i] = r->range[r->f->dim_from[o] + i];
}

/* Whether what op o produces at this setting overlaps what it produced at the first. */
static bool overlaps(const tf_ranges *r, const tf_ival *first, int o) {
  for (int i = 0; i < r->f->wl->ops[o].n_dims; i++) {
    tf_ival a = first[r->f->dim_from[o] + i], b = r->range[r->f->dim_from[o] + i];
    if (a.len <= 0 || b.len <= 0) return false;
    bool apart = a.lo + a.len <= b.lo || b.lo + b.len <= a.lo;
    if (apart && !tf_slot_reduced(r->f, o, i)) return false;
  }
  return true;
}

static void report_twice(const range_rules *q, int o, tf_loc at, const char *which) {
  const tf_facts *f = q->c->f;
  const int z = f->wl->ops[o].out;
  q->made_told[o] = true;
  tf_fail(q->c->diags, at, TF_E_LOOP,
          "%s of '%.50s' again, within one run of the scope that holds them: let all readers of "
          "'%.50s' share one scope",
          which, tf_tensor_name(q->c, z), tf_tensor_name(q->c, z));
  tf_note(q->c->diags, f->tree->nodes[f->home_scope[z]].at, "the scope that holds '%.60s'",
          tf_tensor_name(q->c, z));
}

static void made_twice(tf_ranges *r, int o, bool unknown) {
  const range_rules *q = r->user;
  report_twice(q, o, tf_leaf(q->c, o)->at,
               unknown ? "steps too many to look at may make elements"
                       : "some steps make elements");
}

static void compare_first(tf_ranges *r, int o) {
  range_rules *q = r->user;
  const tf_facts *f = r->f;
  int z = f->wl->ops[o].out;
  if (tf_streamed_over(f, o, q->loop_node, q->loop_dim)) return;
  bool concerned = f->home_scope[z] == q->home && tf_op_below(f, o, q->loop_node) &&
                   !tf_leads(f, o, q->loop_node) && !q->made_told[o];
  if (concerned && overlaps(r, q->first, o))
    report_twice(q, o, q->loop_at, "each step makes elements");
}

/* Saves the state of the ops below the home scope, or restores it. */
static void save(tf_ranges *r, bool back) {
  range_rules *q = r->user;
  const tf_facts *f = r->f;
  for (int k = f->leaf_from[q->home]; k < f->leaf_end[q->home]; k++) {
    int at = f->dim_from[f->leaf_op[k]], end = at + f->wl->ops[f->leaf_op[k]].n_dims;
    for (; at < end; at++) {
      tf_ival *now = &r->range[at], *saved = &q->saved[at];
      int64_t *steps = &r->steps[at], *kept = &q->saved_steps[at];
      *(back ? now : saved) = back ? *saved : *now;
      *(back ? steps : kept) = back ? *kept : *steps;
    }
  }
}

/* Evaluates the home scope once more. */
static void walk_home(tf_ranges *r, void (*led)(tf_ranges *r, int o), int forced) {
  range_rules *q = r->user;
  const tf_node *home = &r->f->tree->nodes[q->home];
  tf_ranges again = *r;
  again.led = led;
  again.inferred = NULL;
  again.entered = NULL;
  again.forced = forced;
  for (int i = 0; i < home->n_children; i++)
    tf_ranges_walk(&again, home->children[i]);
  save(r, true);
}

/* Whether an intermediate at home in the scope is produced below node n, where its producer does
 * not lead. */
static bool makes_nested(const tf_facts *f, int home, int n) {
  for (int k = f->leaf_from[n]; k < f->leaf_end[n]; k++) {
    int o = f->leaf_op[k];
    if (f->home_scope[f->wl->ops[o].out] == home && !tf_leads(f, o, n)) return true;
  }
  return false;
}

/* Tries the second iteration of every loop between a home scope and a producer nested below it. */
static void check_made_once(tf_ranges *r, int node) {
  range_rules *q = r->user;
  const tf_facts *f = r->f;
  if (f->tree->nodes[node].kind != TF_SCOPE || !makes_nested(f, node, node)) return;
  bool known = false;
  q->home = node;
  save(r, false);
  for (int n = node + 1; n < f->tree->nodes[node].end; n++) {
    const tf_node *tile = &f->tree->nodes[n];
    if (tile->n_loops == 0 || !makes_nested(f, node, n)) continue;
    if (!known) walk_home(r, remember_first, -1);
    known = true;
    for (int k = 0; k < tile->n_loops; k++) {
      if (tile->loops[k].trip == 1) continue;
      q->loop_node = n;
      q->loop_dim = tile->loops[k].dim;
      q->loop_at = tile->loops[k].at;
      walk_home(r, compare_first, f->loop_from[n] + k);
    }
  }
}

/* ---- all of them -------------------------------------------------------------------- */
void tf_check_ranges(const tf_checker *c) {
  range_rules q = {.c = c};
  tf_ranges r;
  tf_cover *cover = tf_cover_new(c->arena, c->f);
  size_t n = (size_t)c->f->n_dims;
  q.most = TF_ARRAY(c->arena, int64_t, n);
  q.made_told = TF_ARRAY(c->arena, bool, (size_t)c->f->wl->n_ops);
  q.first = TF_ARRAY(c->arena, tf_ival, n);
  q.saved = TF_ARRAY(c->arena, tf_ival, n);
  q.saved_steps = TF_ARRAY(c->arena, int64_t, n);
  bool room = cover && q.most && q.made_told && q.first && q.saved && q.saved_steps;
  if (!room || !tf_ranges_init(&r, c->arena, c->f)) {
    tf_out_of_memory(c->diags);
    return;
  }
  for (int o = 0; o < c->f->wl->n_ops; o++)
    q.nested |= tf_made_nested(c->f, o);
  for (int d = 0; d < c->f->wl->n_dims; d++)
    q.nested &= !c->dim_reported[d];
  r.user = &q;
  r.inferred = q.nested ? check_found : NULL;
  r.entered = q.nested ? check_made_once : NULL;
  tf_ranges_walk(&r, 0);
  r.entered = NULL;
  tf_cover_begin(cover, NULL, NULL);
  for (int k = 0; k < c->f->wl->n_ops; k++)
    check_cover(&q, cover, c->f->leaf_op[k]);
  if (q.nested && !tf_check_once(c, &r, q.made_told, made_twice)) tf_out_of_memory(c->diags);
  if (q.nested && !tf_check_steps(c, &r, unknown_found, gaps_found)) tf_out_of_memory(c->diags);
  if (!c->quiet) warn_spare(&r);
}
