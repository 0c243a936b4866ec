#include "tests/kernels/bounded.h"
#include "model/input/masked.h"
#include "tests/kernels/whole.h"

#include <float.h>
#include <math.h>

static const bounded unknown = {0, INFINITY};

static bool sure(bounded a) { return a.e < INFINITY; }
static bool may_be_zero(bounded a) { return fabs(a.v) <= a.e; }
static bool is_zero(bounded a) { return a.v == 0 && a.e == 0; }

/* What becomes of it in float32.  Infinite only because it is too large: e is 1 for as long as a
 * sum may take it in unrounded. */
static bounded as_float32(double v, double e) {
  if (isnan(v) || isinf(v)) return isnan(e) || isinf(e) ? unknown : (bounded){v, 0};
  if (!(e < INFINITY)) return unknown;
  if (fabs(v) - e > FLT_MAX * (1 + 1e-7)) return (bounded){v > 0 ? INFINITY : -INFINITY, 1};
  return fabs(v) + e > FLT_MAX * (1 - 1e-6) ? unknown : (bounded){v, e};
}

typedef const bounded_rounding *rounding;

/* v with the errors of its operands, and one more step. */
static bounded step(rounding by, double v, double e) {
  return as_float32(v, isfinite(v) ? e + by->step * fabs(v) + by->tiny : 0);
}

/* A whole number that float32 has, as its neighbours: sums and products of such are exact, in any
 * order. */
static bool is_whole(bounded a) { return a.e <= 1e-37 && fabs(a.v) <= 0x1p24 && a.v == trunc(a.v); }

/* What two of them make: with no error, if float32 has it, too. */
static bool whole_of(bounded a, bounded b, double v) {
  return is_whole(a) && is_whole(b) && is_whole((bounded){v, 0});
}

static bool too_large(bounded a) { return isinf(a.v) && a.e > 0; }

static bounded plus(rounding by, bounded a, bounded b) {
  const double v = a.v + b.v;
  if (whole_of(a, b, v)) return (bounded){v, 0};
  if (isnan(v) && (too_large(a) || too_large(b)))
    return unknown; /* a product of finite numbers may not have been rounded */
  if (isnan(v) && by->masked && (a.v == -INFINITY || b.v == -INFINITY))
    return unknown; /* or left out */
  return step(by, v, isfinite(v) ? a.e + b.e : 0);
}

static bounded times(rounding by, bounded a, bounded b) {
  /* what a mask leaves is exp(-inf), which of_exp knows as what may be 0 */
  if (by->masked && ((may_be_zero(a) && !isfinite(b.v)) || (may_be_zero(b) && !isfinite(a.v))))
    return unknown;
  /* beyond a border: kernels leave it out */
  if (by->bordered && ((is_zero(a) && !isfinite(b.v)) || (is_zero(b) && !isfinite(a.v))))
    return unknown;
  if ((isinf(a.v) && may_be_zero(b) && !is_zero(b)) ||
      (isinf(b.v) && may_be_zero(a) && !is_zero(a)))
    return unknown;
  if (whole_of(a, b, a.v * b.v)) return (bounded){a.v * b.v, 0};
  return step(by, a.v * b.v, fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e);
}

static bounded over(rounding by, bounded a, bounded b) {
  if (may_be_zero(b) && !is_zero(b)) return unknown;
  const double v = a.v / b.v;
  if (isinf(b.v) || b.v == 0)
    return may_be_zero(a) && !is_zero(a) && b.v == 0 ? unknown : step(by, v, 0);
  return step(by, v, (a.e + fabs(v) * b.e) / (fabs(b.v) - b.e));
}

static bounded limit(bounded a, bounded b, bool most) {
  return (bounded){most ? fmax(a.v, b.v) : fmin(a.v, b.v),
                   fmax(isfinite(a.v) ? a.e : 0, isfinite(b.v) ? b.e : 0)};
}

/* A function that changes no more than `slope` times its argument. */
static bounded smooth(rounding by, bounded a, double v, double slope) {
  return step(by, v, slope * a.e + by->step);
}

/* Below 2^-100 it may be 0: of what is less the maximum of its row; else below the normal range. */
static bounded of_exp(rounding by, bounded a) {
  const double v = exp(a.v), e = v == 0 ? 0 : v * expm1(a.e);
  return step(by, v, v - e < 0x1p-100 ? e + 0x1p-100 : e);
}

static bounded of_log(rounding by, bounded a) {
  if (may_be_zero(a) && !is_zero(a)) return unknown;
  return a.v > 0 && isfinite(a.v) ? step(by, log(a.v), a.e / (a.v - a.e) + by->step)
                                  : (bounded){log(a.v), 0};
}

