/* The least time of ops on one kind of unit, in whole steps: units work in lockstep, so 17 rows on
 * 16 of them take two steps, however they are tiled. */
#ifndef MODEL_DEMAND_STEPS_H
#define MODEL_DEMAND_STEPS_H
#include "model/demand/demand.h"

/* The dims whose loops tile the dims of ops in scopes that they share with their readers. */
typedef struct {
  const tf_demand *d;
  int *leader; /* [op * n_dims + i] of dim i of the op; to be freed */
} tf_grids;

/* False without memory. */
bool tf_grids_of(const tf_demand *d, tf_grids *g);
/* Whether every mapping tiles the op by boxes of one grid, dim by dim. */
bool tf_on_grid(const tf_grids *g, int o);

/* The least steps in which mesh[0] x mesh[1] units can do the needed points of all ops marked in
 * mine[op], one after another or side by side: a lower bound for every tree of scopes.  At least
 * the points / the units; more for partial steps, as far as the shape of the ops' tiles is known
 * and the ops are few.  Each op takes `fill` additional steps.  Only bounds above `known` are of
 * use: below that, slow computations are left out.  Negative: no memory. */
double tf_least_steps(const tf_demand *d, const bool *mine, const double mesh[2], double fill,
                      double known);
#endif
