/* keep: whether the memory named can be the home. */
#include <string.h>

#include "base/checked.h"
#include "model/spec/dims.h"
#include "model/tree/check.h"
#include "model/tree/range.h"

typedef struct {
  const tf_checker *c;
  const tf_keep *k;
  int scope;
  tf_ranges *r; /* with shifts; NULL: not yet known */
} keeping;

static bool fail(const keeping *q, const char *why) {
  return tf_fail(q->c->diags, q->k->at, TF_E_KEEP, "'%.50s' cannot be kept in '%.50s': %s",
                 tf_tensor_name(q->c, q->k->tensor), tf_level_name(q->c, q->k->level), why);
}

/* The first Tile of the level between the scope and op o's leaf; -1 if there is none. */
static int first_tile(const keeping *q, int o) {
  const tf_tree *t = q->c->f->tree;
  int found = -1;
  for (int n = t->op_node[o]; n != q->scope; n = t->nodes[n].parent)
    if (t->nodes[n].kind == TF_TILE && t->nodes[n].level == q->k->level) found = n;
  return found;
}

/* The next spatial loop further out than loop k of node n, below the scope, that matters; moves n and k to it.  False
 * if there is none. */
static bool next_spatial(const keeping *q, int *n, int *k) {
  const tf_tree *t = q->c->f->tree;
  for (; *n != q->scope; *n = t->nodes[*n].parent, *k = t->nodes[*n].n_loops) {
    while (--*k >= t->nodes[*n].n_temporal && *k >= 0)
      if (!tf_loop_trivial(&t->nodes[*n].loops[*k])) return true;
  }
  return false;
}

/* How far one step of loop k of node n moves op o along its dim, in elements; 0 if it is open. */
static int64_t step_of(const tf_tree *t, int o, int n, int k) {
  int64_t step = 1;
  int dim = t->nodes[n].loops[k].dim;
  for (int m = t->op_node[o]; m != t->nodes[n].parent; m = t->nodes[m].parent)
    for (int j = t->nodes[m].n_loops - 1; j >= (m == n ? k + 1 : 0); j--)
      if (t->nodes[m].loops[j].dim == dim && !tf_mul(step, t->nodes[m].loops[j].trip, &step)) return 0;
  return step;
}

/* How many elements along rank r of the tensor one element along `dim` of op o moves. */
static int64_t coef_of(const keeping *q, int o, int r, int dim) {
  const tf_op *op = &q->c->f->wl->ops[o];
  if (op->out == q->k->tensor) return op->dims[r] == dim;
  for (int i = 0; i < op->n_reads; i++) {
    int64_t coef = op->reads[i].tensor == q->k->tensor ? tf_index_coef(&op->reads[i].index[r], dim) : 0;
    if (coef) return coef;
  }
  return 0;
}

/* A spatial loop on the path of an op. */
typedef struct {
  int op, node, slot;
} spread;

/* Whether the two loops move the tensor alike, where both ops lead; assumed where one does not or a trip count is open,
 * which only ranges can tell. */
static bool same_step(const keeping *q, spread a, spread b) {
  const tf_facts *f = q->c->f;
  const tf_tree *t = f->tree;
  int64_t step_a = step_of(t, a.op, a.node, a.slot), step_b = step_of(t, b.op, b.node, b.slot);
  bool known = tf_leads(f, a.op, a.node) && tf_leads(f, b.op, b.node) && step_a && step_b;
  for (int r = 0; known && r < f->wl->tensors[q->k->tensor].rank; r++) {
    int64_t ca = coef_of(q, a.op, r, t->nodes[a.node].loops[a.slot].dim), ea;
    int64_t cb = coef_of(q, b.op, r, t->nodes[b.node].loops[b.slot].dim), eb;
    if (tf_mul(step_a, ca, &ea) && tf_mul(step_b, cb, &eb) && ea != eb) return false;
  }
  return true;
}

