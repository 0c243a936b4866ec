/* Runs the exact solver, then the heuristic search, on one budget; returns the better mapping with
 * the lower bound that the solver proved. */
#include "tileflow/best.h"

#include <math.h>
#include <stdlib.h>

#include "base/locale.h"
#include "search/common/budget_clock.h"
#include "search/common/objective.h"
#include "tileflow/bound.h"
#include "tileflow/search.h"
#include "tileflow/tree.h"

/* PART_OF_SOLVER: the solver may take one part in so many of the budget.  EFFORT_EACH: most effort
 * of an evaluation of the search, on average.  OPS_FOR_THESE: TF_BEST_EVALS is meant for so many
 * ops.  EVALS_OF_FORMULAS: most evaluations of the closed-form solver, where the exact
 * one finds nothing, and FEW_MORE: the part of the budget that it has where nothing is left. */
enum {
  PART_OF_SOLVER = 2,
  EFFORT_EACH = 4,
  OPS_FOR_THESE = 3,
  EVALS_OF_FORMULAS = 2000,
  FEW_MORE = 20
};
/* Values that differ by less are equal: rounding. */
#define SAME 1e-12

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_best_opts *o;
  int64_t evals; /* of the whole run; 0: the clock alone ends it */
  tf_budget_clock clock;
  tf_best_result *r;
} finder;

/* ---- one budget for both -------------------------------------------------------------------- */
static bool stop(void *ctx) {
  const finder *v = ctx;
  return v->o->budget.stop(v->o->budget.ctx);
}

/* Passes on the progress of solver or search, with what the run spent and found before. */
static void progress(void *ctx, const tf_progress *p) {
  const finder *v = ctx;
  tf_progress all = *p;
  all.evals += v->r->evals;
  all.best = fmin(all.best, v->r->value);
  all.bound = fmax(all.bound, v->r->bound);
  tf_clock_report(&v->clock, all);
}

static tf_budget part(finder *v, int64_t evals, double seconds) {
  const tf_budget *all = &v->o->budget;
  return (tf_budget){.max_evals = evals,
                     .time_limit = seconds,
                     .threads = all->threads,
                     .seed = all->seed,
                     .stop = all->stop ? stop : NULL,
                     .progress = all->progress ? progress : NULL,
                     .ctx = v};
}

static bool better(double value, double than) { return value < than * (1 - SAME); }

/* Makes the tree the best; takes ownership of it. */
static void keep_best(tf_best_result *r, tf_tree **tree, double value, const tf_figures *f,
                      const char *method) {
  tf_tree_free(r->tree);
  r->tree = *tree;
  *tree = NULL;
  r->value = value;
  r->figures = *f;
  r->method = method;
  r->start = -1;
}

/* The best of the starts that fit.  False: out of memory. */
static bool take_starts(finder *v) {
  for (int i = 0; i < v->o->n_starts; i++) {
    tf_figures f;
    if (!tf_figures_of_tree(v->o->starts[i], TF_COUNT_LONG, &f)) continue;
    const double value = tf_objective_value(v->o->objective, &f);
    if (!better(value, v->r->value)) continue;
    tf_tree *copy = tf_tree_copy(v->o->starts[i], v->arch, v->wl, NULL);
    if (!copy) return false;
    keep_best(v->r, &copy, value, &f, "given");
    v->r->start = i;
  }
  return true;
}

/* ---- the solver ----------------------------------------------------------------------------- */
/* Takes the solver's bounds, which hold for the space whichever method finds the mapping, and its
 * mapping if it is better. */
static void take_solved(finder *v, tf_solve_result *s) {
  tf_best_result *r = v->r;
  r->space = true;
  r->bound = fmax(r->bound, s->bound);
  r->space_bound = s->space_bound;
  r->all_trips = s->all_trips;
  r->bypasses = s->bypasses;
  r->trips_bound = s->trips_bound;
  r->evals = r->solver_evals = s->evals;
  r->stopped_by = s->stopped_by;
  if (s->tree && (better(s->value, r->value) || (s->space_proved && !better(r->value, s->value)))) {
    r->space_proved = s->space_proved;
    keep_best(r, &s->tree, s->value, &s->figures, "exact");
  }
}

