/* What is left of an op where some of its reads count as numbers: within the steps of a stream
 * (model/flow/online.h).
 */
#ifndef MODEL_FLOW_STEP_H
#define MODEL_FLOW_STEP_H
#include "base/arena.h"
#include "tileflow/spec.h"

/* An op as its steps compute it: with numbers for reads, and with products by 1, quotients by 1 and
 * calls of numbers alone done. */
typedef struct {
  const tf_op *op; /* the workload's own where nothing is left out; of another, the dims are the
                      workload's */
  int *read;       /* [reads of the workload's op] which of its reads that is; -1: left out.  NULL:
                      nothing is left out */
  bool hands_on;   /* it only hands a value on, so that its points are none */
  bool number; /* that value is a number: it is not run at all, and nobody reads what it makes */
} tf_op_step;

/* The op with value[i] for its i-th read, unless that is NAN.  False: memory ran out. */
bool tf_op_step_of(tf_arena *a, const tf_op *op, const double *value, tf_op_step *step);
#endif
