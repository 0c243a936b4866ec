/* Depth-first branch and bound over the Tiles of a template, choices by ascending bound. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/eval/hooks.h"
#include "search/exact/state.h"

/* ---- choices of a Tile ----------------------------------------------------------------------- */
/* The context of a Tile's visitor. */
typedef struct {
  tf_x_worker *w;
  int stage;
  const tf_x_state *base;
  tf_x_state now;
  const bool *open_before; /* open nodes of the stage before */
  double units[TF_X_OPS], before[TF_X_OPS];
  int32_t len[TF_X_DIMS];
  double parent;                                         /* bound of the choices made before */
  double time[TF_X_OPS], time_before[TF_X_OPS], all[64]; /* time: 0 where nothing is known */
  bool alone;       /* measuring: the op's Tile is chosen, those of other ops are open */
  double behind_pj; /* measuring: energy of what is closed without the op's Tile */
  double open_pj;   /* lower bound on the energy of the other ops whose Tiles are not chosen */
  bool passes_load; /* measuring: a scope may hide the node's first load */
  int node;         /* the node that is measured */
  tf_x_list *out;
  int64_t no;
} visit;

static bool keep_choice(visit *c, double bound) {
  const tf_x_tile *x = &c->w->t->tiles[c->stage];
  tf_x_list *out = c->out;
  int32_t *trips = TF_ARRAY(out->pool, int32_t, (size_t)x->n_loops + 1);
  if (!trips || !TF_GROW(out->list, out->n)) return false;
  for (int i = 0; i < x->n_loops; i++)
    trips[i] = (int32_t)c->now.trips[x->first_loop + i];
  out->list[out->n++] = (tf_x_choice){bound, c->no++, trips};
  return true;
}

/* Sets the loops that take all that is left of op o's dims. */
static void set_rest(const tf_x_worker *w, const tf_x_tile *x, const tf_x_state *base,
                     const tf_x_spread *s, const int32_t *t, tf_x_state *now) {
  for (int i = 0; i < w->t->facts->wl->ops[x->op].n_dims; i++)
    if (w->t->rest[x->op][i] >= 0)
      now->trips[w->t->rest[x->op][i]] = base->left[w->t->facts->dim_from[x->op] + i];
  for (int i = 0; i < x->n_dims; i++) {
    int slot = x->slot[i] - w->t->facts->dim_from[x->op];
    int32_t inside = base->left[x->slot[i]] / (s->trips[0][i] * s->trips[1][i]);
    if (w->t->rest[x->op][slot] >= 0)
      now->trips[w->t->rest[x->op][slot]] = x->last ? inside : inside / t[i];
  }
}

/* Whether Tile x spreads over the resource that a violation is short of: instances of a memory, or
 * units. */
static bool spreads_over(const tf_x_template *t, const tf_x_tile *x, const tf_violation *v) {
  const tf_facts *f = t->facts;
  int u = x->op < 0 ? -1 : tf_ops_unit(f->arch, f->wl, x->op);
  bool units = u >= 0 && f->arch->units[u].below == x->level;
  if (v->unit < 0) return x->level == v->level - 1 && !units;
  return x->level == v->level && units && u == v->unit;
}

/* Whether instances are lacking, and no later Tile could add to them. */
static bool lacks_instances(const tf_x_template *t, int stage, const tf_result *r) {
  for (int i = 0; i < r->n_violations; i++) {
    const tf_violation *v = &r->violations[i];
    bool final = v->code == TF_E_FANOUT;
    for (int k = stage + 1; k < t->n_tiles; k++)
      final &= !spreads_over(t, &t->tiles[k], v);
    if (final) return true;
  }
  return false;
}

/* Sets the units of each op, and of all together, for the choice in c->now. */
static void set_units(visit *c) {
  tf_x_worker *w = c->w;
  const tf_x_tile *x = &w->t->tiles[c->stage];
  for (int o = 0; o < w->t->facts->wl->n_ops; o++)
    c->units[o] = x->op < 0 || x->op == o ? tf_x_most_units(w, o, c->stage, &c->now) : c->before[o];
  for (int u = 0; u < w->t->facts->arch->n_units && x->op < 0; u++)
    c->all[u] = tf_x_all_units(w, u, c->stage, &c->now);
}

