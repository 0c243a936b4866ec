/* How tensors change when a number is added to every element of a tensor x, op by op: a multiple of
 * the number is added to their elements, or is a factor of them, or nothing happens.  Each element
 * of x must affect separate elements on the way: the dims that index x must index every tensor that
 * changes. */
#include "grad/shift.h"

#include <math.h>

static const gr_change none = {.kind = GR_NONE}, unknown = {.kind = GR_UNKNOWN};
static const gr_shift lost = {.change = {.kind = GR_UNKNOWN}};

static gr_change added(double times) {
  return times == 0 ? none : (gr_change){.kind = GR_ADDED, .times = times};
}

static gr_change factor(double times) {
  return times == 0 ? none : (gr_change){.kind = GR_FACTOR, .times = times};
}

static bool is_added(gr_change a) { return a.kind == GR_ADDED || a.kind == GR_NONE; }
static bool is_factor(gr_change a) { return a.kind == GR_FACTOR || a.kind == GR_NONE; }
static bool same_change(gr_change a, gr_change b) { return a.kind == b.kind && a.times == b.times; }

static bool number(const tf_expr *e, double v) { return e->what == TF_X_NUMBER && e->number == v; }
/* A number that the change of `b` leaves unchanged: 0 under a factor, an infinity under a sum. */
static bool stays(const tf_expr *e, gr_change b) {
  return (b.kind == GR_FACTOR && number(e, 0)) ||
         (b.kind == GR_ADDED && e->what == TF_X_NUMBER && isinf(e->number));
}

/* The change of either of two values, if both change alike. */
static gr_change common_change(const tf_expr *x, gr_change a, const tf_expr *y, gr_change b) {
  return same_change(a, b) || stays(y, a) ? a : stays(x, b) ? b : unknown;
}

static gr_change sum(gr_change a, gr_change b, double sign) {
  if (is_added(a) && is_added(b)) return added(a.times + sign * b.times);
  return same_change(a, b) ? a : unknown; /* factors of both */
}

static gr_change product(const tf_expr *x, gr_change a, const tf_expr *y, gr_change b,
                         double sign) {
  if (is_factor(a) && is_factor(b)) return factor(a.times + sign * b.times);
  if (a.kind == GR_ADDED && y->what == TF_X_NUMBER)
    return added(sign > 0 ? a.times * y->number : a.times / y->number);
  if (b.kind == GR_ADDED && x->what == TF_X_NUMBER && sign > 0) return added(b.times * x->number);
  return unknown;
}

/* The change of a call whose arguments x[k] change as a[k]. */
static gr_change call(tf_kind kind, int n, const tf_expr *const x[], const gr_change a[]) {
  bool any = false;
  for (int k = 0; k < n; k++)
    any = any || a[k].kind != GR_NONE;
  if (!any) return none;
  switch (kind) {
  case TF_K_ADD: return sum(a[0], a[1], 1);
  case TF_K_SUB: return sum(a[0], a[1], -1);
  case TF_K_MUL: return product(x[0], a[0], x[1], a[1], 1);
  case TF_K_DIV: return product(x[0], a[0], x[1], a[1], -1);
  case TF_K_NEG: return a[0].kind == GR_ADDED ? added(-a[0].times) : a[0];
  case TF_K_EXP: return is_added(a[0]) ? factor(a[0].times) : unknown;
  case TF_K_LOG: return is_factor(a[0]) ? added(a[0].times) : unknown;
  case TF_K_SQRT: return is_factor(a[0]) ? factor(a[0].times / 2) : unknown;
  case TF_K_RELU:
  case TF_K_ABS: return is_factor(a[0]) ? a[0] : unknown; /* if the factor is positive */
  case TF_K_COPY: return a[0];
  case TF_K_MAX:
  case TF_K_MIN: return common_change(x[0], a[0], x[1], a[1]);
  case TF_K_SELECT: return a[0].kind == GR_NONE ? common_change(x[1], a[1], x[2], a[2]) : unknown;
  case TF_K_MAC:
  case TF_K_TANH:
  case TF_K_ERF:
  case TF_K_SIGMOID:
  case TF_K_GELU:
  case TF_K_SILU:
  case TF_K_FLOOR:
  case TF_K_CEIL:
  case TF_K_ROUND:
  case TF_K_TRUNC:
  case TF_K_SIN:
  case TF_K_COS:
  case TF_K_FMOD:
  case TF_K_LT:
  case TF_K_LE:
  case TF_K_EQ:
  case TF_K_NE:
  case TF_N_KINDS: break;
  }
  return unknown;
}

