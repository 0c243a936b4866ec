/* What an op computes, in double. */
#include <math.h>

#include "codegen/ir/ir.h"

double ir_identity(tf_reduce r) {
  return r == TF_REDUCE_MUL ? 1 : r == TF_REDUCE_MAX ? -INFINITY : r == TF_REDUCE_MIN ? INFINITY : 0;
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

static double call(tf_kind k, const double *v) {
  switch (k) {
  case TF_K_ADD: return v[0] + v[1];
  case TF_K_SUB: return v[0] - v[1];
  case TF_K_MUL: return v[0] * v[1];
  case TF_K_DIV: return v[0] / v[1];
  case TF_K_NEG: return -v[0];
  case TF_K_MAX: return fmax(v[0], v[1]);
  case TF_K_MIN: return fmin(v[0], v[1]);
  case TF_K_EXP: return exp(v[0]);
  case TF_K_LOG: return log(v[0]);
  case TF_K_SQRT: return sqrt(v[0]);
  case TF_K_TANH: return tanh(v[0]);
  case TF_K_ERF: return erf(v[0]);
  case TF_K_SIGMOID: return 1 / (1 + exp(-v[0]));
  case TF_K_RELU: return v[0] > 0 ? v[0] : 0;
  case TF_K_GELU: return 0.5 * v[0] * (1 + erf(v[0] * 0.70710678118654752440));
  case TF_K_SILU: return v[0] / (1 + exp(-v[0]));
  case TF_K_ABS: return fabs(v[0]);
  case TF_K_SELECT: return v[0] != 0 ? v[1] : v[2];
  case TF_K_LT: return v[0] < v[1];
  case TF_K_LE: return v[0] <= v[1];
  case TF_K_EQ: return v[0] == v[1];
  case TF_K_NE: return v[0] != v[1];
  case TF_K_COPY: /* runs on units, evaluates nothing */
  case TF_K_MAC:
  case TF_N_KINDS: break;
  }
  return v[0];
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
           : e->what == TF_X_CALL ? call(e->call, arg)
           : e->what == TF_X_DIM  ? (double)point[e->dim]
           : e->ref == skip       ? 1
                                  : read[e->ref];
  }
  return v[op->n_expr - 1];
}