/* Evaluates the choice in c->now, and keeps it if its bound is below the limit; false to stop. */
static bool evaluate_choice(visit *c) {
  tf_x_worker *w = c->w;
  const tf_x_tile *x = &w->t->tiles[c->stage];
  tf_result r;
  if (x->op < 0 && !tf_x_is_legal(w, c->now.trips)) {
    w->task->counts.by_rules++;
    return true;
  }
  if (!tf_x_spend(w)) return false;
  if (x->complete) {
    tf_x_leaf(w, c->now.trips);
    return !w->task->failed;
  }
  double bound = c->parent;
  set_units(c);
  tf_open open = {x->open, c->units, c->time, c->all};
  /* what cannot be counted incomplete may be countable when complete */
  if (!tf_x_partial(w, c->now.trips, &open, &r)) {
    if (!keep_choice(c, c->parent)) w->task->failed = true;
    return !w->task->failed;
  }
  if (lacks_instances(w->t, c->stage, &r)) {
    w->task->counts.by_mesh++;
    return true;
  }
  if (!tf_x_fits(w, x, &r)) return true;
  w->open_pj = c->open_pj;
  if (x->bounds) bound = fmax(bound, tf_x_bound_of(w, &r));
  if (!tf_x_below_limit(w, bound)) {
    w->task->counts.by_bound++;
    return true;
  }
  if (!keep_choice(c, bound)) w->task->failed = true;
  return !w->task->failed;
}

/* Judges the Tile with these trip counts; false: stop. */
static bool evaluate_filled(void *ctx, const tf_x_spread *s, const int32_t *t, const int *order,
                            int n_order) {
  visit *c = ctx;
  tf_x_worker *w = c->w;
  const tf_x_tile *x = &w->t->tiles[c->stage];
  memcpy(c->now.trips, c->base->trips, (size_t)w->t->n_loops * sizeof *c->now.trips);
  tf_x_write(x, s, t, order, n_order, c->now.trips);
  if (x->op >= 0)
    set_rest(w, x, c->base, s, t, &c->now);
  else
    tf_x_complete(w, &c->now);
  return evaluate_choice(c);
}

/* Evaluates a spatial choice of the op with the rest of the Tile open. */
static bool spread(void *ctx, const tf_x_spread *s) {
  visit *c = ctx;
  tf_x_worker *w = c->w;
  const tf_x_tile *x = &w->t->tiles[c->stage];
  tf_objective goal = w->task->opts->objective;
  if (x->op < 0 || !c->open_before) return true;
  int32_t ones[TF_X_DIMS];
  tf_result r;
  for (int i = 0; i < TF_X_DIMS; i++)
    ones[i] = 1;
  memcpy(c->now.trips, c->base->trips, (size_t)w->t->n_loops * sizeof *c->now.trips);
  tf_x_write(x, s, ones, NULL, 0, c->now.trips);
  set_rest(w, x, c->base, s, ones, &c->now);
  memcpy(c->units, c->before, sizeof c->units);
  c->units[x->op] = tf_x_most_units(w, x->op, c->stage, &c->now);
  tf_open open = {c->open_before, c->units, c->time_before, c->all};
  if (!tf_x_spend(w)) return false;
  if (!tf_x_partial(w, c->now.trips, &open, &r)) return true;
  if (!c->alone && lacks_instances(w->t, c->stage, &r)) {
    w->task->counts.by_mesh++;
    return false;
  }
  w->open_pj = c->alone ? 0 : c->open_pj;
  if ((goal == TF_LATENCY || goal == TF_EDP) && !tf_x_below_limit(w, tf_x_bound_of(w, &r))) {
    w->task->counts.by_bound++;
    return false;
  }
  return true;
}

static bool holds(void *ctx, const int32_t *inside) {
  const visit *c = ctx;
  return tf_x_holds(c->w, &c->w->t->tiles[c->stage], c->base->left, inside);
}