/* Evaluations that are the search's: it finds at least what it finds alone with these. */
static int64_t evals_of_search(const finder *v) { return v->evals - v->evals / PART_OF_SOLVER; }

/* Of what the exact solver left, without those of the search; where it took all of its part, a few
 * more. */
static int64_t evals_of_formulas(const finder *v) {
  const int64_t spare = v->evals - v->r->evals - evals_of_search(v), few = 1 + v->evals / FEW_MORE,
                most = spare > few ? spare : few;
  return v->evals && most < EVALS_OF_FORMULAS ? most : EVALS_OF_FORMULAS;
}

/* Tries the closed-form solver where the exact one finds nothing: with extents beyond what a search
 * takes, it is the only one that can. */
static void take_formulas(finder *v) {
  const tf_solve_opts so = {.objective = v->o->objective,
                            .exportable = v->o->exportable,
                            .budget.max_evals = evals_of_formulas(v),
                            .budget.threads = v->o->budget.threads};
  tf_diags *d = tf_diags_new();
  tf_solve_result *s = d ? tf_solve_closed(v->arch, v->wl, &so, d) : NULL;
  if (s) v->r->evals += s->evals;
  if (s && s->tree && better(s->value, v->r->value))
    keep_best(v->r, &s->tree, s->value, &s->figures, "closed");
  tf_solve_free(s);
  tf_diags_free(d);
}

/* Runs the exact solver.  Its errors are dropped: what cannot be solved can still be searched. */
static void solve(finder *v) {
  const tf_solve_opts so = {
      .objective = v->o->objective,
      .exportable = v->o->exportable,
      .budget = part(v, (v->evals + 1) / PART_OF_SOLVER, v->o->budget.time_limit / PART_OF_SOLVER)};
  tf_diags *d = tf_diags_new();
  tf_solve_result *s = d ? tf_solve_exact(v->arch, v->wl, &so, d) : NULL;
  const bool none = !s || !s->tree;
  if (s) take_solved(v, s);
  tf_solve_free(s);
  tf_diags_free(d);
  if (none) take_formulas(v);
}

/* ---- the search ----------------------------------------------------------------------------- */
/* All starts, and the incumbent where that is none of them.  NULL: out of memory. */
static const tf_tree **starts_of(const finder *v, int *n) {
  const tf_tree **all = malloc(((size_t)v->o->n_starts + 1) * sizeof *all);
  *n = 0;
  for (int i = 0; all && i < v->o->n_starts; i++)
    all[(*n)++] = v->o->starts[i];
  if (all && v->r->tree && v->r->start < 0) all[(*n)++] = v->r->tree;
  return all;
}

static void take_searched(finder *v, tf_search_result *g) {
  tf_best_result *r = v->r;
  r->evals += g->evals;
  r->stopped_by = g->stopped_by;
  if (g->n_best && better(g->best[0].value, r->value)) {
    r->space_proved = false;
    keep_best(r, &g->best[0].tree, g->best[0].value, &g->best[0].figures, g->strategy);
  }
}

/* Searches with so many evaluations.  limited: those that take long count as several. */
static bool search(finder *v, int64_t evals, bool limited, double left, tf_diags *d) {
  int n;
  const tf_tree **starts = starts_of(v, &n);
  if (!starts) return tf_out_of_memory(d);
  tf_search_opts so = {.objective = v->o->objective,
                       .exportable = v->o->exportable,
                       .budget = part(v, evals, left),
                       .keep = 1,
                       .goal = v->r->bound,
                       .starts = starts,
                       .n_starts = n};
  if (limited) so.budget.max_effort = evals < INT64_MAX / EFFORT_EACH ? EFFORT_EACH * evals : 0;
  tf_search_result *g = tf_search_run(v->arch, v->wl, NULL, &so, d);
  if (g) take_searched(v, g);
  tf_search_free(g);
  free(starts);
  return g != NULL;
}

