/* A workload in which the padding of inputs is part of the tensor, as the closed form knows no
 * borders; the mapping found is evaluated on the original. */
#ifndef SEARCH_CLOSED_QUICK_H
#define SEARCH_CLOSED_QUICK_H
#include "base/arena.h"
#include "tileflow/spec.h"

/* The workload itself where nothing, or an intermediate, is padded; NULL if memory ran out. */
const tf_workload *tf_quick_workload(tf_arena *a, const tf_workload *wl);
#endif
