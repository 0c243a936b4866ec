/* keep: whether the memory named can be the home. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "model/input/dims.h"
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

/* The next spatial loop further out than loop k of node n, below the scope, that matters; moves n
 * and k to it.  False if there is none. */
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
      if (t->nodes[m].loops[j].dim == dim && !tf_mul(step, t->nodes[m].loops[j].trip, &step))
        return 0;
  return step;
}

/* How many elements along rank r of the tensor one element along `dim` of op o moves. */
static int64_t coef_of(const keeping *q, int o, int r, int dim) {
  const tf_op *op = &q->c->f->wl->ops[o];
  if (op->out == q->k->tensor) return op->dims[r] == dim;
  for (int i = 0; i < op->n_reads; i++) {
    int64_t coef =
        op->reads[i].tensor == q->k->tensor ? tf_index_coef(&op->reads[i].index[r], dim) : 0;
    if (coef) return coef;
  }
  return 0;
}

/* A spatial loop on the path of an op. */
typedef struct {
  int op, node, slot;
} spread;

/* Whether the two loops move the tensor alike, where both ops lead; assumed where one does not or a
 * trip count is open, which depends on ranges. */
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
static bool step_shift(const tf_shift *s, int k, int64_t *by) {
  if (k >= TF_SHIFT_LOOPS || (s->mixed && s->mask >> k & 1)) return false;
  *by = s->mask >> k & 1 ? s->per_step[k] : 0;
  return true;
}

/* How far a step of the loop moves rank r of what is touched of the tensor below the memory's Tile;
 * false: unlike. */
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
      alike &= step_shift(i < 0 ? &q->r->shift[f->dim_from[o] + r] : &read, k, &one) &&
               (!any || one == *by);
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
  return la->axis == lb->axis && (open || la->trip == lb->trip) &&
         (q->r ? same_shift(q, a, b) : same_step(q, a, b));
}

/* ---- what an instance makes, and what is read there ----------------------------------------- */

enum { MOST_SETTINGS = 1 << 14 }; /* most settings looked at for one rank and reader */

/* Spatial loops that are alike in the branches of maker and reader. */
typedef struct {
  spread made, read;
  int64_t trip;
} twin;

/* A loop of a branch by its number among all, its settings, and how far a step moves what is
 * touched; 0: unlike. */
typedef struct {
  int loop;
  int64_t n, shift;
} wheel;

/* Along one rank: the twins that move it, and the temporal loops in either branch that do. */
typedef struct {
  const keeping *q;
  int maker, reader, rank;
  int n_twins, n_made, n_read;
  twin twins[TF_SHIFT_LOOPS];
  wheel made[TF_SHIFT_LOOPS], read[TF_SHIFT_LOOPS];
  int64_t instances, makes, reads; /* settings of each */
  tf_ranges r;
  int64_t *digits; /* [loop] */
  tf_ival *parts;  /* [makes] what one instance makes, step by step */
  int64_t n_parts; /* once joined: intervals that do not touch, in order */
} along;

static int loop_no(const keeping *q, spread s) { return q->c->f->loop_from[s.node] + s.slot; }

/* The temporal loops between the scope and op o's first Tile that move the rank; the product of
 * their trip counts, 0: too many. */
static int64_t find_wheels(const keeping *q, int o, int rank, wheel *list, int *n) {
  const tf_tree *t = q->c->f->tree;
  int64_t all = 1;
  *n = 0;
  for (int m = t->nodes[first_tile(q, o)].parent; m != q->scope; m = t->nodes[m].parent)
    for (int k = 0; t->nodes[m].kind == TF_TILE && k < t->nodes[m].n_temporal; k++) {
      int64_t by = 0;
      const int64_t trip = t->nodes[m].loops[k].trip;
      if (trip <= 1) continue;
      const bool alike = shift_there(q, (spread){o, m, k}, rank, &by);
      if (alike && !by) continue;
      if (*n == TF_SHIFT_LOOPS) return 0;
      all = all && trip <= MOST_SETTINGS / all ? all * trip : 0;
      list[(*n)++] = (wheel){loop_no(q, (spread){o, m, k}), trip, alike ? by : 0};
    }
  return all;
}

