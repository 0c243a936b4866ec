/* How a value changes when the running maximum of a streamed reduction changes. */
#ifndef MODEL_TREE_ALGEBRA_H
#define MODEL_TREE_ALGEBRA_H
#include "tileflow/spec.h"

typedef enum {
  TF_V_FIXED,  /* not at all */
  TF_V_SHIFTS, /* by `factor` times the change of the maximum: S - X */
  TF_V_SCALES, /* by a product: `exps` exponentials of shifting values, sums[sum]^power */
  TF_V_OTHER   /* otherwise: no step can be corrected by a later one */
} tf_change;

typedef struct {
  tf_change change;
  int max;         /* the tensor that is the running maximum, -1: none */
  double factor;   /* SHIFTS; SCALES: sum of the factors of its exponentials */
  int exps;        /* SCALES */
  int sum;         /* SCALES: the tensor of the running sum that it holds, -1: none */
  int power;       /* SCALES: of that sum, -1 for a divided value */
  const char *why; /* OTHER: reason; NULL if it was reported already */
} tf_value_change;

/* The change of what an op computes per point (before any reduction), given that of every
 * tensor.  work: [op->n_expr]. */
tf_value_change tf_change_of(const tf_op *op, const tf_value_change *tensors,
                             tf_value_change *work);
#endif
