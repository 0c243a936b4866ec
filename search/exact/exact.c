/* The exact solver: branch and bound over the heads of all templates, best bound first, in batches that do not depend
 * on the number of threads; and what is proved when it ends. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "base/threads.h"
#include "model/demand/demand.h"
#include "search/common/archive.h"
#include "search/common/objective.h"
#include "search/exact/ilp.h"
#include "search/exact/state.h"

enum { TEMPLATES = 256 };                        /* shapes of a tree at most */
enum { BATCH = 16 };                             /* heads that are worked on at once */
enum { START_EVALS = 300000 };                   /* of the search that the solver begins with, at most */
enum { TIE_LEAST = 100000, TIE_MOST = 2000000 }; /* evaluations for the second objective */
enum { QUOTA = 40000, QUOTA_GROWS = 4 }; /* evaluations below a head in the first pass; by how much more in the next */

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_solve_opts *o;
  const tf_x_tie *tie; /* NULL: no condition on a second objective */
  tf_diags *diags;
  tf_bounds floor;
  double everywhere; /* lower bound for any mapping at all; `floor` may hold for the searched space only */
  int threads;
  int n_templates;
  tf_x_template *templates[TEMPLATES];
  tf_x_worker **workers; /* [thread * TEMPLATES + template], created when first needed */
  tf_x_heads heads[TEMPLATES];
  tf_x_head *order;      /* all heads, by ascending bound */
  int64_t n_heads, next; /* of this pass; heads before `next` are done, or go to the next pass */
  tf_x_head *again;      /* for the next pass, by ascending bound */
  int64_t n_again, quota;
  double open; /* lowest bound of subtrees that were cut short */
  int n_tasks;
  tf_x_task tasks[TEMPLATES];
  tf_watch watch;
  tf_solve_result *res;
  const tf_solve_result *known; /* the result whose ties are broken; NULL without a tie */
  tf_tree *aside;               /* of a masked workload, the best to begin with as `eval` counts; NULL: none */
  double aside_value;
  bool failed, unknown; /* unknown: as in tf_x_task */
} solver;

static double value_of_floor(const solver *v) { return tf_bounds_value(v->o->objective, &v->floor, v->arch); }

static double best_of(const solver *v) { return v->res->tree ? v->res->value : INFINITY; }

/* Whether only units of this kind can do the op's work: ops that divide may defer that. */
static bool needs_unit(const solver *v, int o, int u) {
  const tf_op *op = &v->wl->ops[o];
  int able = 0;
  for (int k = 0; k < v->arch->n_units; k++)
    able += !(op->kinds & ~v->arch->units[k].kinds);
  return able == 1 && !(op->kinds & ~v->arch->units[u].kinds) && !(op->kinds & 1u << TF_K_DIV);
}

/* Raises the floor by work per kind of unit: ops that only one kind can run share its units in any mapping. */
static bool raise_floor(solver *v) {
  tf_demand d;
  bool ok = tf_demand_of(v->wl, &d);
  for (int u = 0; u < v->arch->n_units && ok; u++) {
    double points = 0;
    for (int o = 0; o < v->wl->n_ops; o++)
      points += needs_unit(v, o, u) ? tf_demanded_points(&d, o) : 0;
    v->floor.cycles = fmax(v->floor.cycles, points / (tf_bounds_units(v->arch, u) * v->arch->units[u].rate));
  }
  tf_demand_free(&d);
  return ok;
}

/* Raises the floor for a single op whose trip counts divide: the most units that prime factors of its dims can fill. */
static void raise_floor_by_factors(solver *v) {
  int64_t len[64], room[32];
  int u = tf_ops_unit(v->arch, v->wl, 0), n = v->wl->ops[0].n_dims, slots = 0;
  double most, relaxed, points = 1;
  if (v->wl->n_ops > 1 || n > 64 || v->arch->n_memories > 15 || !needs_unit(v, 0, u)) return;
  for (int i = 0; i < n; i++)
    points *= (double)(len[i] = v->wl->dims[v->wl->ops[0].dims[i]].extent);
  for (int a = 0; a < 2; a++) {
    for (int l = 1; l <= v->arch->units[u].below; l++)
      room[slots++] = v->arch->memories[l].mesh[a];
    room[slots++] = v->arch->units[u].mesh[a];
  }
  if (tf_ilp_most_spread(len, n, room, slots, &most, &relaxed))
    v->floor.cycles = fmax(v->floor.cycles, points / (most * v->arch->units[u].rate));
}