static void set_wheels(const along *a, const wheel *list, int n, int64_t at) {
  for (int i = 0; i < n; at /= list[i++].n)
    a->digits[list[i].loop] = at % list[i].n;
}

static void set_instance(const along *a, int64_t at) {
  for (int i = 0; i < a->n_twins; at /= a->twins[i++].trip)
    a->digits[loop_no(a->q, a->twins[i].made)] = a->digits[loop_no(a->q, a->twins[i].read)] =
        at % a->twins[i].trip;
}

/* Finds the ranges on entry to op o's first Tile. */
static void enter_tile(along *a, int o) {
  tf_ranges_reset(&a->r);
  tf_ranges_towards(&a->r, first_tile(a->q, o));
}

static int by_start(const void *x, const void *y) {
  const tf_ival *a = x, *b = y;
  return (a->lo > b->lo) - (a->lo < b->lo);
}

/* Finds what the instance at hand makes, as intervals with gaps between them. */
static void find_made(along *a) {
  int64_t n = 0;
  for (int64_t i = 0; i < a->makes; i++) {
    set_wheels(a, a->made, a->n_made, i);
    enter_tile(a, a->maker);
    const tf_ival part = a->r.range[a->q->c->f->dim_from[a->maker] + a->rank];
    if (part.len > 0) a->parts[n++] = part;
  }
  qsort(a->parts, (size_t)n, sizeof *a->parts, by_start);
  a->n_parts = 0;
  for (int64_t i = 0; i < n; i++) {
    tf_ival *last = a->n_parts ? &a->parts[a->n_parts - 1] : NULL;
    if (last && a->parts[i].lo <= last->lo + last->len)
      *last = tf_hull(*last, a->parts[i]);
    else
      a->parts[a->n_parts++] = a->parts[i];
  }
}

static bool has(const along *a, tf_ival v) {
  for (int64_t i = 0; i < a->n_parts; i++)
    if (a->parts[i].lo <= v.lo && v.lo + v.len <= a->parts[i].lo + a->parts[i].len) return true;
  return v.len <= 0;
}

/* What a read takes along an index, with ranges as they are. */
static tf_ival read_at(const along *a, int o, const tf_index *x) {
  const tf_facts *f = a->q->c->f;
  tf_ival v = {x->c, 1};
  for (int t = 0; t < x->n_terms; t++) {
    const tf_ival d = a->r.range[f->dim_from[o] + tf_dim_slot(f, o, x->terms[t].dim)];
    if (d.len <= 0) return (tf_ival){0, 0};
    v = tf_index_plus(v, x->terms[t].coef, d);
  }
  return a->r.borderless ? v : tf_clip(&f->wl->tensors[a->q->k->tensor], a->rank, v);
}

/* Whether all that is read below the reader's first Tile, with the loops as set, is made. */
static bool finds_all(along *a) {
  const tf_facts *f = a->q->c->f;
  const int tile = first_tile(a->q, a->reader);
  bool all = true;
  enter_tile(a, a->reader);
  for (int j = f->leaf_from[tile]; j < f->leaf_end[tile]; j++) {
    const tf_op *op = &f->wl->ops[f->leaf_op[j]];
    for (int i = 0; i < op->n_reads; i++)
      if (op->reads[i].tensor == a->q->k->tensor)
        all = all && has(a, read_at(a, f->leaf_op[j], &op->reads[i].index[a->rank]));
  }
  return all;
}

static bool instances_find_all(along *a) {
  bool all = true;
  for (int64_t i = 0; i < a->instances && all; i++) {
    set_instance(a, i);
    find_made(a);
    for (int64_t k = 0; k < a->reads && all; k++) {
      set_wheels(a, a->read, a->n_read, k);
      all = finds_all(a);
    }
  }
  return all;
}

