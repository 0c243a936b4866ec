/* What an op computes, in double. */
#include <math.h>

#include "codegen/ir/ir.h"
#include "model/input/kinds.h"

double ir_identity(tf_reduce r) {
  return r == TF_REDUCE_MUL   ? 1
         : r == TF_REDUCE_MAX ? -INFINITY
         : r == TF_REDUCE_MIN ? INFINITY
                              : 0;
}

double ir_combine(tf_reduce r, double a, double b) {
  switch (r) {
  case TF_REDUCE_ADD: return a + b;
  case TF_REDUCE_MUL: return a * b;
  case TF_REDUCE_MAX: return fmax(a, b);
  case TF_REDUCE_MIN: return fmin(a, b);
  case TF_ASSIGN: break;
  }
  return b;
}

enum { MAX_EXPR = 512 };

double ir_value(const tf_op *op, const double *read, const int64_t *point, int skip) {
  double v[MAX_EXPR] = {0};
  for (int i = 0; i < op->n_expr && i < MAX_EXPR; i++) {
    const tf_expr *e = &op->expr[i];
    double arg[3] = {0, 0, 0};
    for (int k = 0; e->what == TF_X_CALL && k < e->n_args; k++)
      arg[k] = v[e->arg[k]];
    v[i] = e->what == TF_X_NUMBER ? e->number
           : e->what == TF_X_CALL ? tf_kind_apply(e->call, arg)
           : e->what == TF_X_DIM  ? (double)point[e->dim]
           : e->ref == skip       ? 1
                                  : read[e->ref];
  }
  return v[op->n_expr - 1];
}
