/* What the choice of layouts for one mapping shares with that of layouts and mapping. */
#ifndef SEARCH_BEST_LAYOUTS_H
#define SEARCH_BEST_LAYOUTS_H
#include "tileflow/best.h"

/* As tf_layouts_best, on a machine that is the tree's but for layouts and lines, with so many
 * evaluations at most, of which one by a walk counts as several; how many these were. */
tf_layouts_result *tf_layouts_within(const tf_tree *tree, const tf_arch *arch,
                                     tf_objective objective, int64_t most, tf_diags *d);
int64_t tf_layouts_spent(const tf_layouts_result *r);
/* Whether a is better than b, or as good and of less energy times delay. */
bool tf_layouts_better(const tf_layouts_result *a, const tf_layouts_result *b);
#endif
