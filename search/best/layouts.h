/* Interface between the choice of layouts for one mapping (layouts.c) and the joint choice of
 * layouts and mapping (layouts_search.c). */
#ifndef SEARCH_BEST_LAYOUTS_H
#define SEARCH_BEST_LAYOUTS_H
#include "search/common/budget_clock.h"
#include "tileflow/best.h"

typedef struct {
  tf_objective objective;
  int64_t evals;
  tf_budget_clock *clock;
} tf_layouts_limits;

/* As tf_layouts_best, on a machine that differs from the tree's in layouts and lines only, with at
 * most limits->evals evaluations, of which one that walks counts as several, until the clock (or
 * NULL) is over.  tf_layouts_spent: how many it used. */
tf_layouts_result *tf_layouts_within(const tf_tree *tree, const tf_arch *arch,
                                     const tf_layouts_limits *limits, tf_diags *d);
int64_t tf_layouts_spent(const tf_layouts_result *r);
/* Whether a is better than b: by the objective, then by EDP. */
bool tf_layouts_better(const tf_layouts_result *a, const tf_layouts_result *b);
#endif
