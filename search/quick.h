/* A stand-in for a workload whose inputs are padded: the padding is taken as part of the tensor.  No
 * border clips a box then, and the model counts it a thousand times as fast; what it moves is more by the
 * padding.  A search is led by it, and what it finds is evaluated as it is. */
#ifndef SEARCH_QUICK_H
#define SEARCH_QUICK_H
#include "base/arena.h"
#include "tileflow/spec.h"

/* The workload itself where nothing is padded, or an intermediate is; NULL if memory ran out. */
const tf_workload *tf_quick_workload(tf_arena *a, const tf_workload *wl);
/* Whether any tensor is padded. */
bool tf_quick_padded(const tf_workload *wl);
#endif