static int by_bound(const void *a, const void *b) {
  const tf_x_choice *x = a, *y = b;
  if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
  return x->no < y->no ? -1 : x->no > y->no;
}

static double least_of(const tf_x_worker *w, int o) {
  return w->own && w->own[o].n && w->task->opts->objective != TF_ENERGY ? w->own[o].list[0].bound
                                                                        : 0;
}

static double least_pj_of(const tf_x_worker *w, int o) {
  return w->own && w->own[o].n ? w->own[o].least_pj : 0;
}

/* decided: Tiles up to this one are chosen. */
static bool begin_scene(visit *c, tf_x_worker *w, int stage, int decided, const tf_x_state *base) {
  const tf_x_template *t = w->t;
  const tf_x_tile *x = &t->tiles[stage];
  *c = (visit){.w = w, .stage = stage, .base = base};
  if (!tf_x_state_new(w, &c->now)) {
    w->task->failed = true;
    return false;
  }
  memcpy(c->now.left, base->left, (size_t)w->trips->n_slots * sizeof *base->left);
  if (x->op >= 0 && t->separable)
    c->open_before = stage == t->n_shared ? t->open_below_shared : t->tiles[stage - 1].open;
  for (int o = 0; o < t->facts->wl->n_ops; o++) {
    bool begun = x->op < 0 || t->path[o][t->n_shared] < stage, here = x->op == o;
    c->before[o] = tf_x_most_units(w, o, decided, base);
    c->time[o] = begun || here ? 0 : least_of(w, o);
    c->time_before[o] = begun ? 0 : least_of(w, o);
    c->open_pj += begun || here ? 0 : least_pj_of(w, o);
  }
  for (int u = 0; u < t->facts->arch->n_units; u++)
    c->all[u] = tf_x_all_units(w, u, decided, base);
  for (int i = 0; i < x->n_dims; i++)
    c->len[i] = base->left[x->slot[i]];
  return true;
}

static bool list_choices(tf_x_worker *w, int stage, const tf_x_state *base, double parent,
                         tf_x_list *out) {
  visit c;
  *out = (tf_x_list){.pool = tf_arena_new()};
  if (!out->pool || !begin_scene(&c, w, stage, stage - 1, base)) {
    w->task->failed = true;
    return false;
  }
  c.parent = parent;
  c.out = out;
  const tf_x_visitor v = {&c, spread, holds, evaluate_filled};
  tf_x_choices(&w->t->tiles[stage], c.len, &v);
  tf_x_state_free(&c.now);
  if (out->n) qsort(out->list, (size_t)out->n, sizeof *out->list, by_bound);
  return !w->task->failed && !w->task->stopped;
}

/* Energy without leakage, which follows from the time of the whole.  by: the share of the leakage
 * that rounding may be off by, so that the result is a lower (by > 0) or upper bound of the energy
 * of moves and computation. */
static double moved_pj(const tf_result *r, double by) {
  return r->energy_pj - r->leakage_pj * (1 + by);
}

/* ---- the least time of each op --------------------------------------------------------------- */
/* Evaluates one choice of an op's first own Tile with the other ops open: the time and energy of
 * the op's part. */
static bool measure(void *ctx, const tf_x_spread *s, const int32_t *t, const int *order,
                    int n_order) {
  visit *c = ctx;
  tf_x_worker *w = c->w;
  const tf_x_tile *x = &w->t->tiles[c->stage];
  tf_result r;
  memcpy(c->now.trips, c->base->trips, (size_t)w->t->n_loops * sizeof *c->now.trips);
  tf_x_write(x, s, t, order, n_order, c->now.trips);
  set_rest(w, x, c->base, s, t, &c->now);
  set_units(c);
  tf_open open = {x->open_alone, c->units, NULL, c->all};
  double time = 0, pj = 0; /* if it cannot be counted: nothing is proved */
  if (!tf_x_spend(w)) return false;
  bool known = tf_x_partial(w, c->now.trips, &open, &r);
  if (known) time = r.nodes[c->node].cycles - tf_x_reuse_time(w, x, &c->now, &r);
  if (known && c->passes_load) time -= tf_model_first_load(w->model, c->node);
  if (known)
    pj = (moved_pj(&r, 1e-14) - c->behind_pj) * (1 - 1e-12) - tf_x_reuse_pj(w, x, &c->now, &r);
  c->out->least_pj = fmin(c->out->least_pj, pj);
  if (!keep_choice(c, w->task->opts->objective == TF_ENERGY ? pj : time)) w->task->failed = true;
  return !w->task->failed;
}

