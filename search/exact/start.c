#include "search/exact/start.h"

#include <math.h>
#include <stdlib.h>

#include "model/tree/build.h"
#include "search/common/exportable.h"
#include "search/common/objective.h"
#include "search/run/driver.h"
#include "search/run/tree_local_search.h"
#include "search/space/pairs.h"
#include "search/space/phases.h"
#include "tileflow/tree.h"

/* Parts of the budget: a third, and at most MOST evaluations, for the search by the objective asked
 * for; an eighth for the closed-form solver.  The other three objectives take less each, so that
 * half of the budget is left for the proof. */
enum { MOST = 300000, SEARCH_PART = 3, FORMULAS_PART = 8, OTHERS_PART = 24, MOST_OTHERS = 40000 };
/* Phases (search/space/phases.h): their part, if each candidate gets EACH_PHASE evaluations. */
enum { PHASES_PART = 2, MOST_PHASES = 200000, EACH_PHASE = 64 };
/* Fusion of consecutive ops (search/space/pairs.h), where there are no phases. */
enum { PAIRS_PART = 4, MOST_PAIRS = 50000, EACH_PAIR = 128 };
/* Local search from the best of all these (search/run/tree_local_search.h). */
enum { MOVES_PART = 16, MOST_MOVES = 5000, SEED_MOVES = 100 };
/* Parts of the time limit, if there is one. */
enum { TIME_PART = 4, TIME_PART_OTHERS = 32 };

/* Evaluations spent, and the best found. */
typedef struct {
  tf_budget_clock *clock;
  int64_t spent;
  double best;   /* value of the objective asked for */
  tf_tree *tree; /* the mapping of that value; NULL: none, or memory ran out */
  bool phases;   /* there are phases: the searches leave more to them */
} so_far;

/* A part of the evaluations asked for, at most `most`; 0: no limit. */
static int64_t part_of(const tf_x_start *s, int64_t part, int64_t most) {
  const int64_t evals = s->o->budget.max_evals / part;
  if (!s->o->budget.max_evals || (most && evals > most)) return most;
  return evals > 0 ? evals : 1;
}

static tf_budget budget_of(const tf_x_start *s, int64_t evals, int time_part) {
  const tf_budget *all = &s->o->budget;
  return (tf_budget){.seed = 1,
                     .threads = s->threads,
                     .max_evals = evals,
                     .max_effort = TF_X_EFFORT_EACH * evals,
                     .time_limit = all->time_limit > 0 ? all->time_limit / time_part : 0,
                     .stop = all->stop,
                     .ctx = all->ctx};
}

/* Passes a mapping to the solver with its value of the objective asked for; f: its figures as
 * `eval` counts.  True: it is optimal. */
static bool pass(const tf_x_start *s, tf_tree **tree, const tf_figures *f, so_far *now) {
  const double value = tf_objective_value(s->o->objective, f);
  if (*tree && value < now->best) {
    tf_tree_free(now->tree);
    now->best = value;
    now->tree = tf_tree_copy(*tree, s->arch, s->wl, NULL);
  }
  const bool best = *tree && s->take(s->ctx, tree, value, f);
  tf_tree_free(*tree);
  *tree = NULL;
  return best;
}

/* Passes on the front: what a search keeps by another figure may be the best by the objective. */
static bool take_front(const tf_x_start *s, tf_search_result *r, so_far *now) {
  int best = -1;
  for (int i = 0; i < r->n_pareto; i++)
    if (best < 0 || tf_objective_value(s->o->objective, &r->pareto[i].figures) <
                        tf_objective_value(s->o->objective, &r->pareto[best].figures))
      best = i;
  tf_figures f;
  return best >= 0 && tf_figures_of_tree(r->pareto[best].tree, TF_COUNT_LONG, &f) &&
         pass(s, &r->pareto[best].tree, &f, now);
}

static int others_part(const so_far *now) { return now->phases ? 4 * OTHERS_PART : OTHERS_PART; }

/* These add to the evaluations spent, and return true if an optimal mapping was found. */
static bool by_search(const tf_x_start *s, tf_objective by, so_far *now) {
  const bool own = by == s->o->objective;
  const int64_t evals =
      own ? part_of(s, SEARCH_PART + now->phases, MOST) : part_of(s, others_part(now), MOST_OTHERS);
  const tf_search_opts o = {.objective = by,
                            .exportable = s->o->exportable,
                            .budget = budget_of(s, evals, own ? TIME_PART : TIME_PART_OTHERS),
                            .goal = own ? s->floor * TF_X_NEAR : 0,
                            .keep = 1};
  tf_diags *d = tf_diags_new(); /* finding none is no error here */
  tf_search_result *r = d ? tf_search_without_moves(s->arch, s->wl, NULL, &o, d) : NULL;
  now->spent += r ? tf_x_searched(r, evals) : 0;
  bool best = r && r->n_best && pass(s, &r->best[0].tree, &r->best[0].figures, now);
  if (r && !own && !best) best = take_front(s, r, now);
  tf_search_free(r);
  tf_diags_free(d);
  return best;
}

