/* The exact solver: branch and bound over the subproblems of all templates, best bound first, in
 * batches that do not depend on the number of threads; then the statement of what is proved. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "search/common/archive.h"
#include "search/common/exportable.h"
#include "search/common/objective.h"
#include "search/exact/root_bound.h"
#include "search/exact/single.h"
#include "search/exact/solve.h"
#include "search/exact/start.h"
#include "search/exact/state.h"

enum { TEMPLATES = 256 }; /* shapes of a tree at most */
enum { BATCH = 16 };      /* subproblems that are worked on at once */
/* Of the integer program: most nodes, and the part of the budget that they may take. */
enum { NODES_MOST = 2000, NODES_A_PART = 4 };
enum { NODE_EVALS = 32 }; /* evaluations that one of its nodes counts as */
/* Of the search over all trip counts: boxes for each evaluation spent before it, which take half as
 * long; the least and most boxes; and how many of them count as an evaluation. */
enum { BOXES_EACH = 6, BOXES_LEAST = 300000, BOXES_MOST = 3000000, BOXES_AN_EVAL = 8 };
/* Evaluations below a subproblem in the first pass, and the factor from pass to pass. */
enum { QUOTA = 40000, QUOTA_GROWS = 4 };

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_solve_opts *o;
  tf_solve_opts own; /* what o points to: its budget shrinks to leave a part for search_after */
  const tf_x_side_condition *tie; /* NULL: no condition on a second objective */
  tf_diags *diags;
  tf_x_root_bound floor;
  int threads;
  int n_templates;
  tf_x_template *templates[TEMPLATES];
  tf_x_worker **workers; /* [thread * TEMPLATES + template], created when first needed */
  tf_x_subproblems subproblems[TEMPLATES];
  tf_x_subproblem *order;      /* all subproblems, by ascending bound */
  int64_t n_subproblems, next; /* next: of this pass; those before are done, or in next_pass */
  tf_x_subproblem *next_pass;  /* by ascending bound: those for the next pass */
  int64_t n_next_pass, quota;
  double open; /* lowest bound of subtrees that were not searched to the end */
  int n_tasks;
  tf_x_task tasks[TEMPLATES];
  tf_budget_clock clock;
  tf_solve_result *res;
  tf_x_best inside;  /* the best mapping of the space */
  tf_x_best outside; /* the best of other mappings: a start may lie outside of the space */
  const tf_solve_result *known; /* the result of which ties are broken; NULL without a tie */
  tf_tree *masked_start; /* of a masked workload, the best start as `eval` counts; NULL: none */
  double masked_start_value;
  bool all_trips;       /* the space has all trip counts, and was searched */
  double trips_bound;   /* lower bound with other trip counts, unless above the incumbent */
  bool bypasses;        /* the space has all bypasses, too, and was searched */
  double bypass_bound;  /* lower bound of these, unless above the incumbent */
  bool failed, unknown; /* unknown: as in tf_x_task */
} solver;

/* Values that differ by less are equal: rounding. */
#define SAME 1e-11

static double best_of(const solver *v) { return fmin(v->inside.value, v->outside.value); }

/* The value that a mapping of the space must be below: the best of the space.  A best from outside
 * the space must be reached, too, so that the best of the space is known. */
static double limit_of(const solver *v) {
  return fmin(v->inside.value, v->outside.value * (1 + SAME));
}

