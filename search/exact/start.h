/* Mappings that the exact solver begins with: of short searches and of the closed form, for its own objective and for
 * the others, since what is found for one may be good for another. */
#ifndef SEARCH_EXACT_START_H
#define SEARCH_EXACT_START_H
#include "search/common/budget_clock.h"
#include "tileflow/solve.h"

/* What is within this of the lower bound is near enough for the searches before and after the branch and bound: they
 * look for its ties, and end. */
#define TF_X_NEAR 1.01
enum { TF_X_EFFORT_EACH = 8 }; /* most effort of one of their evaluations, on average */

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_solve_opts *o;
  int threads;
  double floor; /* no mapping has less of the objective */
  /* Takes a mapping, its value of the objective asked for, and its figures; takes over the tree.  True: no mapping is
   * better, and no more are wanted. */
  bool (*take)(void *ctx, tf_tree **tree, double value, const tf_figures *f);
  void *ctx;
} tf_x_start;

/* Returns the evaluations spent. */
int64_t tf_x_start_with(const tf_x_start *s, tf_budget_clock *watch);
#endif