/* Lists all choices of op o's first own Tile, by the time of the node below it.  That time is a
 * lower bound for any choice of the other ops and of the Tiles further in, as intermediates that
 * others may leave are taken to cost nothing (tf_x_reuse_time).  False if no choice has a bound
 * below the limit, or the task must stop. */
static bool list_own(tf_x_worker *w, int o, const tf_x_state *base, double behind_pj,
                     tf_x_list *out) {
  const tf_x_template *t = w->t;
  int stage = t->path[o][t->n_shared];
  visit c;
  *out = (tf_x_list){.pool = tf_arena_new(), .least_pj = INFINITY};
  if (!out->pool || !begin_scene(&c, w, stage, t->n_shared - 1, base)) {
    w->task->failed = true;
    return false;
  }
  memset(c.time_before, 0, sizeof c.time_before);
  c.open_before = t->open_below_shared;
  c.alone = true;
  c.behind_pj = behind_pj;
  c.node = t->shape.keep ? t->tree->nodes[t->tiles[stage].node].children[0] : t->tiles[stage].node;
  c.passes_load = !t->shape.keep;
  c.out = out;
  const tf_x_visitor v = {&c, spread, holds, measure};
  tf_x_choices(&t->tiles[stage], c.len, &v);
  tf_x_state_free(&c.now);
  if (out->n) qsort(out->list, (size_t)out->n, sizeof *out->list, by_bound);
  return out->n && !w->task->stopped && !w->task->failed;
}

static void free_list(tf_x_list *c) {
  free(c->list);
  tf_arena_free(c->pool);
}

static void free_own(tf_x_list *own) {
  for (int o = 0; o < TF_X_OPS; o++)
    free_list(&own[o]);
}

static bool list_all_own(tf_x_worker *w, const tf_x_state *base, tf_x_list *own) {
  const tf_x_template *t = w->t;
  bool ok = true;
  tf_result r;
  tf_objective goal = w->task->opts->objective;
  double units[TF_X_OPS];
  for (int o = 0; o < t->facts->wl->n_ops; o++)
    units[o] = 1;
  tf_open open = {t->open_below_shared, units, NULL, NULL};
  if (!t->separable || goal == TF_TRAFFIC || !tf_x_partial(w, base->trips, &open, &r))
    return true; /* no bounds of single ops */
  w->own = NULL;
  for (int o = 0; o < t->facts->wl->n_ops && ok; o++)
    if (t->n_paths[o] > t->n_shared) ok = list_own(w, o, base, moved_pj(&r, -1e-14), &own[o]);
  w->own = own;
  return ok;
}

/* Whether some mapping with the choices made so far may be below the limit, by the least times of
 * the ops; raises *bound. */
static bool may_be_below_limit(tf_x_worker *w, const tf_x_state *base, double *bound) {
  const tf_x_template *t = w->t;
  double units[TF_X_OPS], time[TF_X_OPS], all[64];
  tf_result r;
  for (int o = 0; o < t->facts->wl->n_ops; o++)
    units[o] = tf_x_most_units(w, o, t->n_shared - 1, base);
  for (int u = 0; u < t->facts->arch->n_units; u++)
    all[u] = tf_x_all_units(w, u, t->n_shared - 1, base);
  w->open_pj = 0;
  for (int o = 0; o < t->facts->wl->n_ops; o++) {
    time[o] = least_of(w, o);
    w->open_pj += least_pj_of(w, o);
  }
  tf_open open = {t->open_below_shared, units, time, all};
  if (!tf_x_partial(w, base->trips, &open, &r)) return true;
  *bound = fmax(*bound, tf_x_bound_of(w, &r));
  return tf_x_below_limit(w, *bound);
}

