/* The exact solver around its branch and bound: canonical form, ties, masks, padding, and the
 * heuristic search afterwards. */
#include "search/exact/solve.h"

#include <math.h>
#include <stdlib.h>

#include "base/locale.h"
#include "search/closed/canonical.h"
#include "search/common/objective.h"
#include "search/exact/root_bound.h"
#include "search/exact/start.h"
#include "search/run/driver.h"
#include "search/run/tree_local_search.h"
#include "tileflow/tree.h"

enum { TIE_LEAST = 100000, TIE_MOST = 2000000 }; /* evaluations for the second objective */
enum { TIE_ROOM = 256 };                         /* fewer do not pay */
/* Of the search afterwards: */
enum { SEED_AFTER = 2 };
enum { MOVES_PART = 2, MOVES_MOST = 100000 }; /* part of a round for local search, and its most */
enum { ROUNDS = 4, ROUND = 40000 };           /* most rounds; evaluations that each needs */
enum { NEAR_PART = 2 };  /* part of the evaluations before, if the result is near the bound */
enum { TRIAL_PART = 8 }; /* part of a single round for local search, which decides how to go on */
#define WORSE_MOST 1.02  /* a new search that is worse than this is dropped for the best */
#define PAYS 1e-3        /* the improvement that local search must give */

/* Whether the branch and bound was stopped before it had tried the whole space. */
static bool unfinished(const tf_solve_opts *o, const tf_solve_result *r) {
  return o->after && r->stopped_by != TF_STOP_EXHAUSTED && r->value > r->bound * TF_X_NEAR;
}

/* ---- ties ----------------------------------------------------------------------------------- */
/* Breaks ties: solves again for less energy among the mappings whose objective equals the one
 * found, with as many evaluations as that took (TIE_LEAST to TIE_MOST).  The proof for the
 * objective still holds. */
static void break_ties(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o,
                       tf_solve_result *r) {
  const bool over = r->stopped_by == TF_STOP_INTERRUPT || r->stopped_by == TF_STOP_TIME;
  const bool outside = !r->space_proved && r->space_bound >= r->value * (1 - 1e-12);
  if (!r->tree || o->objective == TF_ENERGY || over || outside || unfinished(o, r)) return;
  tf_x_side_condition tie = {o->objective, r->value};
  tf_solve_opts also = *o;
  also.objective = TF_ENERGY;
  const tf_budget *all = &o->budget;
  tf_budget *left = &also.budget;
  left->progress = NULL;
  left->max_evals = r->evals < TIE_LEAST ? TIE_LEAST : r->evals < TIE_MOST ? r->evals : TIE_MOST;
  if (all->max_evals && left->max_evals > all->max_evals - r->evals)
    left->max_evals = all->max_evals - r->evals;
  if (all->time_limit > 0) left->time_limit = all->time_limit - r->seconds;
  if (left->max_evals < TIE_ROOM || (all->time_limit > 0 && left->time_limit <= 0))
    return;                     /* each takes one */
  tf_diags *d = tf_diags_new(); /* finding none is no error here */
  tf_solve_result *better = d ? tf_x_solve(arch, wl, &also, &tie, r, d) : NULL;
  if (better && better->tree) {
    tf_tree *tree = r->tree;
    r->tree = better->tree;
    better->tree = tree;
    r->figures = better->figures;
    r->value = tf_objective_value(o->objective, &r->figures);
    if (r->space_proved) r->space_bound = r->value;
    if (r->all_trips) r->trips_bound = r->space_bound;
    if (r->bypasses) r->bypass_bound = r->space_bound;
  }
  r->evals += better ? better->evals : 0;
  r->seconds += better ? better->seconds : 0;
  tf_solve_free(better);
  tf_diags_free(d);
}

/* ---- masks and padding ---------------------------------------------------------------------- */
/* Solves a masked workload with all points counted, as the search ranks them, and evaluates the
 * mapping found with its mask.  With skipped steps, an open part could leave out more of the
 * decided part, and hardly anything could be pruned. */
static bool count_masks(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o,
                        tf_solve_result *r, tf_diags *d) {
  tf_model *m = tf_model_new(r->tree, d);
  tf_result now;
  if (m) tf_model_eval(m, NULL, &now);
  const bool counted = m && !now.overflow;
  if (counted) r->figures = tf_figures_of(arch, wl, &now);
  if (counted) r->value = tf_objective_value(o->objective, &r->figures);
  tf_model_free(m);
  return m != NULL;
}

/* Whether an op's output is padded.  Then its range is clipped at borders, and the counts of the
 * closed part of a tree are no lower bound of its completions; so only bounds that hold for every
 * mapping are reported. */
static bool makes_padded(const tf_workload *wl) {
  for (int z = 0; z < wl->n_tensors; z++)
    for (int r = 0; r < wl->tensors[z].rank && wl->tensors[z].producer >= 0; r++)
      if (wl->tensors[z].pad[r] > 0) return true;
  return false;
}

