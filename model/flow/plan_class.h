/* The classes of an m-tile's entries: the ways in which control reaches it, and what survives in
 * the memory. */
#ifndef MODEL_FLOW_PLAN_CLASS_H
#define MODEL_FLOW_PLAN_CLASS_H
#include "model/flow/plan.h"

/* Fills s->classes.  Needs every m-tile slice of p.  False when memory runs out. Source:
 * docs/SEMANTICS.md section 3, "Entering an m-tile". */
bool tf_plan_classes(tf_arena *a, tf_plan *p, tf_slice *s);
/* Whether a and b are in the same child of every Para and Pipe above either of them. */
bool tf_plan_same_split(const tf_plan *p, int a, int b);
#endif