/* The state after a choice. */
static void enter(tf_x_worker *w, int stage, const tf_x_state *base, const int32_t *trips,
                  tf_x_state *out) {
  const tf_x_tile *x = &w->t->tiles[stage];
  memcpy(out->trips, base->trips, (size_t)w->t->n_loops * sizeof *out->trips);
  memcpy(out->left, base->left, (size_t)w->trips->n_slots * sizeof *out->left);
  for (int i = 0; i < x->n_loops; i++)
    out->trips[x->first_loop + i] = trips[i];
  if (x->op < 0) {
    tf_x_complete(w, out);
    return;
  }
  for (int k = 0; k < x->n_loops; k++) {
    int slot = w->t->facts->dim_from[x->op] +
               tf_dim_slot(w->t->facts, x->op, w->t->tree->nodes[x->node].loops[k].dim);
    if (!x->last || w->loop_spread[x->first_loop + k]) out->left[slot] /= trips[k];
  }
  for (int i = 0; i < w->t->facts->wl->ops[x->op].n_dims; i++)
    if (w->t->rest[x->op][i] >= 0)
      out->trips[w->t->rest[x->op][i]] = out->left[w->t->facts->dim_from[x->op] + i];
}

/* How many of an op's own choices may still be below the limit, given the choices before.  The list
 * is sorted, so these come first. */