static bounded of_root(rounding by, bounded a) {
  if (may_be_zero(a) && !is_zero(a)) return unknown;
  return a.v > 0 && isfinite(a.v) ? step(by, sqrt(a.v), a.e / sqrt(a.v - a.e))
                                  : (bounded){sqrt(a.v), 0};
}

static bounded choose(bounded c, bounded yes, bounded no) {
  if (may_be_zero(c) && !is_zero(c)) return unknown;
  return is_zero(c) ? no : yes;
}

/* What a comparison gives, where the errors leave it as it is. */
static bounded compared(bounded a, bounded b, bool truth) {
  if (isnan(a.v) || isnan(b.v) || fabs(a.v - b.v) > a.e + b.e || (a.e == 0 && b.e == 0))
    return (bounded){truth, 0};
  return unknown;
}

/* Where its argument's error leaves it on its step. */
static bounded stepped(bounded a, double (*of)(double)) {
  const double low = of(a.v - a.e), high = of(a.v + a.e);
  return isnan(a.v) || low == high ? (bounded){of(a.v), 0} : unknown;
}

static bounded call(rounding by, tf_kind k, const bounded *x) {
  const bounded a = x[0], b = x[1];
  switch (k) {
  case TF_K_ADD: return plus(by, a, b);
  case TF_K_SUB: return plus(by, a, (bounded){-b.v, b.e});
  case TF_K_MUL: return times(by, a, b);
  case TF_K_DIV: return over(by, a, b);
  case TF_K_NEG: return (bounded){-a.v, a.e};
  case TF_K_MAX: return limit(a, b, true);
  case TF_K_MIN: return limit(a, b, false);
  case TF_K_RELU: return limit(a, (bounded){0, 0}, true);
  case TF_K_EXP: return of_exp(by, a);
  case TF_K_LOG: return of_log(by, a);
  case TF_K_SQRT: return of_root(by, a);
  case TF_K_TANH: return smooth(by, a, tanh(a.v), 1);
  case TF_K_ERF: return smooth(by, a, erf(a.v), 1.2);
  case TF_K_SILU: return smooth(by, a, a.v / (1 + exp(-a.v)), 1.1);
  case TF_K_SIGMOID: return smooth(by, a, 1 / (1 + exp(-a.v)), 0.25);
  case TF_K_ABS: return (bounded){fabs(a.v), a.e};
  case TF_K_FLOOR: return stepped(a, floor);
  case TF_K_CEIL: return stepped(a, ceil);
  case TF_K_ROUND: return stepped(a, nearbyint);
  case TF_K_TRUNC: return stepped(a, trunc);
  case TF_K_SIN: return smooth(by, a, sin(a.v), 1);
  case TF_K_COS: return smooth(by, a, cos(a.v), 1);
  case TF_K_FMOD: return a.e == 0 && b.e == 0 ? (bounded){fmod(a.v, b.v), 0} : unknown;
  case TF_K_SELECT: return choose(a, b, x[2]);
  case TF_K_LT: return compared(a, b, a.v < b.v);
  case TF_K_LE: return compared(a, b, a.v <= b.v);
  case TF_K_EQ: return compared(a, b, a.v == b.v);
  case TF_K_NE: return compared(a, b, a.v != b.v);
  default: return unknown;
  }
}

static bool knows(bounded a) { return sure(a) || isnan(a.v); }

static bounded value(rounding by, const tf_op *op, const bounded *read, const int64_t *point) {
  bounded v[64];
  if (op->n_expr > 64) return unknown;
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *e = &op->expr[i];
    bounded arg[3] = {{0, 0}, {0, 0}, {0, 0}};
    bool all = true;
    for (int k = 0; e->what == TF_X_CALL && k < e->n_args; k++)
      arg[k] = v[e->arg[k]], all &= knows(arg[k]);
    v[i] = e->what == TF_X_NUMBER ? (bounded){e->number, by->step * fabs(e->number)}
           : e->what == TF_X_READ ? read[e->ref]
           : e->what == TF_X_DIM  ? (bounded){(double)point[e->dim], 0}
           : all                  ? call(by, e->call, arg)
                                  : unknown;
    if (e->what == TF_X_NUMBER && (float)e->number == e->number) v[i].e = 0;
  }
  return v[op->n_expr - 1];
}

/* A sum on the way: in any order, whatever its parts. */
typedef struct {
  bool unknown, nan, up, down, large_up, large_down,
      rounded; /* large: see settle; not all are whole numbers */
  double v, size, e;
  int64_t n;
} sum;