static bool bound_by_workload(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o,
                              tf_solve_result *r, tf_diags *d) {
  tf_x_root_bound f = {.arch = arch, .wl = wl, .objective = o->objective};
  if (!tf_x_root_find(&f, d)) return false;
  r->bound = r->space_bound = r->trips_bound = r->bypass_bound = tf_x_root_all(&f);
  r->proved = r->space_proved = r->all_trips = r->bypasses =
      r->tree && r->value <= tf_x_root_all(&f) * (1 + 1e-12);
  return true;
}

/* ---- the search afterwards ------------------------------------------------------------------ */
/* Takes a better mapping, which need not lie in the space. */
static void take_better(tf_solve_result *r, tf_found *f) {
  tf_tree_free(r->tree);
  r->tree = f->tree;
  f->tree = NULL;
  r->value = f->value;
  r->figures = f->figures;
  r->proved = r->space_proved = r->value <= r->bound * (1 + 1e-12);
  if (r->proved) r->space_bound = r->trips_bound = r->bypass_bound = r->bound;
  r->all_trips |= r->proved;
  r->bypasses |= r->proved;
}

/* The budget of one round of the search afterwards. */
typedef struct {
  int64_t evals;
  double seconds; /* where time has a limit */
  uint64_t seed;
  bool single; /* the only round */
} after_part;

/* Local search from a mapping. */
static bool move_after(const tf_solve_opts *o, after_part may, const tf_tree *from, double value,
                       tf_solve_result *r) {
  tf_budget left = o->budget;
  tf_budget_clock clock;
  const tf_local_search_opts how = {.goal = r->bound, .evals = may.evals, .seed = may.seed};
  tf_evaluator q = {.objective = o->objective, .exportable = o->exportable};
  tf_found f;
  left.time_limit = may.seconds;
  if (value <= r->bound * (1 + 1e-12) || may.evals <= 0 ||
      (o->budget.time_limit > 0 && may.seconds <= 0))
    return true;
  tf_clock_begin(&clock, &left);
  if (tf_tree_local_search(from, value, &how, &clock, &q, &f)) {
    if (f.value < r->value * (1 - 1e-12))
      take_better(r, &f);
    else
      tf_tree_free(f.tree);
  }
  r->evals += tf_x_moved(&q);
  r->seconds += tf_clock_seconds(&clock);
  return !q.failed;
}

/* A search for half of the budget, from the best or from scratch, and local search from its result
 * for the rest. */
static bool search_round(const tf_solve_opts *o, after_part may, bool from_scratch,
                         tf_solve_result *r, tf_diags *d) {
  const tf_tree *const start[] = {r->tree};
  const int64_t moves = may.evals / MOVES_PART < MOVES_MOST ? may.evals / MOVES_PART : MOVES_MOST;
  const int64_t most = may.evals - moves;
  tf_search_opts so = {.objective = o->objective,
                       .exportable = o->exportable,
                       .budget = o->budget,
                       .keep = 1,
                       .goal = r->bound,
                       .starts = start,
                       .n_starts = !from_scratch};
  so.budget.seed = may.seed;
  so.budget.max_evals = most < INT64_MAX ? most : 0;
  so.budget.max_effort = most < INT64_MAX / TF_X_EFFORT_EACH ? TF_X_EFFORT_EACH * most : 0;
  so.budget.time_limit = may.seconds;
  so.budget.progress = NULL;
  const tf_arch *arch = r->tree->arch;
  tf_search_result *g = tf_search_without_moves(arch, r->tree->workload, NULL, &so, d);
  if (!g) return false;
  if (unfinished(o, r)) r->stopped_by = g->stopped_by;
  r->evals += tf_x_searched(g, so.budget.max_evals);
  r->seconds += g->seconds;
  may.evals = moves;
  may.seconds = o->budget.time_limit > 0 ? may.seconds - g->seconds : 0;
  const bool better = g->n_best && g->best[0].value < r->value * (1 - 1e-12);
  if (better) take_better(r, &g->best[0]);
  const bool own = from_scratch && !better && g->n_best &&
                   (!may.single || g->best[0].value < r->value * WORSE_MOST);
  const bool ok =
      move_after(o, may, own ? g->best[0].tree : r->tree, own ? g->best[0].value : r->value, r);
  tf_search_free(g);
  return ok || tf_out_of_memory(d);
}

/* Whether local search from the best improves it so little that a new search is worth more. */
static bool is_stuck(const tf_solve_opts *o, after_part may, tf_solve_result *r) {
  const double before = r->value;
  may.evals /= TRIAL_PART;
  may.seconds /= TRIAL_PART;
  may.seed += ROUNDS;
  return move_after(o, may, r->tree, r->value, r) && r->value > before * (1 - PAYS);
}

/* Spends the rest of the budget on searches of all mappings, in rounds: from the best, then from
 * scratch, and so on; a single round, for several ops, takes the more promising of both.  Near the
 * bound a search finds little, so it gets no more than a part of what was spent before. */
