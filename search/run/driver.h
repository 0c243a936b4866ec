/* The driver of a search, on a problem in canonical form (search/common/canon.h). */
#ifndef SEARCH_RUN_DRIVER_H
#define SEARCH_RUN_DRIVER_H
#include "tileflow/search.h"

/* As tf_search_run: the results are trees and texts of this problem. */
tf_search_result *tf_search_drive(const tf_arch *arch, const tf_workload *wl, const tf_tree *given,
                                  const tf_search_opts *o, tf_diags *d);
#endif
