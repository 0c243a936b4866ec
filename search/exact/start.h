/* Mappings that the exact solver begins with: of short searches and of the closed form, for its own
 * objective and for the others, since what is found for one may be good for another. */
#ifndef SEARCH_EXACT_START_H
#define SEARCH_EXACT_START_H
#include "search/common/budget_clock.h"
#include "search/common/trial.h"
#include "tileflow/solve.h"

/* What is within this of the lower bound is near enough for the searches before and after the
 * branch and bound: they look for its ties, and end. */
#define TF_X_NEAR 1.01
enum { TF_X_EFFORT_EACH = 8 }; /* most effort of one of their evaluations, on average */

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_solve_opts *o;
  int threads;
  double floor; /* no mapping has less of the objective */
  /* Takes a mapping, its value of the objective asked for, and its figures; takes over the tree.
   * True: no mapping is better, and no more are wanted. */
  bool (*take)(void *ctx, tf_tree **tree, double value, const tf_figures *f);
  void *ctx;
} tf_x_start;

/* What a search of `most` evaluations (0: no limit), or moves, count as: evaluations that took more
 * than their effort are more of them, and what ended for its effort has used up all. */
static inline int64_t tf_x_searched(const tf_search_result *r, int64_t most) {
  return r->stopped_by == TF_STOP_BUDGET && r->evals < most ? most : r->evals;
}
static inline int64_t tf_x_moved(const tf_trying *q) {
  const int64_t evals = q->effort / TF_X_EFFORT_EACH;
  return evals > q->evals ? evals : q->evals;
}

/* Returns the evaluations spent. */
int64_t tf_x_start_with(const tf_x_start *s, tf_budget_clock *watch);
#endif
