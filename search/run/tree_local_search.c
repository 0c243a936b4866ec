#include "search/run/tree_local_search.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/grow.h"
#include "base/rng.h"
#include "model/tree/build.h"
#include "search/common/exportable.h"
#include "search/common/objective.h"

/* PUTS: loops that one move changes.  TRIPS: trip counts tried for one of two loops.  OUTSIDE,
 * INSIDE: a new loop of the Tile, outside of all others or inside. */
enum { PUTS = 12, TRIPS = 24, OUTSIDE = -1, INSIDE = -2 };
enum { EFFORT_EACH = 8 }; /* most effort of an evaluation, on average */
/* SPREAD_FROM: with fewer evaluations instances are not moved.  SPREAD_EACH: evaluations needed for
 * each such move. */
enum { SPREAD_FROM = 6000, SPREAD_EACH = 16 };
/* KICKS: random moves at once in a local optimum.  KICK_TRIES: tries for them.  KICK_MOST: factor
 * by which each may raise the value. */
enum { KICKS = 3, KICK_TRIES = 200, KICK_MOST = 2 };

/* A change of a loop's trip count: `loop` is an index into its Tile's loops, or OUTSIDE, INSIDE. */
typedef struct {
  int node, loop, dim;
  int64_t trip;
  tf_axis axis; /* of a new loop */
} loop_change;

typedef struct {
  enum { LOOPS, SWAP, BYPASS, SCOPE, KEEP } kind;
  int n_changes;
  loop_change changes[PUTS];
  int node, what; /* SWAP: loops `what` and `what` + 1; BYPASS, KEEP: the tensor; SCOPE: the kind */
  int level;      /* KEEP: the memory that keeps it; 0: none is named */
} move;

typedef struct {
  const tf_tree *t;
  bool spread;  /* moves of instances, which are tried last, are in the list */
  int n, first; /* the first moves are tried before the others */
  move *moves;
  bool failed;
} list;

static void add_move(list *l, move m) {
  if (TF_GROW(l->moves, l->n))
    l->moves[l->n++] = m;
  else
    l->failed = true;
}

/* ---- applying a move ------------------------------------------------------------------------ */
static void build_loops(tf_build *b, const tf_node *at, int n, const move *m) {
  for (int i = 0; i < m->n_changes; i++)
    if (m->changes[i].node == n && m->changes[i].loop == OUTSIDE)
      tf_build_loop(b, (tf_loop){.dim = m->changes[i].dim, .trip = m->changes[i].trip});
  for (int k = 0; k < at->n_loops; k++) {
    const bool first = m->kind == SWAP && m->node == n && m->what == k;
    const bool second = m->kind == SWAP && m->node == n && m->what + 1 == k;
    tf_loop l = at->loops[first ? k + 1 : second ? k - 1 : k];
    for (int i = 0; i < m->n_changes; i++)
      if (m->changes[i].node == n && m->changes[i].loop == k) l.trip = m->changes[i].trip;
    if (l.trip != 1) tf_build_loop(b, l);
  }
  for (int i = 0; i < m->n_changes; i++)
    if (m->changes[i].node == n && m->changes[i].loop == INSIDE)
      tf_build_loop(b, (tf_loop){.dim = m->changes[i].dim,
                                 .axis = m->changes[i].axis,
                                 .trip = m->changes[i].trip});
}

/* The node with the tensor added to those that bypass it, or removed. */
static void build_toggled(tf_build *b, const tf_node *at, int z) {
  tf_node like = *at;
  bool had = false;
  like.n_bypass = 0;
  tf_build_node(b, &like);
  for (int k = 0; k < at->n_bypass; k++) {
    had |= at->bypass[k].tensor == z;
    if (at->bypass[k].tensor != z) tf_build_bypass(b, at->bypass[k]);
  }
  if (!had) tf_build_bypass(b, (tf_named){.tensor = z});
}

/* The scope with the tensor kept in another memory. */
static void build_kept(tf_build *b, const tf_node *at, int z, int level) {
  tf_node like = *at;
  like.n_keep = 0;
  tf_build_node(b, &like);
  for (int k = 0; k < at->n_keep; k++)
    if (at->keep[k].tensor != z) tf_build_keep(b, at->keep[k]);
  if (level) tf_build_keep(b, (tf_keep){.tensor = z, .level = level});
}

