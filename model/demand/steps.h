/* The least time of ops on one kind of unit, in whole steps: units work in lockstep, so 17 rows on 16 of them take two
 * steps, however they are tiled. */
#ifndef MODEL_DEMAND_STEPS_H
#define MODEL_DEMAND_STEPS_H
#include "model/demand/demand.h"

/* The least steps in which mesh[0] x mesh[1] units can do the needed points of all ops marked in mine[op], one after
 * another or side by side: a lower bound for every tree of scopes.  At least the points / the units; more where that
 * leaves parts of steps, as far as the shape of the ops' tiles is known and the ops are few.  Each op takes `fill`
 * steps besides.  Bounds of no more than `known` matter to nobody: what takes long is left out there.  Negative: no
 * memory. */
double tf_least_steps(const tf_demand *d, const bool *mine, const double mesh[2], double fill, double known);
#endif
