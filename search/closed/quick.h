/* A stand-in for a workload whose inputs are padded: the padding is taken as part of the tensor.  The closed form's
 * formulas know no borders; what it finds is evaluated as it is. */
#ifndef SEARCH_CLOSED_QUICK_H
#define SEARCH_CLOSED_QUICK_H
#include "base/arena.h"
#include "tileflow/spec.h"

/* The workload itself where nothing is padded, or an intermediate is; NULL if memory ran out. */
const tf_workload *tf_quick_workload(tf_arena *a, const tf_workload *wl);
#endif