static bool by_formulas(const tf_x_start *s, tf_objective by, so_far *now) {
  const bool own = by == s->o->objective;
  const tf_solve_opts o = {.objective = by,
                           .exportable = s->o->exportable,
                           .budget =
                               budget_of(s, part_of(s, own ? FORMULAS_PART : others_part(now), 0),
                                         own ? TIME_PART : TIME_PART_OTHERS)};
  tf_diags *d = tf_diags_new();
  tf_solve_result *r = d ? tf_solve_closed(s->arch, s->wl, &o, d) : NULL;
  now->spent += r ? r->evals : 0;
  const bool best = r && pass(s, &r->tree, &r->figures, now);
  tf_solve_free(r);
  tf_diags_free(d);
  return best;
}

/* The budget of a local search. */
typedef struct {
  int64_t evals;
  double seconds; /* 0: no limit */
  uint64_t seed;
} allowance;

/* Local search from a tree of that value. */
static bool better_by_moves(const tf_x_start *s, const tf_tree *tree, double value,
                            const allowance *may, so_far *now, tf_found *f) {
  const tf_local_search_opts how = {
      .goal = s->floor * TF_X_NEAR, .evals = may->evals, .seed = may->seed};
  tf_evaluator q = {.objective = s->o->objective, .exportable = s->o->exportable};
  tf_budget budget = s->o->budget;
  tf_budget_clock clock;
  budget.time_limit = may->seconds;
  tf_clock_begin(&clock, &budget);
  const bool better =
      !tf_clock_over(now->clock) && tf_tree_local_search(tree, value, &how, &clock, &q, f);
  now->spent += tf_x_moved(&q);
  return better;
}

/* ---- phases --------------------------------------------------------------------------------- */
/* A partition of the ops into phases, and the best mapping found of it. */
typedef struct {
  int way;
  double value;
  tf_tree *best; /* NULL: none */
  tf_figures figures;
} way;

/* The tree `open` with the loops of Tiles above `op` alone taken from its completion `best`. NULL:
 * memory ran out. */
static tf_tree *open_own(const tf_tree *open, const tf_tree *best, int op) {
  tf_build *b =
      open->n_nodes == best->n_nodes ? tf_build_new(best->arch, best->workload, NULL) : NULL;
  for (int n = 0; b && n < best->n_nodes; n++) {
    bool own = true;
    for (int i = n; i < best->nodes[n].end; i++)
      own &= best->nodes[i].kind != TF_OP || best->nodes[i].op == op;
    const tf_node *from = own ? &open->nodes[n] : &best->nodes[n];
    tf_build_node(b, from);
    for (int k = 0; k < from->n_loops; k++)
      tf_build_loop(b, from->loops[k]);
  }
  return b ? tf_build_tree(b) : NULL;
}

/* The budget of one partition. */
typedef struct {
  int64_t evals;
  double until; /* seconds of the clock, if time has a limit */
  uint64_t seed;
} share;

/* Searches the completions of a tree. */
static void complete(const tf_x_start *s, way *w, const tf_tree *open, const share *part,
                     so_far *now) {
  tf_search_opts o = {.objective = s->o->objective,
                      .exportable = s->o->exportable,
                      .budget = budget_of(s, part->evals, 1),
                      .goal = s->floor * TF_X_NEAR,
                      .keep = 1};
  o.budget.seed = part->seed;
  if (s->o->budget.time_limit > 0) o.budget.time_limit = part->until - tf_clock_seconds(now->clock);
  const bool over =
      tf_clock_over(now->clock) || (s->o->budget.time_limit > 0 && o.budget.time_limit <= 0);
  tf_diags *d = open && !over ? tf_diags_new() : NULL; /* finding none is no error here */
  tf_search_result *r = d ? tf_search_without_moves(s->arch, s->wl, open, &o, d) : NULL;
  now->spent += r ? tf_x_searched(r, part->evals) : 0;
  if (r && r->n_best && r->best[0].value < w->value) {
    tf_tree_free(w->best);
    w->best = r->best[0].tree;
    r->best[0].tree = NULL;
    w->value = r->best[0].value;
    w->figures = r->best[0].figures;
  }
  tf_search_free(r);
  tf_diags_free(d);
}

/* Local search from the best mapping of a partition. */
static void improve_by_moves(const tf_x_start *s, way *w, const share *part, so_far *now) {
  tf_found f;
  const bool timed = s->o->budget.time_limit > 0;
  const allowance may = {part->evals, timed ? part->until - tf_clock_seconds(now->clock) : 0,
                         part->seed};
  if (!w->best || (timed && may.seconds <= 0) ||
      !better_by_moves(s, w->best, w->value, &may, now, &f))
    return;
  tf_tree_free(w->best);
  w->best = f.tree;
  w->value = f.value;
  w->figures = f.figures;
}

/* Searches all trip counts; then, with a third of the evaluations each, those of each op by itself,
 * and by local search. */
