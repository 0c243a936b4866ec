/* Which loops above a slice must be counted together. */
#ifndef MODEL_COST_GENERAL_COMPS_H
#define MODEL_COST_GENERAL_COMPS_H
#include "model/flow/range.h"

/* Fills p->at; the comp, plain and moving of all slices, and the comp of their classes.  False when memory runs out. */
bool tf_comps_fill(tf_arena *a, tf_plan *p);
#endif
