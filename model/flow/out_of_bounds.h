/* How far reads reach beyond their tensors, and how much of ops' ranges the borders cut off as a
 * result. */
#ifndef MODEL_FLOW_OUT_OF_BOUNDS_H
#define MODEL_FLOW_OUT_OF_BOUNDS_H
#include "model/flow/plan.h"

/* Elements at the lower and at the upper end of a range. */
typedef struct tf_ends {
  int64_t before, after;
} tf_ends;

/* Fills p->lost. */
bool tf_find_lost(tf_arena *a, tf_plan *p);
#endif
