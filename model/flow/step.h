/* An op after constant folding of some of its reads: within the steps of a stream
 * (model/flow/online.h). */
#ifndef MODEL_FLOW_STEP_H
#define MODEL_FLOW_STEP_H
#include "base/arena.h"
#include "tileflow/spec.h"

/* An op as its steps compute it: constants for some reads; products by 1, quotients by 1 and calls
 * of constants folded. */
typedef struct {
  const tf_op
      *op;   /* the workload's own if nothing is folded; of another, the dims are the workload's */
  int *read; /* [reads of the workload's op] their number among its reads; -1: folded.  NULL:
                nothing is folded */
  bool hands_on; /* it only copies a value, and so has no points */
  bool number;   /* that value is a constant: it is not run at all, and nothing reads its output */
} tf_op_step;

/* The op with value[i] for its i-th read, unless that is NAN.  False: memory ran out. */
bool tf_op_step_of(tf_arena *a, const tf_op *op, const double *value, tf_op_step *step);
#endif
