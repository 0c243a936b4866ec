/* Lower bounds that the solver begins with: for any mapping, and for those of its space. */
#ifndef SEARCH_EXACT_FLOOR_H
#define SEARCH_EXACT_FLOOR_H
#include "search/common/budget_clock.h"
#include "tileflow/solve.h"

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  tf_objective objective;
  tf_bounds all;   /* of any mapping */
  tf_bounds space; /* of those of the space: no less */
} tf_x_floor;

double tf_x_floor_all(const tf_x_floor *f);
double tf_x_floor_space(const tf_x_floor *f);

/* `all`, and `space` the same.  False with errors in d. */
bool tf_x_floor_find(tf_x_floor *f, tf_diags *d);

/* Raises `space` for a single op whose trip counts divide: the most units that prime factors of its
 * dims can fill, by an integer program of at most `nodes` nodes.  Returns how many nodes it took.
 */
int64_t tf_x_floor_by_factors(tf_x_floor *f, int64_t nodes, tf_budget_clock *watch);
#endif
