/* The figures of a mapping, from an evaluation or from its tree. */
#ifndef SEARCH_COMMON_OBJECTIVE_H
#define SEARCH_COMMON_OBJECTIVE_H
#include "tileflow/search.h"

/* Whether some memory receives words from its neighbours: then every evaluation walks. */
bool tf_has_peers(const tf_arch *a);
tf_figures tf_figures_of(const tf_arch *arch, const tf_workload *wl, const tf_result *r);
typedef enum {
  TF_COUNT_ALL,   /* steps that a mask leaves out count, too (tf_model_all_points); no walk */
  TF_COUNT_SHORT, /* counts as `eval`, without a walk and within TF_COUNT_SETTINGS */
  TF_COUNT_LONG   /* counts as `eval`; the exact walk may take seconds */
} tf_counting;
/* Most settings of the sums by which searches count a mapping of a masked workload as `eval` does:
 * a few milliseconds. */
enum { TF_COUNT_SETTINGS = 1 << 15 };
/* The figures of a tree.  A masked workload that exceeds the limit is counted as by TF_COUNT_ALL.
 * False if the tree is illegal, still open, does not fit or cannot be counted. */
bool tf_figures_of_tree(const tf_tree *tree, tf_counting how, tf_figures *out);
#endif
