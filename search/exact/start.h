/* Starts of the exact solver: short searches and the closed-form solver, for its own objective and
 * for the others, as a good mapping for one objective may be good for another. */
#ifndef SEARCH_EXACT_START_H
#define SEARCH_EXACT_START_H
#include "search/common/budget_clock.h"
#include "search/common/trial.h"
#include "tileflow/solve.h"

/* A value within this factor of the lower bound is near enough: the searches before and after the
 * branch and bound then only look for ties, and end. */
#define TF_X_NEAR 1.01
enum { TF_X_EFFORT_EACH = 8 }; /* most effort of an evaluation of these searches, on average */

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_solve_opts *o;
  int threads;
  double floor; /* no mapping has less of the objective */
  /* Takes a mapping, its value of the objective asked for, and its figures, with ownership of the
   * tree.  True: it is optimal, and no more are wanted. */
  bool (*take)(void *ctx, tf_tree **tree, double value, const tf_figures *f);
  void *ctx;
} tf_x_start;

/* The evaluations that a search of at most `most` evaluations (0: no limit), or a local search, is
 * charged: more than it made if they took more than their effort; all if it ended for its
 * effort. */
static inline int64_t tf_x_searched(const tf_search_result *r, int64_t most) {
  return r->stopped_by == TF_STOP_BUDGET && r->evals < most ? most : r->evals;
}
static inline int64_t tf_x_moved(const tf_evaluator *q) {
  const int64_t evals = q->effort / TF_X_EFFORT_EACH;
  return evals > q->evals ? evals : q->evals;
}

/* Returns the evaluations spent. */
int64_t tf_x_start_with(const tf_x_start *s, tf_budget_clock *clock);
#endif
