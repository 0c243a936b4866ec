/* The least time of a workload of one op with what nothing hides: its first load and its last store. */
#ifndef MODEL_DEMAND_EXPOSED_H
#define MODEL_DEMAND_EXPOSED_H
#include "model/demand/demand.h"

/* A lower bound on the cycles of every mapping, for the workload's only op on units of kind u, the only ones that can
 * run it.  0: nothing is known, as `overlap: perfect` hides all, or there is more than one op, or its tiles are no
 * boxes of one grid, or neighbours hand words on. */
double tf_least_exposed(const tf_arch *a, const tf_demand *d, int u);
#endif
