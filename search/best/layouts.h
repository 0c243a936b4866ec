/* What the choice of layouts for one mapping shares with that of layouts and mapping. */
#ifndef SEARCH_BEST_LAYOUTS_H
#define SEARCH_BEST_LAYOUTS_H
#include "search/common/budget_clock.h"
#include "tileflow/best.h"

typedef struct {
  tf_objective objective;
  int64_t evals;
  tf_budget_clock *clock;
} tf_layouts_limits;

/* As tf_layouts_best, on a machine that is the tree's but for layouts and lines, with so many
 * evaluations at most, of which one by a walk counts as several, until the clock (or NULL) is over;
 * how many these were. */
tf_layouts_result *tf_layouts_within(const tf_tree *tree, const tf_arch *arch,
                                     const tf_layouts_limits *limits, tf_diags *d);
int64_t tf_layouts_spent(const tf_layouts_result *r);
/* Whether a is better than b, or as good and of less energy times delay. */
bool tf_layouts_better(const tf_layouts_result *a, const tf_layouts_result *b);
#endif