static void improve_trips(const tf_x_start *s, way *w, share part, so_far *now) {
  tf_tree *open = tf_phases_tree(s->arch, s->wl, w->way);
  const int64_t third = part.evals / 3, each = third / s->wl->n_ops;
  part.evals = third;
  complete(s, w, open, &part, now);
  part.evals = each;
  for (int o = 0; o < s->wl->n_ops && open && w->best && each; o++) {
    tf_tree *own = open_own(open, w->best, o);
    complete(s, w, own, &part, now);
    tf_tree_free(own);
  }
  part.evals = third;
  improve_by_moves(s, w, &part, now);
  tf_tree_free(open);
}

static int by_value(const void *a, const void *b) {
  const way *x = a, *y = b;
  return x->value != y->value ? (x->value < y->value ? -1 : 1) : x->way - y->way;
}

/* Searches all partitions, then the better half of them further, and so on. */
static bool by_phases(const tf_x_start *s, so_far *now) {
  const int n = now->best > s->floor * TF_X_NEAR ? tf_phases_ways(s->arch, s->wl) : 0;
  share part = {.evals = n ? part_of(s, PHASES_PART, MOST_PHASES) / 2 / n : 0};
  way *ways = part.evals >= EACH_PHASE ? calloc((size_t)n, sizeof *ways) : NULL;
  if (!ways) return false;
  for (int k = 0; k < n; k++)
    ways[k] = (way){.way = k, .value = INFINITY};
  for (int left = n; left > 0; left /= 2) {
    part.seed++;
    for (int k = 0; k < left; k++) {
      part.until = tf_clock_seconds(now->clock) + s->o->budget.time_limit / TIME_PART / 2 / n;
      improve_trips(s, &ways[k], part, now);
    }
    qsort(ways, (size_t)n, sizeof *ways, by_value);
  }
  const bool best = pass(s, &ways[0].best, &ways[0].figures, now);
  for (int k = 0; k < n; k++)
    tf_tree_free(ways[k].best);
  free(ways);
  return best;
}

/* ---- pairs ---------------------------------------------------------------------------------- */
/* Fuses two consecutive ops of the best mapping if that is better, and continues from there. */
static bool by_pairs(const tf_x_start *s, so_far *now) {
  const int n = s->wl->n_ops - 1;
  const share part = {.evals = n > 1 ? part_of(s, PAIRS_PART, MOST_PAIRS) / 2 / n : 0,
                      .seed = SEED_MOVES};
  bool best = false;
  if (part.evals < EACH_PAIR || now->phases) return false;
  for (int node = 1; now->tree && node < now->tree->n_nodes && !best;
       node = now->tree->nodes[node].end) {
    way w = {.value = INFINITY};
    share mine = part;
    mine.until = tf_clock_seconds(now->clock) + s->o->budget.time_limit / PAIRS_PART / n;
    tf_tree *open = now->best > s->floor * TF_X_NEAR ? tf_pairs_fused(now->tree, node) : NULL;
    if (open) complete(s, &w, open, &mine, now), improve_by_moves(s, &w, &mine, now);
    tf_tree_free(open);
    if (w.best) best = pass(s, &w.best, &w.figures, now);
  }
  return best;
}

/* The best of those in which the units' memories hold what passes from op to op. */
static bool by_held(const tf_x_start *s, so_far *now) {
  tf_tree *trees[TF_PAIRS_HELD], *least = NULL;
  tf_figures f, of_least;
  double value = now->best;
  const int n = now->best > s->floor * TF_X_NEAR ? tf_pairs_held(s->arch, s->wl, trees) : 0;
  for (int k = 0; k < n; k++, now->spent++) {
    const bool fits = tf_can_export(s->o->exportable, trees[k]) &&
                      tf_figures_of_tree(trees[k], TF_COUNT_SHORT, &f);
    if (!fits || !(tf_objective_value(s->o->objective, &f) < value)) {
      tf_tree_free(trees[k]);
      continue;
    }
    tf_tree_free(least);
    least = trees[k], of_least = f;
    value = tf_objective_value(s->o->objective, &f);
  }
  return least && pass(s, &least, &of_least, now);
}

/* Local search from the best so far. */
static bool by_moves(const tf_x_start *s, so_far *now) {
  tf_found f;
  if (!now->tree || now->best <= s->floor * TF_X_NEAR) return false;
  const allowance may = {part_of(s, MOVES_PART, MOST_MOVES), s->o->budget.time_limit / MOVES_PART,
                         SEED_MOVES};
  return better_by_moves(s, now->tree, now->best, &may, now, &f) &&
         pass(s, &f.tree, &f.figures, now);
}

int64_t tf_x_start_with(const tf_x_start *s, tf_budget_clock *clock) {
  const tf_objective own = s->o->objective;
  so_far now = {.clock = clock, .best = INFINITY, .phases = tf_phases_ways(s->arch, s->wl) > 0};
  bool best = by_search(s, own, &now) || by_formulas(s, own, &now) || by_phases(s, &now) ||
              by_pairs(s, &now) || by_held(s, &now) || by_moves(s, &now);
  for (int by = 0; by < TF_N_OBJECTIVES && !best; by++)
    if (by != (int)own && !tf_clock_over(clock))
      best = by_search(s, (tf_objective)by, &now) || by_formulas(s, (tf_objective)by, &now);
  tf_tree_free(now.tree);
  return now.spent;
}