/* The dims that index x where the op reads a changed tensor; false: not plain dims, or others than
 * before.  dim: [rank of x], -1 where not known yet. */
static bool plain_dims(const tf_workload *wl, const tf_ref *ref, const gr_shift *s, int rank,
                       int *dim) {
  const tf_tensor *t = &wl->tensors[ref->tensor];
  for (int r = 0; r < t->rank; r++)
    if (t->pad[r] || t->lo[r]) return false;
  for (int r = 0; r < rank; r++) {
    const tf_index *i = &ref->index[s->rank_of[r]];
    if (i->n_terms != 1 || i->c || i->terms[0].coef != 1 ||
        (dim[r] >= 0 && dim[r] != i->terms[0].dim))
      return false;
    dim[r] = i->terms[0].dim;
  }
  return true;
}

/* The change after a reduction. */
static gr_change reduced(tf_reduce reduce, gr_change s) {
  const bool holds = s.kind == GR_NONE || reduce == TF_ASSIGN || reduce == TF_REDUCE_MAX ||
                     reduce == TF_REDUCE_MIN || (reduce == TF_REDUCE_ADD && s.kind == GR_FACTOR);
  return holds ? s : unknown;
}

static gr_shift of_op(const tf_workload *wl, const tf_op *op, int x, const gr_shift *shift) {
  gr_change at[TF_MAX_EXPR];
  int dim[TF_MAX_RANK];
  const int rank = wl->tensors[x].rank;
  for (int r = 0; r < rank; r++)
    dim[r] = -1;
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *e = &op->expr[i], *arg[3] = {e, e, e}; /* unused beyond n_args */
    gr_change a[3] = {none, none, none};
    at[i] = none;
    for (int k = 0; e->what == TF_X_CALL && k < e->n_args; k++) {
      arg[k] = &op->expr[e->arg[k]];
      a[k] = at[e->arg[k]];
    }
    if (e->what == TF_X_CALL) at[i] = call(e->call, e->n_args, arg, a);
    if (e->what == TF_X_READ) at[i] = shift[op->reads[e->ref].tensor].change;
    if (at[i].kind == GR_UNKNOWN) return lost;
    const tf_ref *ref = e->what == TF_X_READ && at[i].kind != GR_NONE ? &op->reads[e->ref] : NULL;
    if (ref && !plain_dims(wl, ref, &shift[ref->tensor], rank, dim)) return lost;
  }
  gr_shift out = {.change = reduced(op->reduce, at[op->n_expr - 1])};
  for (int r = 0; r < rank && (out.change.kind == GR_ADDED || out.change.kind == GR_FACTOR); r++) {
    int p = 0;
    while (p < op->n_out_dims && op->dims[p] != dim[r])
      p++;
    if (p == op->n_out_dims) return lost; /* elements of x mix */
    out.rank_of[r] = p;
  }
  return out;
}

bool gr_shift_free(const tf_workload *wl, int x, const bool *of, gr_shift *shift) {
  for (int t = 0; t < wl->n_tensors; t++)
    shift[t] = (gr_shift){.change = none};
  shift[x].change = added(1);
  for (int r = 0; r < wl->tensors[x].rank; r++)
    shift[x].rank_of[r] = r;
  bool free_of = !of[x];
  for (int i = 0; i < wl->n_ops && free_of; i++) {
    const tf_op *op = &wl->ops[wl->topo[i]];
    if (op->out == x) continue;
    shift[op->out] = of_op(wl, op, x, shift);
    free_of = !of[op->out] || shift[op->out].change.kind == GR_NONE;
  }
  return free_of;
}
