#include "search/exact/start.h"

#include "search/common/objective.h"
#include "tileflow/tree.h"

/* Of the budget, the search for the objective asked for takes a third, and MOST evaluations at most; the formulas take
 * an eighth.  Those for each of the other three objectives take less, so that half of it is left for the proof. */
enum { MOST = 300000, SEARCH_PART = 3, FORMULAS_PART = 8, OTHERS_PART = 24, MOST_OTHERS = 40000 };
/* Of the budget's time, where it has a limit. */
enum { TIME_PART = 4, TIME_PART_OTHERS = 32 };

/* A part of the evaluations that are asked for, `most` at most; 0: no limit. */
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

/* Hands a mapping on with its value of the objective asked for; f: its figures as `eval` counts.  True: it is the best
 * there is. */
static bool take(const tf_x_start *s, tf_tree **tree, const tf_figures *f) {
  const bool best = *tree && s->take(s->ctx, tree, tf_objective_value(s->o->objective, f), f);
  tf_tree_free(*tree);
  *tree = NULL;
  return best;
}

/* What a search keeps by another figure may be the best by the objective. */
static bool take_front(const tf_x_start *s, tf_search_result *r) {
  int best = -1;
  for (int i = 0; i < r->n_pareto; i++)
    if (best < 0 || tf_objective_value(s->o->objective, &r->pareto[i].figures) <
                        tf_objective_value(s->o->objective, &r->pareto[best].figures))
      best = i;
  tf_figures f;
  return best >= 0 && tf_figures_of_tree(r->pareto[best].tree, TF_COUNT_LONG, &f) && take(s, &r->pareto[best].tree, &f);
}

/* Both add to *spent, and return true where nothing better is left to find. */
static bool by_search(const tf_x_start *s, tf_objective by, int64_t *spent) {
  const bool own = by == s->o->objective;
  const int64_t evals = own ? part_of(s, SEARCH_PART, MOST) : part_of(s, OTHERS_PART, MOST_OTHERS);
  const tf_search_opts o = {.objective = by,
                            .exportable = s->o->exportable,
                            .budget = budget_of(s, evals, own ? TIME_PART : TIME_PART_OTHERS),
                            .goal = own ? s->floor * TF_X_NEAR : 0,
                            .keep = 1};
  tf_diags *d = tf_diags_new(); /* finding none is no error here */
  tf_search_result *r = d ? tf_search_run(s->arch, s->wl, NULL, &o, d) : NULL;
  *spent += r ? r->evals : 0;
  bool best = r && r->n_best && take(s, &r->best[0].tree, &r->best[0].figures);
  if (r && !own && !best) best = take_front(s, r);
  tf_search_free(r);
  tf_diags_free(d);
  return best;
}

static bool by_formulas(const tf_x_start *s, tf_objective by, int64_t *spent) {
  const bool own = by == s->o->objective;
  const tf_solve_opts o = {
      .objective = by,
      .exportable = s->o->exportable,
      .budget = budget_of(s, part_of(s, own ? FORMULAS_PART : OTHERS_PART, 0), own ? TIME_PART : TIME_PART_OTHERS)};
  tf_diags *d = tf_diags_new();
  tf_solve_result *r = d ? tf_solve_closed(s->arch, s->wl, &o, d) : NULL;
  *spent += r ? r->evals : 0;
  const bool best = r && take(s, &r->tree, &r->figures);
  tf_solve_free(r);
  tf_diags_free(d);
  return best;
}

int64_t tf_x_start_with(const tf_x_start *s, tf_watch *watch) {
  const tf_objective own = s->o->objective;
  int64_t spent = 0;
  bool best = by_search(s, own, &spent) || by_formulas(s, own, &spent);
  for (int by = 0; by < TF_N_OBJECTIVES && !best; by++)
    if (by != (int)own && !tf_watch_over(watch))
      best = by_search(s, (tf_objective)by, &spent) || by_formulas(s, (tf_objective)by, &spent);
  return spent;
}
