/* How far reads leave the tensors that they read, and what borders thereby cut off the ranges of ops. */
#ifndef MODEL_FLOW_OUT_OF_BOUNDS_H
#define MODEL_FLOW_OUT_OF_BOUNDS_H
#include "model/flow/plan.h"
#include "model/tree/infer.h"

/* Elements at the lower and at the upper end of a range. */
typedef struct tf_ends {
  int64_t before, after;
} tf_ends;

/* How far the read's index leaves its tensor along rank r, with all settings of its dims. */
tf_ends tf_overreach(const tf_workload *wl, tf_read_below at, int r);
/* Fills p->lost. */
bool tf_find_lost(tf_arena *a, tf_plan *p);
/* The most elements that borders cut off what the read takes along rank r, its own tensor's left out of account. */
int64_t tf_lost_of(const tf_plan *p, tf_read_below at, int r);
#endif