/* Searches with what solver and formulas left.  Where that ends before it finds any mapping, as
 * there was little left or its evaluations take long, it begins anew with its whole part, however
 * long they take: the first ones are those of before, and count once.  A solver of many subproblems
 * may take far more than its part, as each has an evaluation: the search has its own all the same.
 */
static bool search_rest(finder *v, double left, tf_diags *d) {
  tf_best_result *r = v->r;
  const int64_t before = r->evals, own = evals_of_search(v), spare = v->evals - before,
                rest = spare > own / 2 ? spare : own, all = rest > own ? rest : own;
  const double begun = tf_clock_seconds(&v->clock);
  if (!search(v, v->evals ? rest : 0, true, left, d)) return false;
  const int64_t tried = r->evals - before;
  const double passed = tf_clock_seconds(&v->clock) - begun;
  if (r->tree || r->stopped_by != TF_STOP_BUDGET || tried >= all || (left > 0 && left <= passed))
    return true;
  r->evals = before;
  const bool ok = search(v, all, false, left > 0 ? left - passed : 0, d);
  if (r->evals < before + tried) r->evals = before + tried;
  return ok;
}

/* ---- the whole ------------------------------------------------------------------------------ */
static bool met(const tf_best_result *r) { return r->tree && r->value <= r->bound * (1 + SAME); }

static void prove(tf_best_result *r) {
  r->proved = met(r);
  r->space_proved |= r->proved;
  r->all_trips |= r->proved || !r->space;
  r->bypasses |= r->proved || !r->space;
  if (r->proved || !r->space) r->space_bound = r->trips_bound = r->bound;
  if (r->proved) r->stopped_by = TF_STOP_PROVED;
}

static bool run(finder *v, tf_diags *d) {
  const tf_budget_clock *w = &v->clock;
  tf_best_result *r = v->r;
  const double limit = v->o->budget.time_limit;
  if (!take_starts(v)) return tf_out_of_memory(d);
  if (!met(r)) solve(v);
  const bool asked = tf_clock_asked(w);
  const double left = limit > 0 ? limit - tf_clock_seconds(w) : 0;
  if (asked) r->stopped_by = TF_STOP_INTERRUPT;
  if (!asked && !met(r) && (limit <= 0 || left > 0) && !search_rest(v, left, d)) return false;
  prove(r);
  r->seconds = tf_clock_seconds(w);
  r->threads = tf_budget_threads(&v->o->budget);
  return true;
}

tf_best_result *tf_best_find(const tf_arch *arch, const tf_workload *wl, const tf_best_opts *o,
                             tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_bounds bounds;
  if (!tf_bounds_on_chip(arch, wl, &bounds, d)) return NULL;
  finder v = {
      .arch = arch, .wl = wl, .o = o, .evals = o->budget.max_evals, .r = calloc(1, sizeof *v.r)};
  if (!v.evals && o->budget.time_limit <= 0)
    v.evals = wl->n_ops > OPS_FOR_THESE ? TF_BEST_EVALS * OPS_FOR_THESE / wl->n_ops : TF_BEST_EVALS;
  if (!v.r) {
    tf_out_of_memory(d);
    return NULL;
  }
  tf_clock_begin(&v.clock, &o->budget);
  v.r->value = INFINITY;
  v.r->start = -1;
  v.r->bound = tf_bounds_value(o->objective, &bounds, arch);
  if (run(&v, d)) return v.r;
  tf_best_free(v.r);
  return NULL;
}

void tf_best_free(tf_best_result *r) {
  if (r) tf_tree_free(r->tree);
  free(r);
}
