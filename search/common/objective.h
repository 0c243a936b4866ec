/* The figures of a mapping, from an evaluation or from its tree. */
#ifndef SEARCH_COMMON_OBJECTIVE_H
#define SEARCH_COMMON_OBJECTIVE_H
#include "tileflow/search.h"

tf_figures tf_figures_of(const tf_arch *arch, const tf_workload *wl, const tf_result *r);
/* False if the tree is illegal, still open, does not fit or cannot be counted.  walk: the exact walk may be used,
 * which can take seconds. */
bool tf_figures_of_tree(const tf_tree *tree, bool walk, tf_figures *out);
#endif
