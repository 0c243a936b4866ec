/* Branch and bound on a problem in canonical form (search/common/canon.h). */
#ifndef SEARCH_EXACT_SOLVE_H
#define SEARCH_EXACT_SOLVE_H
#include "search/exact/walk.h"

/* The best mapping of the space by this objective, with all points of a masked workload counted.
 * tie: only among those that meet the condition, beginning with the result `known`; both given or
 * both NULL.  NULL with errors in d. */
tf_solve_result *tf_x_solve(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o,
                            const tf_x_side_condition *tie, const tf_solve_result *known,
                            tf_diags *d);
#endif