/* ---- templates ------------------------------------------------------------------------------- */
static bool make_templates(solver *v) {
  tf_x_shape s;
  for (int k = 0; v->n_templates < TEMPLATES && tf_x_shape_at(v->arch, v->wl, k, &s); k++) {
    size_t before = tf_diags_errors(v->diags);
    tf_x_template *t = tf_x_template_new(v->arch, v->wl, &s, v->diags);
    for (int i = 0; t && i < t->n_tiles; i++)
      t->tiles[i].one_side = v->o->exportable != NULL;
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

/* ---- tasks ----------------------------------------------------------------------------------- */
/* Evaluations left of the budget. */
static int64_t evals_left(const solver *v) {
  const int64_t most = v->o->budget.max_evals;
  return !most ? INT64_MAX : most > v->res->evals ? most - v->res->evals : 0;
}

/* Prepares one of n tasks that share the remaining budget; a task may take one n-th. */
static void prepare(solver *v, tf_x_task *t, int n) {
  *t = (tf_x_task){.opts = v->o,
                   .tie = v->tie,
                   .floor = &v->floor.space,
                   .limit = limit_of(v),
                   .clock = &v->clock};
  for (int l = 0; l < v->arch->n_memories; l++)
    t->counts.level[l].least = INT64_MAX;
  t->most_evals = v->quota;
  const int64_t left = evals_left(v) / n;
  if (v->o->budget.max_evals && (!v->quota || left < v->quota)) t->most_evals = left > 1 ? left : 1;
}

/* Keeps the mapping if it is better.  Takes ownership of the tree. */
static void offer(tf_x_best *best, tf_tree **tree, double value, const tf_figures *f) {
  if (*tree && (!best->tree || tf_figures_order(value, f, best->value, &best->figures) < 0)) {
    tf_tree_free(best->tree);
    *best = (tf_x_best){value, *f, *tree};
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

/* Merges a task's result and counts into the solver's. */
static void merge_task(solver *v, tf_x_task *t) {
  merge_counts(v, &t->counts);
  offer(&v->inside, &t->best.tree, t->best.value, &t->best.figures);
  v->failed |= t->failed;
  v->unknown |= t->unknown;
}

static bool stopped(solver *v) {
  if (atomic_load(&v->clock.why))
    v->res->stopped_by = tf_clock_why(&v->clock);
  else if (evals_left(v) == 0)
    v->res->stopped_by = TF_STOP_BUDGET;
  else
    return false;
  return true;
}

/* The lowest bound of everything not searched yet. */
static double open_bound(const solver *v) {
  double open = v->open;
  if (v->next < v->n_subproblems) open = fmin(open, v->order[v->next].bound);
  if (v->n_next_pass) open = fmin(open, v->next_pass[0].bound);
  return open;
}

static void report(const solver *v) {
  double bound = fmin(fmax(tf_x_root_space(&v->floor), open_bound(v)), best_of(v));
  tf_clock_report(&v->clock,
                  (tf_progress){.evals = v->res->evals, .best = best_of(v), .bound = bound});
}

/* ---- subproblems
 * ----------------------------------------------------------------------------------- */
static void list_piece(void *ctx, int i, int thread) {
  solver *v = ctx;
  tf_x_worker *w = worker_of(v, thread, i);
  if (w) tf_x_subproblems_of(w, &v->tasks[i], &v->subproblems[i]);
}

static int by_bound(const void *a, const void *b) {
  const tf_x_subproblem *x = a, *y = b;
  if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
  if (x->template != y->template) return x->template <y->template ? -1 : 1;
  return x->no < y->no ? -1 : x->no > y->no;
}

static bool list_subproblems(solver *v) {
  for (int i = 0; i < v->n_templates; i++)
    prepare(v, &v->tasks[i], v->n_templates);
  tf_threads_run(v->threads, v->n_templates, list_piece, v);
  for (int i = 0; i < v->n_templates; i++) {
    merge_task(v, &v->tasks[i]);
    if (v->tasks[i].stopped) v->open = tf_x_root_space(&v->floor);
    v->n_subproblems += v->subproblems[i].n;
  }
  v->order = malloc(((size_t)v->n_subproblems + 1) * sizeof *v->order);
  v->next_pass = malloc(((size_t)v->n_subproblems + 1) * sizeof *v->next_pass);
  if (!v->order || !v->next_pass) return false;
  int64_t n = 0;
  for (int i = 0; i < v->n_templates; i++)
    for (int64_t k = 0; k < v->subproblems[i].n; k++)
      v->order[n++] = v->subproblems[i].list[k];
  if (n) qsort(v->order, (size_t)n, sizeof *v->order, by_bound);
  return true;
}

/* ---- the search below subproblems
 * ----------------------------------------------------------------- */
static void below_piece(void *ctx, int i, int thread) {
  solver *v = ctx;
  const tf_x_subproblem *h = &v->order[v->next + i];
  tf_x_worker *w = worker_of(v, thread, h->template);
  if (w)
    tf_x_below(w, &v->tasks[i], &v->subproblems[h->template], h);
  else
    v->tasks[i].failed = true;
}

static bool is_promising(const solver *v, double bound) {
  return bound < limit_of(v) * (1 - 1e-12);
}

/* Whether no mapping at all is better than the best known. */
static bool meets_floor(const solver *v) {
  return !v->tie && best_of(v) <= tf_x_root_all(&v->floor) * (1 + 1e-12);
}

static void batch(solver *v) {
  const int64_t left = evals_left(v);
  const int most = left < BATCH ? (int)left : BATCH;
  int n = 0;
  for (; n < most && v->next + n < v->n_subproblems && is_promising(v, v->order[v->next + n].bound);
       n++)
    prepare(v, &v->tasks[n], BATCH);
  tf_threads_run(v->threads, n, below_piece, v);
  for (int i = 0; i < n; i++) {
    merge_task(v, &v->tasks[i]);
    if (v->tasks[i].stopped) v->next_pass[v->n_next_pass++] = v->order[v->next + i];
  }
  v->next += n;
  report(v);
}

/* Puts subproblems whose subtree exceeds the quota into a next pass, with a better incumbent and a
 * larger quota. */
static void start_next_pass(solver *v) {
  tf_x_subproblem *done = v->order;
  v->order = v->next_pass;
  v->n_subproblems = v->n_next_pass;
  v->next_pass = done;
  v->n_next_pass = v->next = 0;
  v->quota = v->quota < INT64_MAX / QUOTA_GROWS ? QUOTA_GROWS * v->quota : INT64_MAX;
}

/* Leaves half of the budget for search_after: far from the lower bound, a search finds more than
 * the proof of the space is worth. */
static void leave_half(solver *v) {
  tf_budget *b = &v->own.budget;
  if (!v->o->after || v->tie || best_of(v) <= tf_x_root_all(&v->floor) * TF_X_NEAR) return;
  b->time_limit /= 2;
  if (b->max_evals > 1) b->max_evals /= 2;
}

static void run(solver *v) {
  v->open = INFINITY;
  if (meets_floor(v)) return;
  if (!list_subproblems(v)) {
    v->failed = true;
    return;
  }
  v->quota = QUOTA;
  while (!v->failed && !meets_floor(v) && !stopped(v)) {
    if (v->next < v->n_subproblems && is_promising(v, v->order[v->next].bound))
      batch(v);
    else if (v->n_next_pass && is_promising(v, v->next_pass[0].bound))
      start_next_pass(v);
    else
      return;
  }
}

/* ---- all trip counts ------------------------------------------------------------------------ */
/* Boxes that the search over all trip counts may take: half of the evaluations that are left. */
static int64_t boxes_left(const solver *v) {
  const int64_t evals = evals_left(v) / 2;
  int64_t boxes = BOXES_EACH * v->res->evals;
  boxes = boxes < BOXES_LEAST ? BOXES_LEAST : boxes < BOXES_MOST ? boxes : BOXES_MOST;
  return evals < boxes / BOXES_AN_EVAL ? evals * BOXES_AN_EVAL : boxes;
}

/* Searches the mappings whose trip counts need not divide, with bypasses or without.  A mapping
 * found there, or a start among them, is outside of the space searched before; if all was searched,
 * this is the space.  The bounds assume that every tensor comes from the outermost memory. */
static void run_whole(solver *v, bool bypasses) {
  tf_x_worker *w =
      v->n_templates == 1 && !tf_arch_homes(v->arch, v->wl) ? worker_of(v, 0, 0) : NULL;
  tf_x_task t;
  tf_single_run k = {.max_nodes = boxes_left(v), .bypasses = bypasses};
  if (!w || v->tie || v->failed || meets_floor(v) || stopped(v)) return;
  const bool begun = v->outside.tree && tf_single_has(w->t, v->outside.tree, bypasses);
  prepare(v, &t, 1);
  t.floor = &v->floor.all;
  t.most_evals = k.max_nodes / BOXES_AN_EVAL;
  if (begun) t.limit = best_of(v);
  const bool covered = tf_single_search(w, &t, &k);
  v->res->evals += k.nodes / BOXES_AN_EVAL;
  merge_counts(v, &t.counts);
  offer(k.done ? &v->inside : &v->outside, &t.best.tree, t.best.value, &t.best.figures);
  if (k.done && begun) {
    offer(&v->inside, &v->outside.tree, v->outside.value, &v->outside.figures);
    v->outside.value = INFINITY;
  }
  v->failed |= t.failed;
  *(bypasses ? &v->bypasses : &v->all_trips) = covered && k.done;
  if (covered && !t.unknown) *(bypasses ? &v->bypass_bound : &v->trips_bound) = k.open;
  report(v);
}

/* ---- the first incumbent, and the result ---------------------------------------------------- */
/* Takes a start if it is better, with ownership of the tree.  Values of a masked workload are as
 * `eval` counts, but the solver compares those with all points; so the best start is kept
 * separately. */
static bool take_start(void *ctx, tf_tree **tree, double value, const tf_figures *f) {
  solver *v = ctx;
  tf_figures all;
  if (!tf_workload_masked(v->wl)) {
    offer(&v->outside, tree, value, f);
    return meets_floor(v);
  }
  if (!v->masked_start || value < v->masked_start_value) {
    tf_tree_free(v->masked_start);
    v->masked_start = tf_tree_copy(*tree, v->arch, v->wl, NULL);
    v->masked_start_value = value;
    v->failed |= !v->masked_start;
  }
  if (tf_figures_of_tree(*tree, TF_COUNT_ALL, &all))
    offer(&v->outside, tree, tf_objective_value(v->o->objective, &all), &all);
  tf_tree_free(*tree);
  *tree = NULL;
  return false;
}

/* The lower bound of the space, after every subproblem with a bound below the limit was
 * searched. */
static double least_of_space(const solver *v) {
  return v->inside.value <= v->outside.value * (1 + SAME) ? v->inside.value : v->outside.value;
}

/* Chooses the result: the better; if both are equal, the mapping of the space. */
static void choose(solver *v) {
  tf_solve_result *r = v->res;
  const bool all = meets_floor(v);
  const bool inside =
      all ? v->inside.tree &&
                (!v->outside.tree || tf_figures_order(v->inside.value, &v->inside.figures,
                                                      v->outside.value, &v->outside.figures) < 0)
          : v->inside.tree && v->inside.value <= v->outside.value * (1 + SAME);
  tf_x_best *best = inside ? &v->inside : &v->outside;
  r->tree = best->tree;
  r->value = best->value;
  r->figures = best->figures;
  r->space_proved = inside;
  best->tree = NULL;
}

static void prove(solver *v) {
  tf_solve_result *r = v->res;
  const double floor = tf_x_root_space(&v->floor), least = least_of_space(v);
  const double open = v->unknown ? fmin(open_bound(v), floor) : open_bound(v);
  const bool all = meets_floor(v), done = !is_promising(v, open) || all || v->all_trips;
  choose(v);
  r->bound = tf_x_root_all(&v->floor);
  r->proved = r->tree && all;
  r->space_bound = r->proved ? r->bound : done ? least : fmin(fmax(open, floor), least);
  r->space_proved = r->proved || (done && (r->space_proved || !r->tree));
  r->all_trips = v->all_trips || r->proved;
  r->trips_bound = r->all_trips ? r->space_bound : fmin(fmax(v->trips_bound, r->bound), least);
  r->bypasses = v->bypasses || r->proved;
  r->bypass_bound = r->bypasses ? r->space_bound : fmin(fmax(v->bypass_bound, r->bound), least);
  if (!done && r->stopped_by == TF_STOP_EXHAUSTED && v->o->budget.max_evals)
    r->stopped_by = TF_STOP_BUDGET; /* subproblems were not all listed */
  if (done) r->stopped_by = TF_STOP_EXHAUSTED;
  r->seconds = tf_clock_seconds(&v->clock);
  r->threads = v->threads;
  r->templates = v->n_templates;
}

static void clear(solver *v) {
  for (int i = 0; i < v->n_templates; i++) {
    tf_x_subproblems_free(&v->subproblems[i]);
    for (int t = 0; t < v->threads && v->workers; t++)
      tf_x_worker_free(v->workers[t * TEMPLATES + i]);
    tf_x_template_free(v->templates[i]);
  }
  tf_tree_free(v->masked_start);
  tf_tree_free(v->inside.tree);
  tf_tree_free(v->outside.tree);
  free(v->workers);
  free(v->order);
  free(v->next_pass);
}

/* Begins with the result of which ties are to be broken. */
static bool begin_with(solver *v, const tf_solve_result *known) {
  tf_x_best *best = known->proved
                        ? &v->outside
                        : &v->inside; /* proved for all mappings: it may be outside of the space */
  best->tree = tf_tree_copy(known->tree, v->arch, v->wl, NULL);
  best->figures = known->figures;
  best->value = tf_objective_value(v->o->objective, &known->figures);
  return best->tree;
}

/* Takes the start of a masked workload if, with the mask, it is better than the best with all
 * points. */
static void take_masked_start(solver *v) {
  tf_solve_result *r = v->res;
  tf_figures f;
  if (r->tree && tf_figures_of_tree(r->tree, TF_COUNT_LONG, &f) &&
      tf_objective_value(v->o->objective, &f) <= v->masked_start_value)
    return;
  tf_tree_free(r->tree);
  r->tree = v->masked_start;
  r->value = v->masked_start_value;
  v->masked_start = NULL;
}

/* Nodes that the integer program may take. */
static int64_t nodes_of(const solver *v) {
  const int64_t most = v->o->budget.max_evals / (NODES_A_PART * NODE_EVALS);
  return v->o->budget.max_evals && most < NODES_MOST ? most : NODES_MOST;
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
  v->floor = (tf_x_root_bound){.arch = v->arch, .wl = v->wl, .objective = v->o->objective};
  if (!tf_x_root_find(&v->floor, v->diags) || !make_templates(v)) return false;
  if (v->tie) {
    if (!begin_with(v, v->known)) return tf_out_of_memory(v->diags);
  } else if (!v->o->alone) {
    const tf_x_start s = {v->arch,    v->wl, v->o, v->threads, tf_x_root_all(&v->floor),
                          take_start, v};
    r->evals += tf_x_start_with(&s, &v->clock);
  }
  leave_half(v);
  if (!meets_floor(v))
    r->evals += tf_x_root_by_factors(&v->floor, nodes_of(v), &v->clock) * NODE_EVALS;
  run(v);
  run_whole(v, false);
  if (v->all_trips) run_whole(v, true);
  if (v->failed) return tf_out_of_memory(v->diags);
  prove(v);
  if (v->masked_start) take_masked_start(v);
  return true;
}

tf_solve_result *tf_x_solve(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o,
                            const tf_x_side_condition *tie, const tf_solve_result *known,
                            tf_diags *d) {
  solver *v = calloc(1, sizeof *v);
  if (!v) {
    tf_out_of_memory(d);
    return NULL;
  }
  v->arch = arch, v->wl = wl, v->own = *o, v->o = &v->own, v->tie = tie, v->known = known,
  v->diags = d;
  v->inside.value = v->outside.value = INFINITY;
  tf_clock_begin(&v->clock, &v->own.budget);
  tf_solve_result *r = solve(v) ? v->res : NULL;
  if (!r) tf_solve_free(v->res);
  clear(v);
  free(v);
  return r;
}
