/* Where a tensor is zero whatever the operands hold, found element by element: conditions by
 * position that select 0, or -inf whose exponential is 0 (beside model/sparse/bands.c). */
#include <math.h>

#include "tests/oracle/zeros.h"

enum { MOST_PARTS = 64 };

static double value_at(const oracle *o, int z, const int64_t *at);

/* NAN: not known. */
static double call_of(const tf_expr *e, const double *v) {
  const double a = v[e->arg[0]], b = e->n_args > 1 ? v[e->arg[1]] : NAN;
  switch (e->call) {
  case TF_K_SELECT: return isnan(a) ? NAN : a != 0 ? b : v[e->arg[2]];
  case TF_K_LT: return isnan(a) || isnan(b) ? NAN : a < b;
  case TF_K_LE: return isnan(a) || isnan(b) ? NAN : a <= b;
  case TF_K_EQ: return isnan(a) || isnan(b) ? NAN : a == b;
  case TF_K_NE: return isnan(a) || isnan(b) ? NAN : a != b;
  case TF_K_MIN: return isnan(a) || isnan(b) ? NAN : fmin(a, b);
  case TF_K_MAX: return isnan(a) || isnan(b) ? NAN : fmax(a, b);
  case TF_K_NEG: return -a;
  case TF_K_ADD: return isinf(a) ? a : isinf(b) ? b : a + b;
  case TF_K_SUB: return isinf(a) ? a : isinf(b) ? -b : a - b;
  case TF_K_MUL: return a == 0 || b == 0 ? 0 : a * b;
  case TF_K_DIV: return a == 0 ? 0 : a / b;
  case TF_K_EXP: return exp(a);
  default: return NAN;
  }
}

/* The value of the operand at the point, where its index is plain. */
static double read_at(const oracle *o, const tf_op *op, const tf_ref *ref, const int64_t *point) {
  int64_t at[MAX_RANK];
  for (int r = 0; r < o->wl->tensors[ref->tensor].rank; r++) {
    at[r] = ref->index[r].c;
    for (int t = 0; t < ref->index[r].n_terms; t++)
      for (int d = 0; d < op->n_dims; d++)
        if (op->dims[d] == ref->index[r].terms[t].dim)
          at[r] += ref->index[r].terms[t].coef * point[d];
  }
  return value_at(o, ref->tensor, at);
}

static double value_at(const oracle *o, int z, const int64_t *at) {
  const tf_tensor *t = &o->wl->tensors[z];
  const tf_op *op = t->producer < 0 ? NULL : &o->wl->ops[t->producer];
  double v[MOST_PARTS];
  if (!op || t->view_of || op->reduce != TF_ASSIGN || op->n_expr > MOST_PARTS) return NAN;
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *e = &op->expr[i];
    v[i] = e->what == TF_X_NUMBER ? e->number : NAN;
    for (int d = 0; e->what == TF_X_DIM && d < op->n_dims; d++)
      if (op->dims[d] == e->dim) v[i] = (double)at[d];
    if (e->what == TF_X_READ) v[i] = read_at(o, op, &op->reads[e->ref], at);
    if (e->what == TF_X_CALL) v[i] = call_of(e, v);
  }
  return v[op->n_expr - 1];
}

int places_of(const oracle *o, int z, bool *in) {
  const tf_tensor *t = &o->wl->tensors[z];
  int n = 0;
  for (int e = 0; e < size_of(o, z); e++) {
    int64_t at[MAX_RANK];
    for (int r = t->rank - 1, rest = e; r >= 0; r--)
      at[r] = rest % (int)t->extent[r], rest /= (int)t->extent[r];
    in[e] = value_at(o, z, at) != 0;
    n += in[e];
  }
  return n;
}