/* ---- by ranges ------------------------------------------------------------------------------ */
/* The number of a loop on the way down to it. */
static int number_of(const tf_tree *t, spread s) {
  int k = s.slot;
  for (int n = t->nodes[s.node].parent; n >= 0; n = t->nodes[n].parent)
    k += t->nodes[n].kind == TF_TILE ? t->nodes[n].n_loops : 0;
  return k;
}

/* How far loop k moves a range; false if its parts may move unlike. */
static bool moved(const tf_shift *s, int k, int64_t *by) {
  if (k >= TF_SHIFT_LOOPS || (s->mixed && s->mask >> k & 1)) return false;
  *by = s->mask >> k & 1 ? s->by[k] : 0;
  return true;
}

/* How far a step of the loop moves rank r of what is touched of the tensor below the memory's Tile; false: unlike. */
static bool shift_of(const keeping *q, spread s, int r, int64_t *by) {
  const tf_facts *f = q->c->f;
  const int tile = first_tile(q, s.op), k = number_of(f->tree, s);
  bool any = false, alike = true;
  int64_t one = 0;
  tf_shift read;
  for (int j = f->leaf_from[tile]; j < f->leaf_end[tile]; j++) {
    const int o = f->leaf_op[j];
    const tf_op *op = &f->wl->ops[o];
    for (int i = -1; i < op->n_reads; i++) {
      if ((i < 0 ? op->out : op->reads[i].tensor) != q->k->tensor) continue;
      if (i >= 0) tf_index_shift(q->r, o, &op->reads[i].index[r], &read);
      alike &= moved(i < 0 ? &q->r->shift[f->dim_from[o] + r] : &read, k, &one) && (!any || one == *by);
      *by = one;
      any = true;
    }
  }
  return alike;
}

/* The same, with ranges as they are at that Tile. */
static bool shift_there(const keeping *q, spread s, int r, int64_t *by) {
  tf_ranges_reset(q->r);
  tf_ranges_towards(q->r, first_tile(q, s.op));
  return shift_of(q, s, r, by);
}

static bool same_shift(const keeping *q, spread a, spread b) {
  int64_t by_a = 0, by_b = 0;
  bool same = true;
  for (int r = 0; same && r < q->c->f->wl->tensors[q->k->tensor].rank; r++)
    same = shift_there(q, a, r, &by_a) && shift_there(q, b, r, &by_b) && by_a == by_b;
  return same;
}

static bool same_loop(const keeping *q, spread a, spread b) {
  const tf_tree *t = q->c->f->tree;
  const tf_loop *la = &t->nodes[a.node].loops[a.slot], *lb = &t->nodes[b.node].loops[b.slot];
  bool open = la->trip == 0 || lb->trip == 0;
  return la->axis == lb->axis && (open || la->trip == lb->trip) && (q->r ? same_shift(q, a, b) : same_step(q, a, b));
}

/* What a read takes along an index, with ranges as they are. */
static tf_ival read_at(const keeping *q, int o, const tf_index *x) {
  tf_ival v = {x->c, 1};
  for (int t = 0; t < x->n_terms; t++)
    v = tf_index_plus(v, x->terms[t].coef, q->r->now[q->c->f->dim_from[o] + tf_dim_slot(q->c->f, o, x->terms[t].dim)]);
  return v;
}

/* What is touched of rank r of the tensor below the first Tile on the way to op o: made, or read. */
static tf_ival touched_there(const keeping *q, int o, int r, bool made) {
  const tf_facts *f = q->c->f;
  const int tile = first_tile(q, o);
  tf_ival all = {0, 0};
  tf_ranges_reset(q->r);
  tf_ranges_towards(q->r, tile);
  for (int j = f->leaf_from[tile]; j < f->leaf_end[tile]; j++) {
    const tf_op *op = &f->wl->ops[f->leaf_op[j]];
    if (made && op->out == q->k->tensor) all = tf_hull(all, q->r->now[f->dim_from[f->leaf_op[j]] + r]);
    for (int i = 0; i < op->n_reads && !made; i++)
      if (op->reads[i].tensor == q->k->tensor) all = tf_hull(all, read_at(q, f->leaf_op[j], &op->reads[i].index[r]));
  }
  return all;
}

