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

/* Corrections are by row: what depends on running results reads them where they are made, and keeps
 * the dims along which they differ. */
typedef struct {
  const tf_workload *wl;
  const tf_value_change *seen; /* [tensor] as the op sees it */
  bool *rows;  /* [tensor * n_dims + dim] what it changes by is another along the dim */
  bool *moves; /* [dim] the same of the current op */
} tf_rows;

/* Makes *v, the op's change, OTHER if it reads, or adds up, rows otherwise; fills the rows of its
 * output.  streamed: its output is a running result itself. */
void tf_rows_apply(const tf_rows *q, const tf_op *op, bool streamed, tf_value_change *v);
#endif