static int64_t own_choices(visit *c, const tf_x_list *own) {
  tf_x_worker *w = c->w;
  int o = w->t->tiles[c->stage].op;
  int64_t lo = 0, hi = own->n;
  tf_result r;
  tf_open open = {c->open_before, c->before, c->time_before, c->all};
  while (lo < hi) {
    int64_t mid = lo + (hi - lo) / 2;
    bool energy = w->task->opts->objective == TF_ENERGY;
    c->time_before[o] = energy ? 0 : own->list[mid].bound;
    w->open_pj = c->open_pj + (energy ? own->list[mid].bound : own->least_pj);
    if (!tf_x_spend(w)) return 0;
    bool known = tf_x_partial(w, c->base->trips, &open, &r);
    if (!known || tf_x_below_limit(w, tf_x_bound_of(w, &r)))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* As list_choices, but from the op's own list. */
static bool list_from(tf_x_worker *w, int stage, const tf_x_state *base, double parent,
                      tf_x_list *out) {
  visit c;
  const tf_x_list *own = &w->own[w->t->tiles[stage].op];
  *out = (tf_x_list){.pool = tf_arena_new()};
  if (!out->pool || !begin_scene(&c, w, stage, stage - 1, base)) {
    w->task->failed = true;
    return false;
  }
  c.parent = parent;
  c.out = out;
  double limit = w->task->limit;
  int64_t n = own_choices(&c, own);
  for (int64_t i = 0; i < n && !w->task->failed && !w->task->stopped; i++) {
    enter(w, stage, base, own->list[i].trips, &c.now);
    if (!evaluate_choice(&c)) break;
    if (w->task->limit < limit) n = own_choices(&c, own);
    limit = w->task->limit;
  }
  w->task->counts.by_bound += own->n - n;
  tf_x_state_free(&c.now);
  if (out->n) qsort(out->list, (size_t)out->n, sizeof *out->list, by_bound);
  return !w->task->failed && !w->task->stopped;
}

static bool list_stage(tf_x_worker *w, int stage, const tf_x_state *base, double parent,
                       tf_x_list *out) {
  const tf_x_tile *x = &w->t->tiles[stage];
  bool first = x->op >= 0 && w->own && w->t->path[x->op][w->t->n_shared] == stage;
  return first ? list_from(w, stage, base, parent, out) : list_choices(w, stage, base, parent, out);
}

static void walk(tf_x_worker *w, int stage, const tf_x_state *base, double parent);

static void walk_choices(tf_x_worker *w, int stage, const tf_x_state *base, double parent) {
  tf_x_list list = {0};
  tf_x_state next = {0};
  if (list_stage(w, stage, base, parent, &list) && tf_x_state_new(w, &next))
    for (int64_t i = 0; i < list.n && !w->task->stopped && !w->task->failed; i++) {
      if (!tf_x_below_limit(w, list.list[i].bound)) {
        w->task->counts.by_bound += list.n - i;
        break;
      }
      enter(w, stage, base, list.list[i].trips, &next);
      walk(w, stage + 1, &next, list.list[i].bound);
    }
  tf_x_state_free(&next);
  free_list(&list);
}

static void walk(tf_x_worker *w, int stage, const tf_x_state *base, double parent) {
  if (stage == 0 || stage != w->t->n_shared) {
    walk_choices(w, stage, base, parent);
    return;
  }
  tf_x_list own[TF_X_OPS] = {{0}};
  if (list_all_own(w, base, own) && may_be_below_limit(w, base, &parent))
    walk_choices(w, stage, base, parent);
  else
    w->task->counts.by_bound += !w->task->stopped && !w->task->failed;
  w->own = NULL;
  free_own(own);
}

/* ---- entry points ---------------------------------------------------------------------------- */
static void begin_task(tf_x_worker *w, tf_x_task *task, tf_x_state *s) {
  w->task = task;
  w->own = NULL;
  for (int l = 0; l < w->t->n_loops; l++)
    s->trips[l] = 1;
  tf_x_complete(w, s);
}

static bool add_subproblem(tf_x_subproblems *h, int template, int32_t *trips, double bound,
                           int64_t no) {
  if (!TF_GROW(h->list, h->n)) return false;
  h->list[h->n++] = (tf_x_subproblem){bound, template, no, trips};
  return true;
}

static void copy_subproblems(tf_x_worker *w, const tf_x_list *from, tf_x_subproblems *out) {
  size_t bytes = ((size_t)w->t->tiles[0].n_loops + 1) * sizeof(int32_t);
  for (int64_t i = 0; i < from->n && !w->task->failed; i++) {
    int32_t *trips = malloc(bytes);
    if (trips) memcpy(trips, from->list[i].trips, bytes);
    if (trips && add_subproblem(out, w->number, trips, from->list[i].bound, from->list[i].no))
      continue;
    free(trips);
    w->task->failed = true;
  }
}

void tf_x_subproblems_of(tf_x_worker *w, tf_x_task *task, tf_x_subproblems *out) {
  tf_x_state s;
  tf_x_list list;
  if (!tf_x_state_new(w, &s)) {
    task->failed = true;
    return;
  }
  begin_task(w, task, &s);
  if (w->t->n_tiles == 0) {
    if (tf_x_spend(w)) tf_x_leaf(w, s.trips);
  } else if (w->t->n_shared > 0 || list_all_own(w, &s, out->own)) {
    list_choices(w, 0, &s, 0, &list);
    copy_subproblems(w, &list, out);
    free_list(&list);
  }
  w->own = NULL;
  tf_x_state_free(&s);
}

void tf_x_subproblems_free(tf_x_subproblems *h) {
  for (int64_t i = 0; i < h->n; i++)
    free(h->list[i].trips);
  free(h->list);
  free_own(h->own);
  *h = (tf_x_subproblems){0};
}

void tf_x_below(tf_x_worker *w, tf_x_task *task, const tf_x_subproblems *of,
                const tf_x_subproblem *subproblem) {
  tf_x_state s, next;
  bool ok = tf_x_state_new(w, &s);
  ok = tf_x_state_new(w, &next) && ok;
  if (ok) {
    begin_task(w, task, &s);
    w->own = w->t->n_shared == 0 && of->own[0].n ? of->own : NULL;
    enter(w, 0, &s, subproblem->trips, &next);
    walk(w, 1, &next, subproblem->bound);
  }
  task->failed |= !ok;
  tf_x_state_free(&s);
  tf_x_state_free(&next);
}