/* Whether temporal loops between the scope and the op's first Tile move rank r: its instance then holds several
 * tiles. */
static bool steps_there(const keeping *q, int o, int r) {
  const tf_tree *t = q->c->f->tree;
  bool any = false;
  for (int n = t->nodes[first_tile(q, o)].parent; n != q->scope; n = t->nodes[n].parent)
    for (int k = 0; t->nodes[n].kind == TF_TILE && k < t->nodes[n].n_temporal; k++) {
      int64_t by = 0;
      any |= !tf_loop_trivial(&t->nodes[n].loops[k]) && (!shift_there(q, (spread){o, n, k}, r, &by) || by);
    }
  return any;
}

/* Checks that each instance makes what is read in it, along the ranks that spatial loops move.  Loops at maker's node
 * and slot move both alike. */
static bool check_within(const keeping *q, spread at, int reader) {
  const tf_tensor *z = &q->c->f->wl->tensors[q->k->tensor];
  for (int r = 0; q->r && r < z->rank; r++) {
    int64_t by = 0;
    if (!shift_there(q, at, r, &by) || !by || steps_there(q, at.op, r) || steps_there(q, reader, r)) continue;
    const tf_ival made = touched_there(q, at.op, r, true), read = touched_there(q, reader, r, false);
    if (read.len <= 0 || (read.lo >= made.lo && read.lo + read.len <= made.lo + made.len)) continue;
    fail(q, "an instance of that memory reads more of it than is made there; put the spatial loop above the scope");
    tf_note(q->c->diags, q->c->f->tree->nodes[at.node].loops[at.slot].at, "the loop");
    tf_note(q->c->diags, tf_leaf(q->c, reader)->at, "read here");
    return false;
  }
  return true;
}

/* Checks that the spatial loops between the scope and the first Tiles of the level are alike. */
static bool check_alike(const keeping *q, int maker, int reader) {
  const tf_tree *t = q->c->f->tree;
  int na = t->nodes[first_tile(q, maker)].parent, ka = t->nodes[na].n_loops;
  int nb = t->nodes[first_tile(q, reader)].parent, kb = t->nodes[nb].n_loops;
  for (;;) {
    bool more_a = next_spatial(q, &na, &ka), more_b = next_spatial(q, &nb, &kb);
    if (!more_a && !more_b) return true;
    bool alike = more_a && more_b && same_loop(q, (spread){maker, na, ka}, (spread){reader, nb, kb});
    if (alike && !check_within(q, (spread){maker, na, ka}, reader)) return false;
    if (alike) continue;
    fail(q, "the spatial loops between the scope and that memory differ from branch to branch; "
            "put them above the scope, or make them alike");
    tf_note(q->c->diags, tf_leaf(q->c, maker)->at, "made here");
    tf_note(q->c->diags, tf_leaf(q->c, reader)->at, "read here");
    return false;
  }
}

/* Checks that no spatial loop outside the first Tile spreads the sum that computes the tensor. */
static bool check_whole(const keeping *q, int maker) {
  const tf_facts *f = q->c->f;
  int n = f->tree->nodes[first_tile(q, maker)].parent, k = f->tree->nodes[n].n_loops;
  while (next_spatial(q, &n, &k)) {
    const tf_loop *l = &f->tree->nodes[n].loops[k];
    int slot = tf_dim_slot(f, maker, l->dim);
    if (!tf_leads(f, maker, n) || slot < 0 || !tf_slot_reduced(f, maker, slot)) continue;
    fail(q, "a spatial loop outside that memory spreads its reduction over several of them");
    tf_note(q->c->diags, l->at, "the loop");
    return false;
  }
  return true;
}