/* Whether both branches take the same steps: then the first stands for all.  Not where a border may
 * cut what is made: its steps begin there, and those of the reads further out. */
static bool same_steps(const along *a) {
  bool same = a->n_made == a->n_read && !a->q->c->f->wl->tensors[a->q->k->tensor].pad[a->rank];
  for (int i = 0; i < a->n_made && same; i++)
    same = a->made[i].shift && a->made[i].shift == a->read[i].shift && a->made[i].n == a->read[i].n;
  return same;
}

/* Checks that each instance makes what is read in it along one rank that the twins move: in the
 * first run of the scope, and in one far from all borders. */
static bool check_along(along *a) {
  const keeping *q = a->q;
  a->makes = find_wheels(q, a->maker, a->rank, a->made, &a->n_made);
  a->reads = find_wheels(q, a->reader, a->rank, a->read, &a->n_read);
  if (same_steps(a)) a->makes = a->reads = a->instances = 1;
  const bool few =
      a->makes && a->reads && a->instances && a->makes + a->reads <= MOST_SETTINGS / a->instances;
  a->parts = few ? TF_ARRAY(q->c->arena, tf_ival, (size_t)a->makes) : NULL;
  a->r = *q->r;
  a->r.shift = NULL;
  a->r.digits = a->digits;
  if (few && !a->parts) return true; /* memory ran out, which is reported elsewhere */
  bool all = few;
  for (int far = 0; far < 2 && all; far++) {
    memset(a->digits, 0, (size_t)q->c->f->n_loops * sizeof *a->digits);
    a->r.borderless = far;
    all = instances_find_all(a);
  }
  if (all) return true;
  fail(q, few ? "an instance of that memory reads more of it than is made there; put the spatial "
                "loop above the scope"
              : "its instances make and read it in more than 16,384 steps, too many to look at; "
                "put the spatial loop above the scope");
  tf_note(q->c->diags, q->c->f->tree->nodes[a->twins[0].made.node].loops[a->twins[0].made.slot].at,
          "the loop");
  tf_note(q->c->diags, tf_leaf(q->c, a->reader)->at, "read here");
  return false;
}

/* Checks that each instance makes what is read in it, along the ranks that spatial loops move. */
static bool check_within(const keeping *q, const twin *twins, int n) {
  along a = {.q = q, .maker = twins[0].made.op, .reader = twins[0].read.op};
  a.digits = TF_ARRAY(q->c->arena, int64_t, (size_t)q->c->f->n_loops + 1);
  for (int r = 0; a.digits && r < q->c->f->wl->tensors[q->k->tensor].rank; r++) {
    a.rank = r;
    a.n_twins = 0;
    a.instances = 1;
    for (int i = 0; i < n; i++) {
      int64_t by = 0;
      if (!shift_there(q, twins[i].made, r, &by) || !by) continue;
      a.twins[a.n_twins++] = twins[i];
      a.instances = twins[i].trip > MOST_SETTINGS ? 0 : a.instances * twins[i].trip;
      a.instances = a.instances > MOST_SETTINGS ? 0 : a.instances;
    }
    if (a.n_twins && !check_along(&a)) return false;
  }
  return true;
}