/* The tree after the move.  NULL: a rule refuses it, or memory ran out. */
static tf_tree *apply(const tf_tree *t, const move *m, bool *failed) {
  tf_build *b = tf_build_new(t->arch, t->workload, NULL);
  for (int n = 0; b && n < t->n_nodes; n++) {
    tf_node like = t->nodes[n];
    if (m->kind == SCOPE && m->node == n) like.scope = (tf_scope)m->what;
    if (m->kind == BYPASS && m->node == n)
      build_toggled(b, &t->nodes[n], m->what);
    else if (m->kind == KEEP && m->node == n)
      build_kept(b, &t->nodes[n], m->what, m->level);
    else
      tf_build_node(b, &like);
    if (like.kind == TF_TILE) build_loops(b, &t->nodes[n], n, m);
  }
  *failed |= !b || !tf_build_whole(b);
  return tf_build_tree(b);
}

/* ---- listing the moves ---------------------------------------------------------------------- */
/* Adds all other ways for two loops of one dim, whose counts have the product `all`, to share
 * it. */
static void share(list *l, loop_change a, loop_change b, int64_t all) {
  int64_t counts[TRIPS];
  int n = 0;
  for (int64_t k = 1; k * k <= all && n + 4 <= TRIPS; k++)
    if (all % k == 0) counts[n++] = k, counts[n++] = all / k;
  counts[n++] = a.trip + 1;
  counts[n++] = a.trip - 1;
  for (int i = 0; i < n; i++) {
    const int64_t other = counts[i] > 0 ? tf_ceil_div(all, counts[i]) : 0;
    if (!other || counts[i] == a.trip || (a.loop < 0 && counts[i] == 1) ||
        (b.loop < 0 && other == 1))
      continue;
    move m = {.kind = LOOPS, .n_changes = 2, .changes = {a, b}};
    m.changes[0].trip = counts[i];
    m.changes[1].trip = other;
    add_move(l, m);
  }
}

static int temporal(const tf_node *at, int dim) {
  for (int k = 0; k < at->n_temporal; k++)
    if (at->loops[k].dim == dim) return k;
  return -1;
}

/* Pairs loop k of node n with others of the same dim in node `other`, or with a new one. */
static void pair(list *l, int n, int k, int other) {
  const tf_node *to = &l->t->nodes[other];
  const tf_loop *from = &l->t->nodes[n].loops[k];
  const loop_change a = {n, k, from->dim, from->trip, TF_TEMPORAL};
  for (int i = 0; i < to->n_loops; i++)
    if (to->loops[i].dim == from->dim && (other < n || i > k || other > n))
      share(l, a, (loop_change){other, i, from->dim, to->loops[i].trip, TF_TEMPORAL},
            from->trip * to->loops[i].trip);
  if (temporal(to, from->dim) >= 0) return;
  share(l, a, (loop_change){other, OUTSIDE, from->dim, 1, TF_TEMPORAL}, from->trip);
  share(l, a, (loop_change){other, INSIDE, from->dim, 1, TF_TEMPORAL}, from->trip);
}

/* Pairs loops of the Tile with one another, and with those of Tiles above it up to a scope, in both
 * directions. */
static void pairs(list *l, int n) {
  for (int up = n; up >= 0 && l->t->nodes[up].kind == TF_TILE; up = l->t->nodes[up].parent) {
    for (int k = 0; k < l->t->nodes[n].n_loops; k++)
      pair(l, n, k, up);
    for (int k = 0; up != n && k < l->t->nodes[up].n_loops; k++)
      if (temporal(&l->t->nodes[n], l->t->nodes[up].loops[k].dim) < 0) pair(l, up, k, n);
  }
}

static bool has_dim(const tf_tree *t, int n, int dim) {
  for (int i = n; i < t->nodes[n].end; i++)
    for (int d = 0; t->nodes[i].kind == TF_OP && d < t->workload->ops[t->nodes[i].op].n_dims; d++)
      if (t->workload->ops[t->nodes[i].op].dims[d] == dim) return true;
  return false;
}

/* The temporal loop of the dim in the Tile, or in the Tile right below or above it; loop -1: there
 * is none. */
static loop_change nearest_loop(const tf_tree *t, int n, int dim) {
  const int child = t->nodes[n].children[0], parent = t->nodes[n].parent;
  const int order[] = {n, child, parent};
  for (int i = 0; i < 3; i++) {
    const int at = order[i];
    const int k = at >= 0 && t->nodes[at].kind == TF_TILE ? temporal(&t->nodes[at], dim) : -1;
    if (k >= 0) return (loop_change){at, k, dim, t->nodes[at].loops[k].trip, TF_TEMPORAL};
  }
  return (loop_change){.node = n, .loop = -1, .dim = dim, .trip = 1};
}

/* Moves instances from one dim to another: the first takes that many more steps, the other
 * fewer. */
