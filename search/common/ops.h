/* Questions about the ops of a workload that solvers and searches share. */
#ifndef SEARCH_COMMON_OPS_H
#define SEARCH_COMMON_OPS_H
#include "tileflow/spec.h"

/* The first unit that can run op o; -1: none. */
int tf_ops_unit(const tf_arch *arch, const tf_workload *wl, int o);
/* Whether each op has such a unit; an error in d for each that has none. */
bool tf_ops_can_run(const tf_arch *arch, const tf_workload *wl, tf_diags *d);
/* Whether only the last op has an output that no op reads: else the ops are no chain that can be
 * fused. */
bool tf_ops_one_end(const tf_workload *wl);
/* Whether op o reduces a dim of the last op. */
bool tf_ops_streamed(const tf_workload *wl, int o);
/* Whether several ops do. */
bool tf_ops_some_streamed(const tf_workload *wl);
/* Whether a dim is a window: some index adds it to a longer dim (the r of p + r). */
bool tf_ops_window(const tf_workload *wl, int dim);
#endif
