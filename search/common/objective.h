/* What a mapping comes to: its figures, from an evaluation, from its tree or text. */
#ifndef SEARCH_COMMON_OBJECTIVE_H
#define SEARCH_COMMON_OBJECTIVE_H
#include "tileflow/search.h"

tf_figures tf_figures_of(const tf_arch *arch, const tf_workload *wl, const tf_result *r);
/* Of a mapping, and of its text.  False if it is not legal, open, does not fit or cannot be counted; walk: it may be
 * counted by walking, which can take seconds. */
bool tf_figures_of_tree(const tf_tree *tree, bool walk, tf_figures *out);
bool tf_figures_of_text(const char *text, const tf_arch *arch, const tf_workload *wl, bool walk, tf_figures *out);
#endif
