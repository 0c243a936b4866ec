#include "model/tree/algebra.h"

#include <math.h>

#include "model/input/dims.h"

static const tf_value_change fixed = {.change = TF_V_FIXED, .max = -1, .sum = -1};

static tf_value_change changed_otherwise(const char *why) {
  return (tf_value_change){.change = TF_V_OTHER, .max = -1, .sum = -1, .why = why};
}

/* FIXED counts as a product without factors, and as a shift by zero. */
static bool is_product(const tf_value_change *v) {
  return v->change == TF_V_FIXED || v->change == TF_V_SCALES;
}
static bool is_shift(const tf_value_change *v) {
  return v->change == TF_V_FIXED || v->change == TF_V_SHIFTS;
}

/* The tensor on which both depend; false if they depend on different ones. */
static bool join_types(int a, int b, int *out) {
  *out = a >= 0 ? a : b;
  return a < 0 || b < 0 || a == b;
}

static bool same_change(const tf_value_change *a, const tf_value_change *b) {
  return a->change == b->change && a->max == b->max && a->factor == b->factor &&
         a->exps == b->exps && a->sum == b->sum && a->power == b->power;
}

/* a + sign * b */
static tf_value_change sum_of(tf_value_change a, tf_value_change b, double sign) {
  if (is_shift(&a) && is_shift(&b)) {
    tf_value_change v = {.change = TF_V_SHIFTS, .factor = a.factor + sign * b.factor, .sum = -1};
    if (!join_types(a.max, b.max, &v.max)) return changed_otherwise("it mixes two running maxima");
    bool none = v.factor > -1e-12 && v.factor < 1e-12;
    return none ? fixed : v;
  }
  return same_change(&a, &b) ? a : changed_otherwise("it adds values that change differently");
}

/* a * b^sign */
static tf_value_change product_of(tf_value_change a, tf_value_change b, int sign) {
  if (!is_product(&a) || !is_product(&b))
    return changed_otherwise("it multiplies a value that shifts with the running maximum");
  tf_value_change v = {.change = TF_V_SCALES, .exps = a.exps + sign * b.exps};
  v.factor = a.factor + sign * b.factor;
  v.power = a.power + sign * b.power;
  if (!join_types(a.max, b.max, &v.max) || !join_types(a.sum, b.sum, &v.sum))
    return changed_otherwise("it mixes two running maxima or sums");
  if (v.power == 0) v.sum = -1;
  return v.exps == 0 && v.power == 0 && v.factor == 0 ? fixed : v;
}

static tf_value_change exp_of(tf_value_change a) {
  if (a.change == TF_V_FIXED) return a;
  if (a.change != TF_V_SHIFTS)
    return changed_otherwise("it is an exponential of what does not shift");
  a.change = TF_V_SCALES;
  a.exps = 1;
  return a;
}

/* A shifting value times (or over) a constant: the shift is multiplied. */
static tf_value_change scaled(tf_value_change a, double by) {
  a.factor *= by;
  return by == 0 ? fixed : a;
}

static bool is_number(const tf_expr *x, double v) {
  return x->what == TF_X_NUMBER && x->number == v;
}

/* yes or no, as something that does not change decides: values that change alike, or a constant
 * that the change leaves as it is, 0 for a product, -inf for a shift. */
static tf_value_change choice_of(const tf_op *op, const tf_expr *x, const tf_value_change *work) {
  const tf_value_change a = work[x->arg[1]], b = work[x->arg[2]];
  if (work[x->arg[0]].change != TF_V_FIXED)
    return changed_otherwise("it decides by a value that the running maximum changes");
  for (int i = 1; i <= 2; i++) {
    const tf_value_change *changing = &work[x->arg[3 - i]];
    const tf_expr *constant = &op->expr[x->arg[i]];
    if (changing->change == TF_V_SCALES && is_number(constant, 0)) return *changing;
    if (changing->change == TF_V_SHIFTS && is_number(constant, -INFINITY)) return *changing;
  }
  return same_change(&a, &b)
             ? a
             : changed_otherwise("it chooses between values that change differently");
}

