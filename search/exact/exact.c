/* The exact solver: branch and bound over the subproblems of all templates, best bound first, in
 * batches that do not depend on the number of threads; and what is proved when it ends. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "search/common/archive.h"
#include "search/common/exportable.h"
#include "search/common/objective.h"
#include "search/exact/floor.h"
#include "search/exact/solve.h"
#include "search/exact/start.h"
#include "search/exact/state.h"
#include "search/exact/whole.h"

enum { TEMPLATES = 256 }; /* shapes of a tree at most */
enum { BATCH = 16 };      /* subproblems that are worked on at once */
enum {
  NODES_MOST = 2000,
  NODES_A_PART = 4
};                        /* of the integer program; the part of the budget that it may take */
enum { NODE_EVALS = 32 }; /* evaluations that one of its nodes counts as */
/* Of the search over all trip counts: boxes for each evaluation spent before it, which take half
 * the time of these; no fewer and no more than some; and how many count as an evaluation. */
enum { BOXES_EACH = 6, BOXES_LEAST = 300000, BOXES_MOST = 3000000, BOXES_AN_EVAL = 8 };
enum {
  QUOTA = 40000,
  QUOTA_GROWS = 4
}; /* evaluations below a subproblem in the first pass; by how much more in the next */

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_solve_opts *o;
  tf_solve_opts
      own; /* what o points to: its budget shrinks where the search after is to have a part */
  const tf_x_side_condition *tie; /* NULL: no condition on a second objective */
  tf_diags *diags;
  tf_x_floor floor;
  int threads;
  int n_templates;
  tf_x_template *templates[TEMPLATES];
  tf_x_worker **workers; /* [thread * TEMPLATES + template], created when first needed */
  tf_x_subproblems subproblems[TEMPLATES];
  tf_x_subproblem *order; /* all subproblems, by ascending bound */
  int64_t n_subproblems,
      next; /* of this pass; subproblems before `next` are done, or go to the next pass */
  tf_x_subproblem *again; /* for the next pass, by ascending bound */
  int64_t n_again, quota;
  double open; /* lowest bound of subtrees that were cut short */
  int n_tasks;
  tf_x_task tasks[TEMPLATES];
  tf_budget_clock watch;
  tf_solve_result *res;
  tf_x_best in;  /* the best that the space was found to have */
  tf_x_best out; /* the best of all others: what it begins with may lie outside of the space */
  const tf_solve_result *known; /* the result whose ties are broken; NULL without a tie */
  tf_tree *aside; /* of a masked workload, the best to begin with as `eval` counts; NULL: none */
  double aside_value;
  bool all_trips;      /* the space has all trip counts, and is searched */
  double trips_bound;  /* no mapping with other trip counts is below it, nor below the best known */
  bool bypasses;       /* the space has all bypasses, too, and is searched */
  double bypass_bound; /* no mapping of it is below it, nor below the best known */
  bool failed, unknown; /* unknown: as in tf_x_task */
} solver;

/* Values this near are the same, up to rounding. */
#define SAME 1e-11

static double best_of(const solver *v) { return fmin(v->in.value, v->out.value); }

/* What a mapping of the space must stay below to matter: the best of the space; a value from
 * outside it must be met, too, so that the best of the space is known. */
static double limit_of(const solver *v) { return fmin(v->in.value, v->out.value * (1 + SAME)); }

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
static int64_t left_of(const solver *v) {
  const int64_t most = v->o->budget.max_evals;
  return !most ? INT64_MAX : most > v->res->evals ? most - v->res->evals : 0;
}

/* Prepares one of n tasks that share what is left of the budget; each may take one. */
static void prepare(solver *v, tf_x_task *t, int n) {
  *t = (tf_x_task){.opts = v->o,
                   .tie = v->tie,
                   .floor = &v->floor.space,
                   .limit = limit_of(v),
                   .watch = &v->watch};
  for (int l = 0; l < v->arch->n_memories; l++)
    t->counts.level[l].least = INT64_MAX;
  t->most_evals = v->quota;
  const int64_t left = left_of(v) / n;
  if (v->o->budget.max_evals && (!v->quota || left < v->quota)) t->most_evals = left > 1 ? left : 1;
}

/* Keeps the mapping if it is better.  Takes the tree. */
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

/* What a task found and counted becomes the solver's. */
static void merge_task(solver *v, tf_x_task *t) {
  merge_counts(v, &t->counts);
  offer(&v->in, &t->best.tree, t->best.value, &t->best.figures);
  v->failed |= t->failed;
  v->unknown |= t->unknown;
}

static bool stopped(solver *v) {
  if (atomic_load(&v->watch.why))
    v->res->stopped_by = tf_clock_why(&v->watch);
  else if (left_of(v) == 0)
    v->res->stopped_by = TF_STOP_BUDGET;
  else
    return false;
  return true;
}