static bool check_passes(const keeping *q, int o) {
  if (first_tile(q, o) >= 0) return true;
  fail(q, "a branch that touches it passes no Tile of that memory; put one there");
  tf_note(q->c->diags, tf_leaf(q->c, o)->at, "op '%.60s' touches it here", tf_op_name(q->c, o));
  return false;
}

static bool check_home(const keeping *q) {
  const tf_facts *f = q->c->f;
  int home = f->home_scope[q->k->tensor];
  if (home < 0) return fail(q, "it is no intermediate, inputs and outputs live in the outermost memory");
  if (home != q->scope) {
    fail(q, "this scope is not its home; keep it there");
    tf_note(q->c->diags, f->tree->nodes[home].at, "its home scope");
    return false;
  }
  int above = tf_tree_level_above(f->tree, q->scope);
  if (q->k->level < above) return fail(q, "the Tile above the scope is further in already");
  return true;
}

static void check(const keeping *q) {
  const tf_facts *f = q->c->f;
  const tf_tensor *z = &f->wl->tensors[q->k->tensor];
  if (!check_home(q) || q->k->level == tf_tree_level_above(f->tree, q->scope)) return;
  bool ok = check_passes(q, z->producer);
  for (int i = 0; i < z->n_consumers; i++)
    ok = check_passes(q, z->consumers[i]) && ok;
  if (!ok || !check_whole(q, z->producer)) return;
  for (int i = 0; i < z->n_consumers; i++)
    if (!check_alike(q, z->producer, z->consumers[i])) return;
}

static void check_all(const tf_checker *c, tf_ranges *r) {
  for (int i = 0; i < c->f->tree->n_nodes; i++) {
    const tf_node *n = &c->f->tree->nodes[i];
    for (int k = 0; n->kind == TF_SCOPE && k < n->n_keep; k++)
      check(&(keeping){c, &n->keep[k], i, r});
  }
}

void tf_check_keep(const tf_checker *c) { check_all(c, NULL); }

bool tf_check_keep_moves(const tf_checker *c) {
  bool any = false;
  for (int i = 0; i < c->f->tree->n_nodes; i++)
    any |= c->f->tree->nodes[i].n_keep > 0;
  tf_ranges r;
  if (!any) return true;
  if (!tf_ranges_init(&r, c->arena, c->f)) return false;
  r.borderless = true;
  r.shift = TF_ARRAY(c->arena, tf_shift, (size_t)c->f->n_dims);
  if (r.shift) check_all(c, &r);
  return r.shift != NULL;
}

/* ---- retain ------------------------------------------------------------------------------
 * What a retaining scope leaves unmade must not be missed: of the ops that serve a retained tensor, those whose results
 * others read, too (docs/DECISIONS.md 9, 21). */
typedef struct {
  const tf_checker *c;
  bool *retained; /* [tensor] */
  bool *seen;     /* [op * n_nodes + node] */
} retaining;

static int limit_of(retaining *q, int o, int n);

/* The retained tensor by which the range of op o, which does not lead at node n, shrinks where it is still there; -1:
 * none. */
static int limit_inferred(retaining *q, int o, int n) {
  const tf_facts *f = q->c->f;
  const int out = f->wl->ops[o].out;
  const tf_tensor *z = &f->wl->tensors[out];
  if (q->retained[out] && n == f->home_scope[out]) return out;
  for (int i = 0; i < z->n_consumers; i++) {
    int by = tf_op_below(f, z->consumers[i], n) ? limit_of(q, z->consumers[i], n) : -1;
    if (by >= 0) return by;
  }
  return -1;
}

/* The same of any op; what was found of an op at a node once is not looked for again: it was none. */
static int limit_of(retaining *q, int o, int n) {
  const tf_facts *f = q->c->f;
  bool *seen = &q->seen[o * f->tree->n_nodes + n];
  if (*seen) return -1;
  *seen = true;
  if (!tf_leads(f, o, n)) return limit_inferred(q, o, n);
  int up = f->tree->nodes[f->lead[o]].parent;
  return up < 0 ? -1 : limit_of(q, o, up);
}