/* ---- templates ---------------------------------------------------------------------------------- */
static bool make_templates(solver *v) {
  tf_x_shape s;
  for (int k = 0; v->n_templates < TEMPLATES && tf_x_shape_at(v->arch, v->wl, k, &s); k++) {
    size_t before = tf_diags_errors(v->diags);
    tf_x_template *t = tf_x_template_new(v->arch, v->wl, &s, v->diags);
    if (t) v->templates[v->n_templates++] = t;
    if (tf_diags_errors(v->diags) > before) return false;
  }
  return true;
}

static tf_x_worker *worker_of(solver *v, int thread, int template) {
  tf_x_worker **w = &v->workers[thread * TEMPLATES + template];
  tf_diags *d = *w ? NULL : tf_diags_new(); /* a tree too deep for the model is skipped */
  if (!*w && d) *w = tf_x_worker_new(v->templates[template], template, d);
  tf_diags_free(d);
  return *w;
}

/* ---- tasks -------------------------------------------------------------------------------------- */
/* Evaluations left of the budget. */
static int64_t left_of(const solver *v) {
  const int64_t most = v->o->budget.max_evals;
  return !most ? INT64_MAX : most > v->res->evals ? most - v->res->evals : 0;
}

/* Prepares one of n tasks that share what is left of the budget; each may take one. */
static void prepare(solver *v, tf_x_task *t, int n) {
  *t = (tf_x_task){.opts = v->o, .tie = v->tie, .floor = &v->floor, .limit = best_of(v), .watch = &v->watch};
  for (int l = 0; l < v->arch->n_memories; l++)
    t->counts.level[l].least = INT64_MAX;
  t->most_evals = v->quota;
  const int64_t left = left_of(v) / n;
  if (v->o->budget.max_evals && (!v->quota || left < v->quota)) t->most_evals = left > 1 ? left : 1;
}

/* Keeps the mapping if it is better.  Takes the tree. */
static void offer(solver *v, tf_tree **tree, double value, const tf_figures *f) {
  tf_solve_result *r = v->res;
  if (*tree && (!r->tree || tf_figures_order(value, f, r->value, &r->figures) < 0)) {
    tf_tree_free(r->tree);
    r->tree = *tree;
    r->value = value;
    r->figures = *f;
  } else {
    tf_tree_free(*tree);
  }
  *tree = NULL;
}

static void merge_counts(solver *v, const tf_x_counts *c) {
  tf_solve_result *r = v->res;
  r->evals += c->evals;
  r->by_bound += c->by_bound;
  r->by_mesh += c->by_mesh;
  r->by_rules += c->by_rules;
  for (int l = 0; l < r->n_levels; l++) {
    r->levels[l].pruned += c->level[l].pruned;
    if (c->level[l].least < r->levels[l].least) r->levels[l].least = c->level[l].least;
  }
}

/* What a task found and counted becomes the solver's. */
static void merge_task(solver *v, tf_x_task *t) {
  merge_counts(v, &t->counts);
  offer(v, &t->best.tree, t->best.value, &t->best.figures);
  v->failed |= t->failed;
  v->unknown |= t->unknown;
}

static bool stopped(solver *v) {
  if (atomic_load(&v->watch.why))
    v->res->stopped_by = tf_watch_why(&v->watch);
  else if (left_of(v) == 0)
    v->res->stopped_by = TF_STOP_BUDGET;
  else
    return false;
  return true;
}

/* The lowest bound of everything not searched yet. */
static double open_bound(const solver *v) {
  double open = v->open;
  if (v->next < v->n_heads) open = fmin(open, v->order[v->next].bound);
  if (v->n_again) open = fmin(open, v->again[0].bound);
  return open;
}

static void report(const solver *v) {
  double bound = fmin(fmax(value_of_floor(v), open_bound(v)), best_of(v));
  tf_watch_report(&v->watch, (tf_progress){.evals = v->res->evals, .best = best_of(v), .bound = bound});
}

/* ---- heads -------------------------------------------------------------------------------------- */
static void list_piece(void *ctx, int i, int thread) {
  solver *v = ctx;
  tf_x_worker *w = worker_of(v, thread, i);
  if (w) tf_x_heads_of(w, &v->tasks[i], &v->heads[i]);
}

static int by_bound(const void *a, const void *b) {
  const tf_x_head *x = a, *y = b;
  if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
  if (x->template != y->template) return x->template <y->template ? -1 : 1;
  return x->no < y->no ? -1 : x->no > y->no;
}

