/* What solvers and the search ask of the ops of a workload. */
#ifndef SEARCH_COMMON_OPS_H
#define SEARCH_COMMON_OPS_H
#include "tileflow/spec.h"

/* The first unit that runs op o, -1: none. */
int tf_ops_unit(const tf_arch *arch, const tf_workload *wl, int o);
/* Whether only the last op has an output that no op reads: else the ops are no chain to be fused. */
bool tf_ops_one_end(const tf_workload *wl);
/* Whether op o reduces a dim of the last op. */
bool tf_ops_streamed(const tf_workload *wl, int o);
/* Whether a dim is a window: added to a longer one in some index. */
bool tf_ops_window(const tf_workload *wl, int dim);
#endif