static void add(sum *s, bounded a) {
  if (isnan(a.v))
    s->nan = true;
  else if (!sure(a))
    s->unknown = true;
  else if (too_large(a))
    *(a.v > 0 ? &s->large_up : &s->large_down) = true;
  else if (isinf(a.v))
    *(a.v > 0 ? &s->up : &s->down) = true;
  else
    s->v += a.v, s->size += fabs(a.v), s->e += a.e, s->n++, s->rounded |= !is_whole(a);
}

static bounded total(rounding by, const sum *s) {
  if (s->nan || (s->up && s->down)) return (bounded){NAN, 0};
  const bool up = s->up || s->large_up, down = s->down || s->large_down;
  if (s->unknown || s->size + s->e > FLT_MAX * 0.99 || (up && down)) return unknown;
  if ((up || down) && !s->up && !s->down && s->size > 0)
    return unknown; /* a product that is too large, taken in unrounded, may be brought back by the
                       others */
  if (up || down) return (bounded){up ? INFINITY : -INFINITY, 0};
  if (!s->rounded && s->size <= 0x1p24) return (bounded){s->v, 0};
  return as_float32(s->v,
                    s->e + by->step * s->size * (1 + (double)s->n / 8) + by->tiny * (double)s->n);
}

static bounded fetch(const tf_workload *wl, bounded **data, const tf_ref *ref,
                     const int64_t *point) {
  int64_t i = whole_at(wl, ref, point);
  return i < 0 ? (bounded){0, 0} : data[ref->tensor][i];
}

/* The next point over dims from ... to - 1 of the op; false: that was the last. */
static bool next_point(const tf_workload *wl, const tf_op *op, int from, int to, int64_t *point) {
  for (int k = to - 1; k >= from; k--) {
    if (++point[op->dims[k]] < wl->dims[op->dims[k]].extent) return true;
    point[op->dims[k]] = 0;
  }
  return false;
}

/* The element at a point of the output. */
static bounded element(const tf_workload *wl, rounding by, const tf_op *op, bounded **data,
                       int64_t *point) {
  sum s = {0};
  const bool floored = by->floored && wl->tensors[op->out].n_consumers > 0;
  bounded all = {op->reduce == TF_REDUCE_MUL   ? 1
                 : op->reduce == TF_REDUCE_MIN ? INFINITY
                 : floored                     ? -FLT_MAX
                                               : -INFINITY,
                 0};
  do {
    bounded read[16];
    for (int i = 0; i < op->n_reads; i++)
      read[i] = fetch(wl, data, &op->reads[i], point);
    const bounded v = value(by, op, read, point);
    if (op->reduce == TF_REDUCE_ADD)
      add(&s, v);
    else if (op->reduce == TF_ASSIGN)
      all = v;
    else if (!knows(v) || !knows(all))
      all = unknown;
    else
      all = op->reduce == TF_REDUCE_MUL ? times(by, all, v)
                                        : limit(v, all, op->reduce == TF_REDUCE_MAX);
  } while (next_point(wl, op, op->n_out_dims, op->n_dims, point));
  if (op->reduce == TF_REDUCE_ADD) all = total(by, &s);
  if (sure(all) && isfinite(all.v) && all.v != -FLT_MAX)
    all = as_float32(all.v, all.e + by->kept * fabs(all.v) + by->tiny);
  if (isinf(all.v)) all.e = 0;
  return all;
}

static bool adds_mask(const tf_workload *wl) {
  tf_arena *a = tf_arena_new();
  tf_mask m;
  bool any = false;
  for (int o = 0; a && o < wl->n_ops && !any; o++)
    any = tf_mask_added(wl, o, a, &m);
  tf_arena_free(a);
  return any;
}

void bounded_run(const tf_workload *wl, const bounded_rounding *by, bounded **data) {
  bounded_rounding masked = *by;
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_expr; i++)
      masked.masked |= wl->ops[o].expr[i].what == TF_X_DIM;
  masked.masked |= adds_mask(wl);
  for (int z = 0; z < wl->n_tensors; z++)
    for (int r = 0; r < wl->tensors[z].rank; r++)
      masked.bordered |= wl->tensors[z].pad[r] > 0;
  by = &masked;
  for (int i = 0; i < wl->n_ops; i++) {
    const tf_op *op = &wl->ops[wl->topo[i]];
    int64_t point[256] = {0}, at = 0;
    do
      data[op->out][at++] = element(wl, by, op, data, point);
    while (next_point(wl, op, 0, op->n_out_dims, point));
  }
}

bool bounded_holds(bounded of, double v) {
  if (isnan(of.v)) return isnan(v);
  if (!sure(of)) return true;
  return isinf(of.v) ? v == of.v : fabs(v - of.v) <= of.e;
}