static bool list_heads(solver *v) {
  for (int i = 0; i < v->n_templates; i++)
    prepare(v, &v->tasks[i], v->n_templates);
  tf_threads_run(v->threads, v->n_templates, list_piece, v);
  for (int i = 0; i < v->n_templates; i++) {
    merge_task(v, &v->tasks[i]);
    if (v->tasks[i].cut) v->open = value_of_floor(v);
    v->n_heads += v->heads[i].n;
  }
  v->order = malloc(((size_t)v->n_heads + 1) * sizeof *v->order);
  v->again = malloc(((size_t)v->n_heads + 1) * sizeof *v->again);
  if (!v->order || !v->again) return false;
  int64_t n = 0;
  for (int i = 0; i < v->n_templates; i++)
    for (int64_t k = 0; k < v->heads[i].n; k++)
      v->order[n++] = v->heads[i].list[k];
  if (n) qsort(v->order, (size_t)n, sizeof *v->order, by_bound);
  return true;
}

/* ---- the search below heads ------------------------------------------------------------------------ */
static void below_piece(void *ctx, int i, int thread) {
  solver *v = ctx;
  const tf_x_head *h = &v->order[v->next + i];
  tf_x_worker *w = worker_of(v, thread, h->template);
  if (w)
    tf_x_below(w, &v->tasks[i], &v->heads[h->template], h);
  else
    v->tasks[i].failed = true;
}

static bool promises(const solver *v, double bound) { return bound < best_of(v) * (1 - 1e-12); }

static void batch(solver *v) {
  const int64_t left = left_of(v);
  const int most = left < BATCH ? (int)left : BATCH;
  int n = 0;
  for (; n < most && v->next + n < v->n_heads && promises(v, v->order[v->next + n].bound); n++)
    prepare(v, &v->tasks[n], BATCH);
  tf_threads_run(v->threads, n, below_piece, v);
  for (int i = 0; i < n; i++) {
    merge_task(v, &v->tasks[i]);
    if (v->tasks[i].cut) v->again[v->n_again++] = v->order[v->next + i];
  }
  v->next += n;
  report(v);
}

/* Heads whose subtree exceeds the quota come again in a next pass, with a better incumbent and a larger quota. */
static void next_pass(solver *v) {
  tf_x_head *done = v->order;
  v->order = v->again;
  v->n_heads = v->n_again;
  v->again = done;
  v->n_again = v->next = 0;
  v->quota = v->quota < INT64_MAX / QUOTA_GROWS ? QUOTA_GROWS * v->quota : INT64_MAX;
}

static void run(solver *v) {
  v->open = INFINITY;
  if (!list_heads(v)) {
    v->failed = true;
    return;
  }
  v->quota = QUOTA;
  while (!v->failed && !stopped(v)) {
    if (v->next < v->n_heads && promises(v, v->order[v->next].bound))
      batch(v);
    else if (v->n_again && promises(v, v->again[0].bound))
      next_pass(v);
    else
      return;
  }
}

/* ---- the first incumbent, and the result ---------------------------------------------------------- */
/* Takes a mapping to begin with, if it is better.  Takes the tree.  Of a masked workload a value is as `eval` counts:
 * the solver compares with all points, and the best as it stands is put aside. */
static void begin(solver *v, tf_tree **tree, double value, const tf_figures *f) {
  tf_figures all;
  if (!tf_workload_masked(v->wl)) {
    offer(v, tree, value, f);
    return;
  }
  if (*tree && (!v->aside || value < v->aside_value)) {
    tf_tree_free(v->aside);
    v->aside = tf_tree_copy(*tree, v->arch, v->wl, NULL);
    v->aside_value = value;
    v->failed |= !v->aside;
  }
  if (*tree && tf_figures_of_tree(*tree, TF_COUNT_ALL, &all))
    offer(v, tree, tf_objective_value(v->o->objective, &all), &all);
}

/* Takes the closed form's mapping, if it is better. */
static void start_closed(solver *v) {
  tf_diags *d = tf_diags_new(); /* finding none is no error here */
  tf_solve_result *r = d ? tf_solve_closed(v->arch, v->wl, v->o, d) : NULL;
  if (r) begin(v, &r->tree, r->value, &r->figures);
  if (r) v->res->evals += r->evals;
  tf_solve_free(r);
  tf_diags_free(d);
}

