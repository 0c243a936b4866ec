/* Lower bounds at the root of the solver's tree: of any mapping, and of the mappings of its
 * space. */
#ifndef SEARCH_EXACT_ROOT_BOUND_H
#define SEARCH_EXACT_ROOT_BOUND_H
#include "search/common/budget_clock.h"
#include "tileflow/solve.h"

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  tf_objective objective;
  tf_bounds all;   /* of any mapping */
  tf_bounds space; /* of the mappings of the space: no less */
} tf_x_root_bound;

double tf_x_root_all(const tf_x_root_bound *f);
double tf_x_root_space(const tf_x_root_bound *f);

/* Finds `all`, and sets `space` to the same.  False with errors in d. */
bool tf_x_root_find(tf_x_root_bound *f, tf_diags *d);

/* Raises `space` for a single op whose trip counts divide: the most units that prime factors of its
 * dims can fill, by an integer program of at most `nodes` nodes.  Returns how many nodes it took.
 */
int64_t tf_x_root_by_factors(tf_x_root_bound *f, int64_t nodes, tf_budget_clock *clock);
#endif
