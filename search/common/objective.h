/* What a mapping comes to: its figures, from an evaluation, or from its tree. */
#ifndef SEARCH_COMMON_OBJECTIVE_H
#define SEARCH_COMMON_OBJECTIVE_H
#include "tileflow/search.h"

tf_figures tf_figures_of(const tf_arch *arch, const tf_workload *wl, const tf_result *r);
/* False if it is not legal, open, does not fit or cannot be counted; walk: it may be
 * counted by walking, which can take seconds. */
bool tf_figures_of_tree(const tf_tree *tree, bool walk, tf_figures *out);
#endif