/* The incumbent to begin with: from a short search or the closed form.  The space's bound then covers it, too. */
static void start(solver *v) {
  const tf_budget *all = &v->o->budget;
  int64_t most = all->max_evals && all->max_evals / 3 < START_EVALS ? all->max_evals / 3 : START_EVALS;
  tf_search_opts o = {.objective = v->o->objective,
                      .budget = {.seed = 1,
                                 .threads = v->threads,
                                 .max_evals = most ? most : 1,
                                 .time_limit = all->time_limit > 0 ? all->time_limit / 4 : 0,
                                 .stop = all->stop,
                                 .ctx = all->ctx},
                      .keep = 1};
  tf_diags *d = tf_diags_new();
  tf_search_result *r = d ? tf_search_run(v->arch, v->wl, NULL, &o, d) : NULL;
  if (r && r->n_best) begin(v, &r->best[0].tree, r->best[0].value, &r->best[0].figures);
  if (r) v->res->evals += r->evals;
  tf_search_free(r);
  tf_diags_free(d);
}

static void prove(solver *v) {
  tf_solve_result *r = v->res;
  const double open = v->unknown ? fmin(open_bound(v), value_of_floor(v)) : open_bound(v);
  r->proved = !promises(v, open);
  r->bound = r->proved ? best_of(v) : fmin(fmax(open, value_of_floor(v)), best_of(v));
  r->everywhere = r->bound <= v->everywhere * (1 + 1e-12);
  if (!r->tree) r->value = INFINITY;
  if (!r->proved && r->stopped_by == TF_STOP_EXHAUSTED && v->o->budget.max_evals)
    r->stopped_by = TF_STOP_BUDGET; /* heads were not all listed */
  r->seconds = tf_watch_seconds(&v->watch);
  r->threads = v->threads;
  r->templates = v->n_templates;
}

static void clear(solver *v) {
  for (int i = 0; i < v->n_templates; i++) {
    tf_x_heads_free(&v->heads[i]);
    for (int t = 0; t < v->threads && v->workers; t++)
      tf_x_worker_free(v->workers[t * TEMPLATES + i]);
    tf_x_template_free(v->templates[i]);
  }
  tf_tree_free(v->aside);
  free(v->workers);
  free(v->order);
  free(v->again);
}

/* Begins with the result whose ties are to be broken. */
static bool begin_with(solver *v, const tf_solve_result *known) {
  v->res->tree = tf_tree_copy(known->tree, v->arch, v->wl, NULL);
  v->res->figures = known->figures;
  v->res->value = tf_objective_value(v->o->objective, &known->figures);
  return v->res->tree;
}

/* Of a masked workload, the best to begin with may be better than what is best with all points. */
static void take_aside(solver *v) {
  tf_solve_result *r = v->res;
  tf_figures f;
  if (r->tree && tf_figures_of_tree(r->tree, TF_COUNT_LONG, &f) &&
      tf_objective_value(v->o->objective, &f) <= v->aside_value)
    return;
  tf_tree_free(r->tree);
  r->tree = v->aside;
  r->value = v->aside_value;
  v->aside = NULL;
}

static bool solve(solver *v) {
  tf_solve_result *r = v->res = calloc(1, sizeof *v->res);
  v->threads = tf_budget_threads(&v->o->budget);
  v->workers = calloc((size_t)v->threads * TEMPLATES, sizeof *v->workers);
  if (r) r->levels = calloc((size_t)v->arch->n_memories, sizeof *r->levels);
  if (!r || !v->workers || !r->levels) return tf_out_of_memory(v->diags);
  r->n_levels = v->arch->n_memories;
  for (int l = 0; l < r->n_levels; l++)
    r->levels[l].least = INT64_MAX;
  if (!tf_bounds_find(v->arch, v->wl, &v->floor, v->diags)) return false;
  if (!raise_floor(v)) return tf_out_of_memory(v->diags);
  v->everywhere = value_of_floor(v);
  for (int o = 0; o < v->wl->n_ops; o++)
    if (tf_ops_unit(v->arch, v->wl, o) < 0)
      return tf_fail(v->diags, v->wl->ops[o].at, TF_E_UNITKIND, "no compute unit runs op '%.60s'", v->wl->ops[o].name);
  raise_floor_by_factors(v);
  if (!make_templates(v)) return false;
  if (v->tie) {
    if (!begin_with(v, v->known)) return tf_out_of_memory(v->diags);
  } else if (!v->o->alone) {
    start(v);
    start_closed(v);
  }
  run(v);
  if (v->failed) return tf_out_of_memory(v->diags);
  prove(v);
  if (v->aside) take_aside(v);
  return true;
}

/* tie and known: both given or both NULL. */
static tf_solve_result *solve_for(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o,
                                  const tf_x_tie *tie, const tf_solve_result *known, tf_diags *d) {
  solver *v = calloc(1, sizeof *v);
  if (!v) {
    tf_out_of_memory(d);
    return NULL;
  }
  v->arch = arch, v->wl = wl, v->o = o, v->tie = tie, v->known = known, v->diags = d;
  tf_watch_begin(&v->watch, &o->budget);
  tf_solve_result *r = solve(v) ? v->res : NULL;
  if (!r) tf_solve_free(v->res);
  clear(v);
  free(v);
  return r;
}

