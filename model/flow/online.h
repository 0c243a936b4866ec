/* The ops of a tree under streaming (online softmax; docs/SEMANTICS.md, D11).  A running sum is
 * final only after the last step, and values that depend on it have it as a factor.  So within the
 * steps it counts as 1 and is not read, and each streamed sum of such values is divided by it at
 * the end. */
#ifndef MODEL_FLOW_ONLINE_H
#define MODEL_FLOW_ONLINE_H
#include "model/flow/plan.h"
#include "model/flow/step.h"

typedef struct tf_online {
  tf_op_step *step; /* [op] */
  int *maximum;     /* [op] of a streamed sum: the op of the maximum that rescales it; -1: none */
  double *rate;     /* [op] of a streamed sum: the factor is exp(rate * (before - after)) */
  int *divided_by;  /* [op] of a streamed sum: the op of the sum by which it is divided at the end;
                       -1: none */
} tf_online;

/* Fills p->online, NULL where nothing is streamed.  False: memory ran out. */
bool tf_online_new(tf_arena *a, tf_plan *p);
#endif
