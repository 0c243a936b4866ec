/* Which loops above a slice must be counted together. */
#ifndef MODEL_COST_COMPS_H
#define MODEL_COST_COMPS_H
#include "model/cost/range.h"

/* Fills s->comp, s->plain and the comp of each of its classes.  Needs all slices and classes.
 * False when memory runs out. */
bool tf_comps_fill(tf_arena *a, tf_plan *p, tf_slice *s);
#endif