/* ---- ties ------------------------------------------------------------------------------------------- */
/* Breaks ties: solves again for less energy among the mappings whose objective equals the one found, with as many
 * evaluations as that took (TIE_LEAST to TIE_MOST).  The proof for the objective stays. */
static void break_ties(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o, tf_solve_result *r) {
  bool over = r->stopped_by == TF_STOP_INTERRUPT || r->stopped_by == TF_STOP_TIME;
  if (!r->tree || o->objective == TF_ENERGY || (over && !r->proved)) return;
  tf_x_tie tie = {o->objective, r->value};
  tf_solve_opts also = *o;
  also.objective = TF_ENERGY;
  const tf_budget *all = &o->budget;
  tf_budget *left = &also.budget;
  left->progress = NULL;
  left->max_evals = r->evals < TIE_LEAST ? TIE_LEAST : r->evals < TIE_MOST ? r->evals : TIE_MOST;
  if (all->max_evals && left->max_evals > all->max_evals - r->evals) left->max_evals = all->max_evals - r->evals;
  if (all->time_limit > 0) left->time_limit = all->time_limit - r->seconds;
  if (left->max_evals < TEMPLATES || (all->time_limit > 0 && left->time_limit <= 0)) return; /* each takes one */
  tf_diags *d = tf_diags_new(); /* finding none is no error here */
  tf_solve_result *better = d ? solve_for(arch, wl, &also, &tie, r, d) : NULL;
  if (better && better->tree) {
    tf_tree *tree = r->tree;
    r->tree = better->tree;
    better->tree = tree;
    r->figures = better->figures;
    r->value = tf_objective_value(o->objective, &r->figures);
    if (r->proved) r->bound = r->value;
  }
  r->evals += better ? better->evals : 0;
  r->seconds += better ? better->seconds : 0;
  tf_solve_free(better);
  tf_diags_free(d);
}

/* ---- masks and padding -------------------------------------------------------------------------------- */
/* Masked workloads are solved with all points counted, as the search ranks them.  With skipped steps, an open part
 * could leave out more of the decided part, and hardly anything could be pruned.  The mapping found is evaluated with
 * its mask. */
static bool count_masks(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o, tf_solve_result *r,
                        tf_diags *d) {
  tf_model *m = tf_model_new(r->tree, d);
  tf_result now;
  if (m) tf_model_eval(m, NULL, &now);
  const bool counted = m && !now.overflow;
  if (counted) r->figures = tf_figures_of(arch, wl, &now);
  if (counted) r->value = tf_objective_value(o->objective, &r->figures);
  tf_model_free(m);
  return m != NULL;
}

/* Where an op's output is padded, its range is clipped at borders, and the counts of the closed part of a tree are no
 * lower bound of its completions (tests/unit/test_exact.c found a wrong proof).  Then only bounds that hold for every
 * mapping are reported. */
static bool makes_padded(const tf_workload *wl) {
  for (int z = 0; z < wl->n_tensors; z++)
    for (int r = 0; r < wl->tensors[z].rank && wl->tensors[z].producer >= 0; r++)
      if (wl->tensors[z].pad[r] > 0) return true;
  return false;
}

static void bound_by_workload(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o, tf_solve_result *r) {
  solver v = {.arch = arch, .wl = wl, .o = o};
  if (r->proved) r->stopped_by = TF_STOP_EXHAUSTED;
  r->proved = false;
  r->bound = 0;
  r->everywhere = true;
  if (!tf_bounds_of(arch, wl, &v.floor) || !raise_floor(&v)) return;
  r->bound = value_of_floor(&v);
  r->proved = r->tree && r->value <= r->bound * (1 + 1e-12);
}

tf_solve_result *tf_solve_exact(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_solve_result *r = tf_no_views(wl, d) ? solve_for(arch, wl, o, NULL, NULL, d) : NULL;
  const bool masked = r && tf_workload_masked(wl);
  if (r && !masked) break_ties(arch, wl, o, r); /* with all points other mappings tie */
  if (masked && r->tree && !count_masks(arch, wl, o, r, d)) {
    tf_solve_free(r);
    return NULL;
  }
  if (r && (masked || makes_padded(wl))) bound_by_workload(arch, wl, o, r);
  return r;
}

void tf_solve_free(tf_solve_result *r) {
  if (!r) return;
  tf_tree_free(r->tree);
  free(r->levels);
  free(r);
}