static void report(const retaining *q, int o, int reader, int by) {
  const tf_checker *c = q->c;
  tf_fail(
      c->diags, tf_leaf(c, o)->at, TF_E_ORDER,
      "'%.50s' is not made where '%.50s', which is retained, is still there: retain it, too, or let its readers share "
      "one scope",
      tf_tensor_name(c, c->f->wl->ops[o].out), tf_tensor_name(c, by));
  tf_note(c->diags, tf_leaf(c, reader)->at, "op '%.60s' reads it here", tf_op_name(c, reader));
}

/* Readers outside of a nested scope need what op o makes there, whether or not those in the scope do. */
static void check_scope(retaining *q, int o) {
  const tf_facts *f = q->c->f;
  const tf_tensor *z = &f->wl->tensors[f->wl->ops[o].out];
  const int home = f->home_scope[f->wl->ops[o].out];
  if (home < 0 || q->retained[f->wl->ops[o].out]) return;
  for (int n = f->tree->nodes[f->lead[o]].parent; n > home; n = f->tree->nodes[n].parent)
    for (int i = 0; i < z->n_consumers; i++) {
      if (tf_op_below(f, z->consumers[i], n)) continue;
      int by = limit_inferred(q, o, n);
      if (by < 0) continue;
      report(q, o, z->consumers[i], by);
      return;
    }
}

static void begin(retaining *q) { memset(q->seen, 0, (size_t)q->c->f->wl->n_ops * (size_t)q->c->f->tree->n_nodes); }

/* Whether a Seq around the nested scope that retains `inner` drops it in each run of the scope that retains `outer`:
 * its other children do not touch it. */
static bool dropped(const tf_facts *f, int inner, int outer) {
  const int top = f->home_scope[outer];
  bool drops = false;
  for (int n = f->home_scope[inner]; n != top && !drops && tf_is_above(f, top, n);) {
    n = f->tree->nodes[n].parent;
    drops = f->tree->nodes[n].kind == TF_SCOPE && f->tree->nodes[n].scope == TF_SEQ;
  }
  return drops;
}

/* A reader in a nested scope makes there what its own readers want, also where that is still there outside: then what
 * it reads must be there, too; or what the nested scope itself retains, so that nothing is read. */
static void check_served(retaining *q, int o) {
  const tf_facts *f = q->c->f;
  const tf_tensor *z = &f->wl->tensors[f->wl->ops[o].out];
  const int home = f->home_scope[f->wl->ops[o].out];
  if (home < 0 || q->retained[f->wl->ops[o].out]) return;
  for (int i = 0; i < z->n_consumers; i++) {
    const int reader = z->consumers[i], n = f->tree->nodes[f->lead[reader]].parent;
    if (n <= home || !tf_is_above(f, home, n)) continue;
    begin(q);
    const int by = limit_of(q, reader, home);
    begin(q);
    const int own = by < 0 ? -1 : limit_inferred(q, reader, n);
    if (by < 0 || (own >= 0 && !dropped(f, own, by))) continue;
    report(q, o, reader, by);
    return;
  }
}

bool tf_check_retained(const tf_checker *c) {
  const tf_facts *f = c->f;
  retaining q = {.c = c, .retained = TF_ARRAY(c->arena, bool, (size_t)f->wl->n_tensors)};
  bool any = false;
  for (int n = 0; q.retained && n < f->tree->n_nodes; n++)
    for (int k = 0; k < f->tree->nodes[n].n_retain; k++)
      any = q.retained[f->tree->nodes[n].retain[k].tensor] = true;
  if (!q.retained || !any) return q.retained != NULL;
  q.seen = TF_ARRAY(c->arena, bool, (size_t)f->wl->n_ops *(size_t)f->tree->n_nodes);
  for (int o = 0; q.seen && o < f->wl->n_ops; o++) {
    begin(&q);
    check_scope(&q, o);
    check_served(&q, o);
  }
  return q.seen != NULL;
}