static bool search_after(const tf_solve_opts *o, tf_solve_result *r, tf_diags *d) {
  const tf_budget *all = &o->budget;
  int64_t left = all->max_evals ? all->max_evals - r->evals : INT64_MAX;
  if (left > o->after && all->time_limit <= 0) left = o->after;
  const int64_t near = r->evals / NEAR_PART,
                until = r->evals + (left < INT64_MAX - r->evals ? left : INT64_MAX - r->evals);
  if (r->stopped_by == TF_STOP_INTERRUPT) return true;
  const int64_t rounds = left / ROUND < ROUNDS ? left / ROUND + 1 : ROUNDS;
  for (int64_t k = 0; k < rounds && r->tree && r->value > r->bound * (1 + 1e-12); k++) {
    const bool close = r->value <= r->bound * TF_X_NEAR;
    left = until - r->evals;
    if (close && left > near) left = near;
    const double seconds = all->time_limit - r->seconds;
    if (left < rounds || (all->time_limit > 0 && seconds <= 0)) break;
    if (all->stop && all->stop(all->ctx)) break;
    after_part may = {left / (rounds - k), all->time_limit > 0 ? seconds / (double)(rounds - k) : 0,
                      SEED_AFTER + (uint64_t)k, false};
    const int64_t spent = r->evals;
    const bool single = rounds == 1 && !close && r->tree->workload->n_ops > 1;
    may.single = single;
    const bool from_scratch = single ? is_stuck(o, may, r) : k % 2;
    may.evals -= r->evals - spent;
    if (!search_round(o, may, from_scratch, r, d)) return false;
  }
  return true;
}

/* ---- long graphs ---------------------------------------------------------------------------- */
/* More ops than the branch and bound takes: what the search afterwards finds with the whole budget,
 * and the bound of all mappings. */
static tf_solve_result *search_long(const tf_arch *arch, const tf_workload *wl,
                                    const tf_solve_opts *o, tf_diags *d) {
  tf_search_opts so = {
      .objective = o->objective, .exportable = o->exportable, .budget = o->budget, .keep = 1};
  if (so.budget.max_evals == 0 && so.budget.time_limit <= 0) so.budget.max_evals = o->after;
  tf_search_result *g = tf_search_run(arch, wl, NULL, &so, d);
  tf_solve_result *r = g ? calloc(1, sizeof *r) : NULL;
  if (r) {
    r->value = INFINITY;
    r->evals = g->evals;
    r->seconds = g->seconds;
    r->stopped_by = g->stopped_by;
    r->threads = g->threads;
  }
  if (r && g->n_best) {
    r->tree = g->best[0].tree;
    g->best[0].tree = NULL;
    r->value = g->best[0].value;
    r->figures = g->best[0].figures;
  }
  if (g && !r) tf_out_of_memory(d);
  tf_search_free(g);
  if (!r || bound_by_workload(arch, wl, o, r, d)) return r;
  tf_solve_free(r);
  return NULL;
}

static tf_solve_result *solve(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o,
                              tf_diags *d) {
  if (wl->n_ops > TF_X_OPS && o->after) return search_long(arch, wl, o, d);
  tf_solve_result *r = tf_x_solve(arch, wl, o, NULL, NULL, d);
  const bool masked = r && tf_workload_masked(wl);
  if (r && !masked) break_ties(arch, wl, o, r); /* with all points, other mappings tie */
  bool ok = !masked || !r->tree || count_masks(arch, wl, o, r, d);
  if (ok && r && (masked || makes_padded(wl))) ok = bound_by_workload(arch, wl, o, r, d);
  if (ok && r && o->after) ok = search_after(o, r, d);
  if (ok) return r;
  tf_solve_free(r);
  return NULL;
}

tf_solve_result *tf_solve_exact(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o,
                                tf_diags *d) {
  TF_IN_C_LOCALE;
  if (tf_zeros_matter(arch, wl)) { /* its pruning counts as if there were no zeros */
    tf_fail(d, wl->at, TF_E_LIMIT,
            "the exact solver does not know what zeros save: search finds mappings, and so do the "
            "formulas (--method closed)");
    return NULL;
  }
  if (tf_arch_lines(arch)) { /* its lower bounds of energy and time are of words, not of lines */
    tf_fail(d, arch->at, TF_E_LIMIT,
            "the exact solver does not know lines and banks ('line'): search finds mappings, and "
            "so do the formulas (--method closed)");
    return NULL;
  }
  if (tf_has_peers(
          arch)) { /* what neighbours save could be more than its bounds of the open part allow */
    tf_fail(d, arch->at, TF_E_LIMIT,
            "the exact solver does not know what neighbours hand on ('peers'): search finds "
            "mappings, and so do the formulas (--method closed)");
    return NULL;
  }
  return tf_solve_as_canon(solve, arch, wl, o, d);
}