static tf_value_change call(const tf_op *op, const tf_expr *x, const tf_value_change *work) {
  tf_value_change a = work[x->arg[0]], b = x->n_args > 1 ? work[x->arg[1]] : fixed;
  const tf_expr *xa = &op->expr[x->arg[0]], *xb = &op->expr[x->n_args > 1 ? x->arg[1] : 0];
  bool number_a = xa->what == TF_X_NUMBER, number_b = x->n_args > 1 && xb->what == TF_X_NUMBER;
  for (int i = 0; i < x->n_args; i++)
    if (work[x->arg[i]].change == TF_V_OTHER) return work[x->arg[i]];
  switch (x->call) {
  case TF_K_COPY: return a;
  case TF_K_ADD: return sum_of(a, b, 1);
  case TF_K_SUB: return sum_of(a, b, -1);
  case TF_K_NEG: return a.change == TF_V_SHIFTS ? scaled(a, -1) : a;
  case TF_K_EXP: return exp_of(a);
  case TF_K_SELECT: return choice_of(op, x, work);
  case TF_K_MUL:
    if (a.change == TF_V_SHIFTS && number_b) return scaled(a, xb->number);
    if (b.change == TF_V_SHIFTS && number_a) return scaled(b, xa->number);
    return product_of(a, b, 1);
  case TF_K_DIV:
    if (a.change == TF_V_SHIFTS && number_b) return scaled(a, 1 / xb->number);
    return product_of(a, b, -1);
  default: break;
  }
  for (int i = 0; i < x->n_args; i++)
    if (work[x->arg[i]].change != TF_V_FIXED)
      return changed_otherwise(
          "it puts a value that the running maximum changes through another function");
  return fixed;
}

tf_value_change tf_change_of(const tf_op *op, const tf_value_change *tensors,
                             tf_value_change *work) {
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *x = &op->expr[i];
    work[i] = fixed;
    if (x->what == TF_X_READ) work[i] = tensors[op->reads[x->ref].tensor];
    if (x->what == TF_X_CALL) work[i] = call(op, x, work);
  }
  return op->n_expr > 0 ? work[op->n_expr - 1] : fixed;
}

/* ---- rows ----------------------------------------------------------------------------------- */
/* Whether the op reads the tensor, along the dim, where that is made. */
static bool at_its_row(const tf_workload *wl, const tf_ref *ref, int dim) {
  const int r = tf_out_rank(&wl->ops[wl->tensors[ref->tensor].producer], dim);
  const tf_index *ix = &ref->index[r];
  return ix->n_terms == 1 && ix->c == 0 && ix->terms[0].coef == 1 && ix->terms[0].dim == dim;
}

/* Why what the op reads of running results forbids corrections; NULL if it does not.  Fills
 * `moves`. */
static const char *wrong_rows(const tf_rows *q, const tf_op *op, bool changes) {
  const char *why = NULL;
  for (int d = 0; d < q->wl->n_dims; d++) {
    q->moves[d] = false;
    for (int i = 0; i < op->n_reads; i++) {
      const int z = op->reads[i].tensor;
      if (q->seen[z].change == TF_V_FIXED || !q->rows[z * q->wl->n_dims + d]) continue;
      q->moves[d] = true;
      if (!at_its_row(q->wl, &op->reads[i], d))
        why = "it reads that at other coordinates than those at which it is made";
    }
    if (!why && changes && q->moves[d] && tf_out_rank(op, d) < 0)
      why = "it adds up rows whose corrections differ";
  }
  return why;
}

void tf_rows_apply(const tf_rows *q, const tf_op *op, bool streamed, tf_value_change *v) {
  const bool other = v->change == TF_V_OTHER;
  const char *why = other ? NULL : wrong_rows(q, op, v->change != TF_V_FIXED);
  if (why) *v = changed_otherwise(why);
  /* along all dims if it is streamed, as what reads it changes with it */
  for (int d = 0; d < q->wl->n_dims; d++)
    q->rows[op->out * q->wl->n_dims + d] = tf_out_rank(op, d) >= 0 && (q->moves[d] || streamed);
}