static void spread(list *l, int n) {
  static const int64_t parts[] = {1, 2, 3, 4, 5, 7, 8};
  const tf_node *at = &l->t->nodes[n];
  for (int k = at->n_temporal; k < at->n_loops; k++)
    for (int dim = 0; dim < l->t->workload->n_dims; dim++)
      for (size_t f = 0; f < sizeof parts / sizeof *parts; f++) {
        const tf_loop *from = &at->loops[k];
        const int64_t by = parts[f] == 1 ? from->trip : parts[f];
        if (dim == from->dim || from->trip % by || (f && by == from->trip) ||
            !has_dim(l->t, n, dim))
          continue;
        loop_change more = nearest_loop(l->t, n, from->dim), less = nearest_loop(l->t, n, dim);
        if (less.loop < 0 || less.trip == 1) continue;
        less.trip = tf_ceil_div(less.trip, by);
        if (more.loop < 0) more.loop = INSIDE;
        more.trip *= by;
        add_move(l, (move){.kind = LOOPS,
                           .n_changes = 4,
                           .changes = {{n, k, from->dim, from->trip / by, from->axis},
                                       {n, INSIDE, dim, by, from->axis},
                                       more,
                                       less}});
      }
}

/* Moves a factor to the first Tiles below that have the dim (up: out of these).  False:
 * impossible. */
static bool below(const tf_tree *t, int n, loop_change what, bool up, move *m) {
  const tf_node *at = &t->nodes[n];
  bool ok = at->kind != TF_OP;
  if (at->kind == TF_TILE && has_dim(t, n, what.dim)) {
    const int k = temporal(at, what.dim);
    const int64_t trip = k < 0 ? 1 : at->loops[k].trip;
    if (m->n_changes == PUTS || (up && trip % what.trip)) return false;
    m->changes[m->n_changes++] = (loop_change){
        n, k < 0 ? INSIDE : k, what.dim, up ? trip / what.trip : trip * what.trip, TF_TEMPORAL};
  }
  for (int c = 0; at->kind == TF_SCOPE && c < at->n_children && ok; c++)
    ok = below(t, at->children[c], what, up, m);
  return ok;
}

/* Moves factors between the Tile and all Tiles that are first below its scope. */
static void across_scope(list *l, int n) {
  static const int64_t factors[] = {2, 3, 4, 5, 7, 8, 16};
  const tf_node *at = &l->t->nodes[n];
  if (at->n_children != 1 || l->t->nodes[at->children[0]].kind != TF_SCOPE) return;
  for (int dim = 0; dim < l->t->workload->n_dims; dim++)
    for (size_t f = 0; f < 2 * sizeof factors / sizeof *factors; f++) {
      const int64_t by = factors[f / 2];
      const bool up = f % 2;
      const int k = temporal(at, dim);
      const int64_t trip = k < 0 ? 1 : at->loops[k].trip;
      move m = {.kind = LOOPS};
      if (!up && trip % by) continue;
      m.changes[m.n_changes++] =
          (loop_change){n, k < 0 ? OUTSIDE : k, dim, up ? trip * by : trip / by, TF_TEMPORAL};
      if (below(l->t, at->children[0], (loop_change){.dim = dim, .trip = by}, up, &m) &&
          m.n_changes > 1)
        add_move(l, m);
    }
}

static bool touches(const tf_tree *t, int n, int z) {
  for (int i = n; i < t->nodes[n].end; i++) {
    if (t->nodes[i].kind != TF_OP) continue;
    const tf_op *op = &t->workload->ops[t->nodes[i].op];
    if (op->out == z) return true;
    for (int r = 0; r < op->n_reads; r++)
      if (op->reads[r].tensor == z) return true;
  }
  return false;
}

/* Other memories that may keep what has its home at the scope. */
static void keeps(list *l, int n) {
  const tf_tree *t = l->t;
  for (int z = 0; z < t->workload->n_tensors; z++) {
    if (tf_tree_home_scope(t, z) != n) continue;
    bool named = false;
    for (int k = 0; k < t->nodes[n].n_keep; k++)
      named |= t->nodes[n].keep[k].tensor == z;
    const int home = tf_tree_home(t, z);
    for (int level = named ? 0 : home + 1; level < t->arch->n_memories; level++)
      if (level != home) add_move(l, (move){.kind = KEEP, .node = n, .what = z, .level = level});
  }
}

