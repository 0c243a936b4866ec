/* The least time of several ops on one kind of unit, with the first load and the last store that
 * are exposed. */
#ifndef MODEL_DEMAND_ENDS_H
#define MODEL_DEMAND_ENDS_H
#include "model/demand/demand.h"
#include "tileflow/model.h"

/* A lower bound on the cycles of every mapping, of the ops marked in mine[op], which only units of
 * kind u can run.  0 if it is at most `known`, or no bound is known.  Negative: no memory. */
double tf_least_ends(const tf_arch *a, const tf_demand *d, int u, const bool *mine, double known);

/* tf_bounds_find with this bound. */
bool tf_bounds_with_ends(const tf_arch *arch, const tf_workload *wl, tf_bounds *out, tf_diags *d);
#endif
