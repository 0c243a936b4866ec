/* The driver of a search, on a problem in canonical form (search/common/canon.h). */
#ifndef SEARCH_RUN_DRIVER_H
#define SEARCH_RUN_DRIVER_H
#include "tileflow/search.h"

/* As tf_search_run: the results are trees and texts of this problem.  moves: the last part of the
 * budget goes to local search from the best (search/run/tree_local_search.h). */
tf_search_result *tf_search_drive(const tf_arch *arch, const tf_workload *wl, const tf_tree *given,
                                  const tf_search_opts *o, bool moves, tf_diags *d);
/* tf_search_run without the local search, for callers who do their own from the best of several
 * searches. */
tf_search_result *tf_search_without_moves(const tf_arch *arch, const tf_workload *wl,
                                          const tf_tree *given, const tf_search_opts *o,
                                          tf_diags *d);
#endif
