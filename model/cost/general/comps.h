/* Components: the loops above a slice that interact and must be summed over together (docs/MODEL.md
 * section 3). */
#ifndef MODEL_COST_GENERAL_COMPS_H
#define MODEL_COST_GENERAL_COMPS_H
#include "model/flow/range.h"

/* Fills p->node_slice, and the components of all slices (plain and moving) and of all their
 * classes.  False when memory runs out. */
bool tf_comps_fill(tf_arena *a, tf_plan *p);
#endif