static void moves_of(list *l) {
  l->n = 0;
  for (int n = 0; n < l->t->n_nodes; n++) {
    const tf_node *at = &l->t->nodes[n];
    for (int s = 0; at->kind == TF_SCOPE && s < TF_N_SCOPES; s++)
      if (s != (int)at->scope) add_move(l, (move){.kind = SCOPE, .node = n, .what = s});
    if (at->kind == TF_SCOPE) keeps(l, n);
    if (at->kind != TF_TILE) continue;
    pairs(l, n);
    across_scope(l, n);
    for (int k = 0; k + 1 < at->n_temporal; k++)
      add_move(l, (move){.kind = SWAP, .node = n, .what = k});
    for (int z = 0; at->level > 0 && z < l->t->workload->n_tensors; z++)
      if (touches(l->t, n, z)) add_move(l, (move){.kind = BYPASS, .node = n, .what = z});
  }
  l->first = l->n;
  for (int n = 0; n < l->t->n_nodes && l->spread; n++)
    if (l->t->nodes[n].kind == TF_TILE) spread(l, n);
}

/* ---- descent -------------------------------------------------------------------------------- */
/* The budget of the descent, and its moves. */
typedef struct {
  tf_evaluator *q;
  int64_t evals, effort; /* limits of the trial's counters */
  tf_budget_clock *clock;
  tf_rng rng;
  list l;
} descent;

static bool over(const descent *d) {
  return d->l.failed || d->q->evals >= d->evals || d->q->effort >= d->effort ||
         (d->clock && tf_clock_over(d->clock));
}

/* The tree after a move, and its value; NULL: there is none. */
static tf_tree *try_move(descent *d, const move *m, tf_found *f) {
  tf_tree *t = apply(d->l.t, m, &d->l.failed);
  if (t && tf_can_export(d->q->exportable, t) && tf_evaluate_tree(t, d->q, &f->figures, NULL)) {
    f->value = tf_objective_value(d->q->objective, &f->figures);
    return t;
  }
  tf_tree_free(t);
  return NULL;
}

static void take_tree(descent *d, tf_tree *t, tf_found *f, tf_found *at) {
  tf_tree_free(at->tree);
  *at = *f;
  d->l.t = at->tree = t;
  moves_of(&d->l);
}

/* Makes the move if it improves the value. */
static bool improves(descent *d, int i, tf_found *at) {
  tf_found f = {0};
  tf_tree *t = try_move(d, &d->l.moves[i], &f);
  const bool better = t && f.value < at->value * (1 - 1e-12);
  if (better)
    take_tree(d, t, &f, at);
  else
    tf_tree_free(t);
  return better;
}

/* Makes improving moves, one after another, until there is none; those that are tried last only
 * where no other improves.  `at`: the current mapping; its tree is NULL as long as it is the list's
 * own. */
static void descend(descent *d, tf_found *at) {
  for (int i = 0, idle = 0, last = 0;
       (idle < d->l.first || last < d->l.n - d->l.first) && !over(d);) {
    if (idle < d->l.first) {
      i %= d->l.first;
      idle = improves(d, i++, at) ? 0 : idle + 1;
    } else if (improves(d, d->l.first + last++, at)) {
      idle = last = 0;
    }
  }
}

/* Perturbation: makes a few moves, whatever they cost. */
static void perturb(descent *d, tf_found *at) {
  for (int left = KICKS, tries = 0; left > 0 && tries < KICK_TRIES && d->l.n && !over(d); tries++) {
    tf_found f = {0};
    tf_tree *t = try_move(d, &d->l.moves[tf_rng_below(&d->rng, (uint32_t)d->l.n)], &f);
    if (t && f.value < at->value * KICK_MOST) {
      take_tree(d, t, &f, at);
      left--;
    } else {
      tf_tree_free(t);
    }
  }
}

bool tf_tree_local_search(const tf_tree *tree, double value, const tf_local_search_opts *how,
                          tf_budget_clock *clock, tf_evaluator *q, tf_found *out) {
  const int64_t most = how->evals;
  descent d = {.q = q,
               .evals = q->evals + most,
               .effort = q->effort + (how->effort ? how->effort : EFFORT_EACH * most),
               .clock = clock,
               .l.t = tree,
               .l.spread = most >= SPREAD_FROM,
               .rng = tf_rng_new(how->seed, 0)};
  *out = (tf_found){.value = value};
  moves_of(&d.l);
  if (d.l.spread && most / SPREAD_EACH < d.l.n - d.l.first) d.l.spread = false, d.l.n = d.l.first;
  descend(&d, out);
  for (int64_t before = -1;
       !over(&d) && q->evals > before && out->value > how->goal * (1 + 1e-12);) {
    tf_found at = {.value = out->value};
    before = q->evals;
    d.l.t = out->tree ? out->tree : tree;
    moves_of(&d.l);
    perturb(&d, &at);
    descend(&d, &at);
    if (at.tree && at.value < out->value * (1 - 1e-12)) {
      tf_tree_free(out->tree);
      *out = at;
    } else {
      tf_tree_free(at.tree);
    }
  }
  q->failed |= d.l.failed;
  free(d.l.moves);
  return out->tree;
}