/* The lowest bound of everything not searched yet. */
static double open_bound(const solver *v) {
  double open = v->open;
  if (v->next < v->n_subproblems) open = fmin(open, v->order[v->next].bound);
  if (v->n_again) open = fmin(open, v->again[0].bound);
  return open;
}

static void report(const solver *v) {
  double bound = fmin(fmax(tf_x_floor_space(&v->floor), open_bound(v)), best_of(v));
  tf_clock_report(&v->watch,
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

static bool list_heads(solver *v) {
  for (int i = 0; i < v->n_templates; i++)
    prepare(v, &v->tasks[i], v->n_templates);
  tf_threads_run(v->threads, v->n_templates, list_piece, v);
  for (int i = 0; i < v->n_templates; i++) {
    merge_task(v, &v->tasks[i]);
    if (v->tasks[i].cut) v->open = tf_x_floor_space(&v->floor);
    v->n_subproblems += v->subproblems[i].n;
  }
  v->order = malloc(((size_t)v->n_subproblems + 1) * sizeof *v->order);
  v->again = malloc(((size_t)v->n_subproblems + 1) * sizeof *v->again);
  if (!v->order || !v->again) return false;
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

static bool promises(const solver *v, double bound) { return bound < limit_of(v) * (1 - 1e-12); }

/* Whether no mapping at all is better than the best known. */
static bool meets_floor(const solver *v) {
  return !v->tie && best_of(v) <= tf_x_floor_all(&v->floor) * (1 + 1e-12);
}

static void batch(solver *v) {
  const int64_t left = left_of(v);
  const int most = left < BATCH ? (int)left : BATCH;
  int n = 0;
  for (; n < most && v->next + n < v->n_subproblems && promises(v, v->order[v->next + n].bound);
       n++)
    prepare(v, &v->tasks[n], BATCH);
  tf_threads_run(v->threads, n, below_piece, v);
  for (int i = 0; i < n; i++) {
    merge_task(v, &v->tasks[i]);
    if (v->tasks[i].cut) v->again[v->n_again++] = v->order[v->next + i];
  }
  v->next += n;
  report(v);
}

/* Heads whose subtree exceeds the quota come again in a next pass, with a better incumbent and a
 * larger quota. */
static void next_pass(solver *v) {
  tf_x_subproblem *done = v->order;
  v->order = v->again;
  v->n_subproblems = v->n_again;
  v->again = done;
  v->n_again = v->next = 0;
  v->quota = v->quota < INT64_MAX / QUOTA_GROWS ? QUOTA_GROWS * v->quota : INT64_MAX;
}

/* Far from the bound of all mappings the search after finds more than a proof of the space tells:
 * it gets half. */
static void leave_half(solver *v) {
  tf_budget *b = &v->own.budget;
  if (!v->o->after || v->tie || best_of(v) <= tf_x_floor_all(&v->floor) * TF_X_NEAR) return;
  b->time_limit /= 2;
  if (b->max_evals > 1) b->max_evals /= 2;
}

static void run(solver *v) {
  v->open = INFINITY;
  if (meets_floor(v)) return;
  if (!list_heads(v)) {
    v->failed = true;
    return;
  }
  v->quota = QUOTA;
  while (!v->failed && !meets_floor(v) && !stopped(v)) {
    if (v->next < v->n_subproblems && promises(v, v->order[v->next].bound))
      batch(v);
    else if (v->n_again && promises(v, v->again[0].bound))
      next_pass(v);
    else
      return;
  }
}

/* ---- all trip counts ------------------------------------------------------------------------ */
/* Boxes that the search over all trip counts may take: of the evaluations that are left, half of
 * them. */
static int64_t boxes_of(const solver *v) {
  const int64_t evals = left_of(v) / 2;
  int64_t boxes = BOXES_EACH * v->res->evals;
  boxes = boxes < BOXES_LEAST ? BOXES_LEAST : boxes < BOXES_MOST ? boxes : BOXES_MOST;
  return evals < boxes / BOXES_AN_EVAL ? evals * BOXES_AN_EVAL : boxes;
}

/* Searches the mappings whose trip counts need not divide, with bypasses or without.  What it
 * finds, or what was begun with and is one of them, lies outside of the space that was searched
 * before; where all was searched, it is the space. Its bounds take every tensor to come from the
 * outermost memory. */
static void run_whole(solver *v, bool bypasses) {
  tf_x_worker *w =
      v->n_templates == 1 && !tf_arch_homes(v->arch, v->wl) ? worker_of(v, 0, 0) : NULL;
  tf_x_task t;
  tf_whole_run k = {.most = boxes_of(v), .bypasses = bypasses};
  if (!w || v->tie || v->failed || meets_floor(v) || stopped(v)) return;
  const bool begun = v->out.tree && tf_whole_has(w->t, v->out.tree, bypasses);
  prepare(v, &t, 1);
  t.floor = &v->floor.all;
  t.most_evals = k.most / BOXES_AN_EVAL;
  if (begun) t.limit = best_of(v);
  const bool covered = tf_whole_search(w, &t, &k);
  v->res->evals += k.nodes / BOXES_AN_EVAL;
  merge_counts(v, &t.counts);
  offer(k.done ? &v->in : &v->out, &t.best.tree, t.best.value, &t.best.figures);
  if (k.done && begun) {
    offer(&v->in, &v->out.tree, v->out.value, &v->out.figures);
    v->out.value = INFINITY;
  }
  v->failed |= t.failed;
  *(bypasses ? &v->bypasses : &v->all_trips) = covered && k.done;
  if (covered && !t.unknown) *(bypasses ? &v->bypass_bound : &v->trips_bound) = k.open;
  report(v);
}

/* ---- the first incumbent, and the result ---------------------------------------------------- */
/* Takes a mapping to begin with, if it is better.  Takes the tree.  Of a masked workload a value is
 * as `eval` counts: the solver compares with all points, and the best as it stands is put aside. */
static bool take_start(void *ctx, tf_tree **tree, double value, const tf_figures *f) {
  solver *v = ctx;
  tf_figures all;
  if (!tf_workload_masked(v->wl)) {
    offer(&v->out, tree, value, f);
    return meets_floor(v);
  }
  if (!v->aside || value < v->aside_value) {
    tf_tree_free(v->aside);
    v->aside = tf_tree_copy(*tree, v->arch, v->wl, NULL);
    v->aside_value = value;
    v->failed |= !v->aside;
  }
  if (tf_figures_of_tree(*tree, TF_COUNT_ALL, &all))
    offer(&v->out, tree, tf_objective_value(v->o->objective, &all), &all);
  tf_tree_free(*tree);
  *tree = NULL;
  return false;
}

/* The value that no mapping of the space is below, once all is searched that promised to be. */
static double least_of_space(const solver *v) {
  return v->in.value <= v->out.value * (1 + SAME) ? v->in.value : v->out.value;
}

/* Chooses what is printed: the better; of two that are equal the one of the space, which is the
 * best there. */
static void choose(solver *v) {
  tf_solve_result *r = v->res;
  const bool all = meets_floor(v);
  const bool in =
      all ? v->in.tree && (!v->out.tree || tf_figures_order(v->in.value, &v->in.figures,
                                                            v->out.value, &v->out.figures) < 0)
          : v->in.tree && v->in.value <= v->out.value * (1 + SAME);
  tf_x_best *best = in ? &v->in : &v->out;
  r->tree = best->tree;
  r->value = best->value;
  r->figures = best->figures;
  r->space_proved = in;
  best->tree = NULL;
}

static void prove(solver *v) {
  tf_solve_result *r = v->res;
  const double floor = tf_x_floor_space(&v->floor), least = least_of_space(v);
  const double open = v->unknown ? fmin(open_bound(v), floor) : open_bound(v);
  const bool all = meets_floor(v), done = !promises(v, open) || all || v->all_trips;
  choose(v);
  r->bound = tf_x_floor_all(&v->floor);
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
  r->seconds = tf_clock_seconds(&v->watch);
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
  tf_tree_free(v->aside);
  tf_tree_free(v->in.tree);
  tf_tree_free(v->out.tree);
  free(v->workers);
  free(v->order);
  free(v->again);
}

/* Begins with the result whose ties are to be broken. */
static bool begin_with(solver *v, const tf_solve_result *known) {
  tf_x_best *best = known->proved ? &v->out : &v->in; /* proved of all: it may lie anywhere */
  best->tree = tf_tree_copy(known->tree, v->arch, v->wl, NULL);
  best->figures = known->figures;
  best->value = tf_objective_value(v->o->objective, &known->figures);
  return best->tree;
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
  v->floor = (tf_x_floor){.arch = v->arch, .wl = v->wl, .objective = v->o->objective};
  if (!tf_x_floor_find(&v->floor, v->diags) || !make_templates(v)) return false;
  if (v->tie) {
    if (!begin_with(v, v->known)) return tf_out_of_memory(v->diags);
  } else if (!v->o->alone) {
    const tf_x_start s = {v->arch,    v->wl, v->o, v->threads, tf_x_floor_all(&v->floor),
                          take_start, v};
    r->evals += tf_x_start_with(&s, &v->watch);
  }
  leave_half(v);
  if (!meets_floor(v))
    r->evals += tf_x_floor_by_factors(&v->floor, nodes_of(v), &v->watch) * NODE_EVALS;
  run(v);
  run_whole(v, false);
  if (v->all_trips) run_whole(v, true);
  if (v->failed) return tf_out_of_memory(v->diags);
  prove(v);
  if (v->aside) take_aside(v);
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
  v->in.value = v->out.value = INFINITY;
  tf_clock_begin(&v->watch, &v->own.budget);
  tf_solve_result *r = solve(v) ? v->res : NULL;
  if (!r) tf_solve_free(v->res);
  clear(v);
  free(v);
  return r;
}