/* Checks that the spatial loops between the scope and the first Tiles of the level are alike. */
static bool check_alike(const keeping *q, int maker, int reader) {
  const tf_tree *t = q->c->f->tree;
  int na = t->nodes[first_tile(q, maker)].parent, ka = t->nodes[na].n_loops;
  int nb = t->nodes[first_tile(q, reader)].parent, kb = t->nodes[nb].n_loops;
  twin twins[TF_SHIFT_LOOPS];
  for (int n = 0;;) {
    bool more_a = next_spatial(q, &na, &ka), more_b = next_spatial(q, &nb, &kb);
    if (!more_a && !more_b) return !q->r || !n || check_within(q, twins, n);
    const spread a = {maker, na, ka}, b = {reader, nb, kb};
    if (more_a && more_b && n < TF_SHIFT_LOOPS && same_loop(q, a, b)) {
      twins[n++] = (twin){a, b, t->nodes[na].loops[ka].trip};
      continue;
    }
    fail(q, "the spatial loops between the scope and that memory differ from branch to branch; put "
            "them above the scope, or make them alike");
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
  if (home < 0)
    return fail(q, "it is no intermediate, inputs and outputs live in the outermost memory");
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
 * What a retaining scope leaves unmade must not be missed: of the ops that serve a retained tensor,
 * those whose results others read, too (docs/SEMANTICS.md D9, D21). */
typedef struct {
  const tf_checker *c;
  bool *retained; /* [tensor] */
  bool *seen;     /* [op * n_nodes + node] */
} retaining;

static int limit_of(retaining *q, int o, int n);

/* The retained tensor by which the range of op o, which does not lead at node n, shrinks where it
 * is still there; -1: none. */
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

/* The same of any op; what was found of an op at a node once is not looked for again: it was none.
 */
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
  const int out = c->f->wl->ops[o].out;
  tf_fail(c->diags, tf_leaf(c, o)->at, TF_E_ORDER,
          "'%.50s' is not made where '%.50s', which is retained, is still there: %slet its readers "
          "share one scope",
          tf_tensor_name(c, out), tf_tensor_name(c, by),
          q->retained[out] ? "" : "retain it, too, or ");
  tf_note(c->diags, tf_leaf(c, reader)->at, "op '%.60s' reads it here", tf_op_name(c, reader));
}

/* Readers outside of a nested scope need what op o makes there, whether or not those in the scope
 * do. */
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

static void forget_seen(retaining *q) {
  memset(q->seen, 0, (size_t)q->c->f->wl->n_ops * (size_t)q->c->f->tree->n_nodes);
}

/* Whether a Seq around the nested scope that retains `inner` drops it in each run of the scope that
 * retains `outer`: its other children do not touch it. */
static bool dropped(const tf_facts *f, int inner, int outer) {
  const int top = f->home_scope[outer];
  bool drops = false;
  for (int n = f->home_scope[inner]; n != top && !drops && tf_is_above(f, top, n);) {
    n = f->tree->nodes[n].parent;
    drops = f->tree->nodes[n].kind == TF_SCOPE && tf_scope_at(f->tree->nodes[n].scope)->drops;
  }
  return drops;
}

/* Whether the scope may run more than once in one instance. */
static bool runs_again(const tf_facts *f, int scope) {
  bool again = false;
  for (int n = f->tree->nodes[scope].parent; n >= 0; n = f->tree->nodes[n].parent)
    for (int k = 0; f->tree->nodes[n].kind == TF_TILE && k < f->tree->nodes[n].n_temporal; k++)
      again |= f->tree->nodes[n].loops[k].trip != 1;
  return again;
}

/* A reader in a nested scope makes there what its own readers want, also where that is still there
 * outside: then what it reads must be there, too; or what the nested scope itself retains, so that
 * nothing is read. */
static void check_served(retaining *q, int o) {
  const tf_facts *f = q->c->f;
  const tf_tensor *z = &f->wl->tensors[f->wl->ops[o].out];
  const int home = f->home_scope[f->wl->ops[o].out];
  if (home < 0 || (q->retained[f->wl->ops[o].out] && !runs_again(f, home))) return;
  for (int i = 0; i < z->n_consumers; i++) {
    const int reader = z->consumers[i], n = f->tree->nodes[f->lead[reader]].parent;
    if (n <= home || !tf_is_above(f, home, n)) continue;
    forget_seen(q);
    const int by = limit_of(q, reader, home);
    forget_seen(q);
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
    forget_seen(&q);
    check_scope(&q, o);
    check_served(&q, o);
  }
  return q.seen != NULL;
}
