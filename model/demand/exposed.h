/* The least time of an op with its exposed ends: its first load and its last store. */
#ifndef MODEL_DEMAND_EXPOSED_H
#define MODEL_DEMAND_EXPOSED_H
#include "model/demand/demand.h"

/* An op on units of kind `unit`, the only ones that can run it, and which of its ends count: the
 * first load of inputs of the workload, the last store of an output of it. */
enum { TF_END_LOADS = 1, TF_END_STORES = 2, TF_END_SIDES = 4 };
typedef struct {
  int op, unit, sides;
  bool reloads; /* with reloads for lack of capacity, which takes tenths of a second */
} tf_end;

/* Whether the ends of ops are exposed: `overlap: perfect` hides them, a mask or a view may leave
 * them out, and neighbours may hand words on. */
bool tf_ends_show(const tf_arch *a, const tf_demand *d);

/* A lower bound on the cycles of the op with the whole mesh, if its tiles are the boxes of one
 * grid, dim by dim: mesh by mesh, or where that takes too long, as if all meshes were one.  0: no
 * bound is known. */
double tf_end_on_mesh(const tf_arch *a, const tf_demand *d, const tf_end *e);

/* The same with at most k + 1 units, on any axes, in least[k], k < units; INFINITY: more than
 * `most`.  False: no bound is known. */
bool tf_end_by_units(const tf_arch *a, const tf_demand *d, const tf_end *e, int units, double most,
                     double *least);

/* A lower bound on the cycles of every mapping, for the workload's only op on units of kind u, the
 * only ones that can run it, `again` as above.  0: no bound is known, as there is more than one op,
 * or its ends are not exposed. */
double tf_least_exposed(const tf_arch *a, const tf_demand *d, int u, bool again);
#endif
