/* The least time of several ops on one kind of unit, with what nothing hides of the first and of
 * the last. */
#ifndef MODEL_DEMAND_ENDS_H
#define MODEL_DEMAND_ENDS_H
#include "model/demand/demand.h"
#include "tileflow/model.h"

/* A lower bound on the cycles of every mapping, of the ops marked in mine[op], which units of kind
 * u alone can run. Where it is no more than `known`, or nothing is known: 0.  Negative: no memory.
 */
double tf_least_ends(const tf_arch *a, const tf_demand *d, int u, const bool *mine, double known);

/* tf_bounds_find with that. */
bool tf_bounds_with_ends(const tf_arch *arch, const tf_workload *wl, tf_bounds *out, tf_diags *d);
#endif
