/* Constants that are known without data: shapes, and what is computed from them. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "model/import/onnx/onnx.h"
#include "model/import/onnx/tensor.h"

enum { AXES = OX_RANK };

static bool give(ox_net *g, int rank, const int64_t *shape, const double *number, bool whole) {
  ox_value v = {.whole = whole, .number = number};
  ox_whole(&v, -1, rank, shape);
  v.tensor = -1;
  v.name = g->node->output[0];
  return ox_give(g, 0, &v);
}

static double *room(ox_net *g, int64_t n) {
  double *x = TF_ARRAY(g->arena, double, (size_t)n + 1);
  g->oom |= !x;
  return x;
}

static const ox_value *known(ox_net *g, size_t k) {
  const ox_value *v = ox_has(g, k) ? ox_find(g, g->node->input[k]) : NULL;
  return v && v->number && !v->bad ? v : NULL;
}

/* ---- made of nothing ------------------------------------------------------------------------------------------ */

static bool constant(ox_net *g) {
  const Onnx__AttributeProto *t = ox_attribute(g, "value"), *i = ox_attribute(g, "value_int"),
                             *f = ox_attribute(g, "value_float"), *is = ox_attribute(g, "value_ints"),
                             *fs = ox_attribute(g, "value_floats");
  if (t && t->t) {
    ox_value v;
    return ox_tensor_value(g, t->t, g->node->output[0], &v) && ox_give(g, 0, &v);
  }
  const int64_t n = is ? (int64_t)is->n_ints : fs ? (int64_t)fs->n_floats : 1;
  if (!i && !f && !is && !fs) return ox_fail(g, TF_E_MISSING, "a constant without numbers");
  if (n > OX_NUMBERS) return ox_fail(g, TF_E_LIMIT, "a list of more than %d numbers", OX_NUMBERS);
  double *x = room(g, n);
  for (int64_t k = 0; k < n && x; k++)
    x[k] = is ? (double)is->ints[k] : fs ? (double)fs->floats[k] : i ? (double)i->i : (double)f->f;
  return x && give(g, is || fs, &n, x, i || is);
}

static bool of_shape(ox_net *g) {
  const int64_t *shape;
  int64_t rank, n = 1;
  if (!ox_numbers(g, 0, &shape, &rank)) return false;
  if (rank > OX_RANK) return ox_fail(g, TF_E_LIMIT, "more than %d axes", OX_RANK);
  for (int64_t k = 0; k < rank; k++)
    if (shape[k] < 1 || !tf_mul(n, shape[k], &n) || n > OX_NUMBERS)
      return ox_fail(g, TF_E_LIMIT, "a constant of no element, or of more than %d", OX_NUMBERS);
  const Onnx__AttributeProto *a = ox_attribute(g, "value");
  ox_value one = {0};
  if (a && a->t && !ox_tensor_value(g, a->t, g->node->output[0], &one)) return false;
  double *x = room(g, n);
  for (int64_t k = 0; k < n && x; k++)
    x[k] = one.number ? one.number[0] : 0;
  return x && give(g, (int)rank, shape, x, one.whole);
}

static bool shape_of(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  if (!v) return false;
  int64_t from = ox_int(g, "start", 0), to = ox_int(g, "end", v->rank);
  from = from < 0 ? from + v->rank : from;
  to = to < 0 ? to + v->rank : to > v->rank ? v->rank : to;
  if (from < 0 || from >= to)
    return ox_fail(g, TF_E_RANGE, "no axis from %lld to %lld", (long long)from, (long long)to);
  double *x = room(g, to - from);
  for (int64_t k = from; k < to && x; k++)
    x[k - from] = (double)ox_extent(v, (int)k);
  const int64_t n = to - from;
  return x && give(g, 1, &n, x, true);
}

static bool range(ox_net *g) {
  const double from = known(g, 0)->number[0], to = known(g, 1)->number[0], by = known(g, 2)->number[0];
  const double many = ceil((to - from) / by);
  if (!(many >= 1 && many <= OX_NUMBERS))
    return ox_fail(g, TF_E_LIMIT, "a range of no number, or of more than %d", OX_NUMBERS);
  const int64_t n = (int64_t)many;
  double *x = room(g, n);
  for (int64_t k = 0; k < n && x; k++)
    x[k] = from + (double)k * by;
  return x && give(g, 1, &n, x, known(g, 0)->whole);
}

/* ---- element by element --------------------------------------------------------------------------------------- */

typedef enum { ADD, SUB, MUL, DIV, POW, MOST, LEAST, EQUAL, MOD, NEG, SQRT, FLOOR, CEIL, ABS, CAST, WHERE, NOT } sum;
static const struct {
  const char *type;
  sum what;
  int n;
} sums[] = {
    {"Add", ADD, 2},     {"Sub", SUB, 2},   {"Mul", MUL, 2},     {"Div", DIV, 2},     {"Pow", POW, 2},
    {"Max", MOST, 2},    {"Min", LEAST, 2}, {"Mod", MOD, 2},     {"Equal", EQUAL, 2}, {"Neg", NEG, 1},
    {"Sqrt", SQRT, 1},   {"Abs", ABS, 1},   {"Floor", FLOOR, 1}, {"Ceil", CEIL, 1},   {"Cast", CAST, 1},
    {"Where", WHERE, 3}, {"Not", NOT, 1},   {NULL, ADD, 0},
};

static double compute(sum what, const double *x, bool whole) {
  switch (what) {
  case ADD: return x[0] + x[1];
  case SUB: return x[0] - x[1];
  case MUL: return x[0] * x[1];
  case DIV: return whole ? trunc(x[0] / x[1]) : x[0] / x[1];
  case POW: return pow(x[0], x[1]);
  case MOST: return fmax(x[0], x[1]);
  case LEAST: return fmin(x[0], x[1]);
  case MOD: return x[0] - x[1] * floor(x[0] / x[1]);
  case EQUAL: return x[0] == x[1];
  case NEG: return -x[0];
  case SQRT: return sqrt(x[0]);
  case FLOOR: return floor(x[0]);
  case CEIL: return ceil(x[0]);
  case ABS: return fabs(x[0]);
  case CAST: return whole ? trunc(x[0]) : x[0];
  case WHERE: return x[0] != 0 ? x[1] : x[2];
  case NOT: return x[0] == 0;
  }
  return NAN;
}

/* The offset, in an operand that is broadcast to `shape`, of element `at` of the result. */
static int64_t place(const ox_value *v, int rank, const int64_t *shape, int64_t at) {
  int64_t from = 0, step = 1;
  for (int k = rank - 1, j = v->rank - 1; j >= 0; k--, j--) {
    const int64_t extent = ox_extent(v, j);
    if (extent > 1) from += at % shape[k] * step;
    at /= shape[k];
    step *= extent;
  }
  return from;
}

static bool broadcast(ox_net *g, const ox_value *const *v, int n, int *rank, int64_t *shape) {
  *rank = 0;
  for (int i = 0; i < n; i++)
    if (v[i]->rank > *rank) *rank = v[i]->rank;
  for (int k = 0; k < *rank; k++) {
    shape[k] = 1;
    for (int i = 0; i < n; i++) {
      const int j = k - (*rank - v[i]->rank);
      const int64_t extent = j < 0 ? 1 : ox_extent(v[i], j);
      if (extent > 1 && shape[k] > 1 && extent != shape[k])
        return ox_fail(g, TF_E_SHAPE, "axes of %lld and %lld elements", (long long)shape[k], (long long)extent);
      if (extent > 1) shape[k] = extent;
    }
  }
  return true;
}

static bool by_element(ox_net *g, sum what, int n) {
  enum { FLOAT = 1, HALF = 10, DOUBLE = 11 };
  const ox_value *v[3];
  int rank;
  int64_t shape[AXES], all = 1;
  bool whole = true;
  for (int i = 0; i < n; i++)
    v[i] = known(g, (size_t)i), whole &= v[i]->whole || (what == WHERE && i == 0);
  if (!broadcast(g, v, n, &rank, shape)) return false;
  for (int k = 0; k < rank; k++)
    if (!tf_mul(all, shape[k], &all) || all > OX_NUMBERS)
      return ox_fail(g, TF_E_LIMIT, "more than %d numbers", OX_NUMBERS);
  const int64_t to = ox_int(g, "to", FLOAT);
  if (what == CAST) whole = to != FLOAT && to != HALF && to != DOUBLE;
  if (what == SQRT) whole = false;
  double *x = room(g, all), of[3] = {0};
  for (int64_t at = 0; at < all && x; at++) {
    for (int i = 0; i < n; i++)
      of[i] = v[i]->number[place(v[i], rank, shape, at)];
    x[at] = compute(what, of, whole);
  }
  return x && give(g, rank, shape, x, whole || what == EQUAL || what == NOT);
}

/* ---- lists ---------------------------------------------------------------------------------------------------- */

static bool gather(ox_net *g) {
  const ox_value *from = known(g, 0), *which = known(g, 1);
  const int64_t n = ox_size(which), all = ox_size(from);
  int64_t shape[AXES];
  double *x = room(g, n);
  for (int64_t i = 0; i < n && x; i++) {
    const double at = which->number[i] < 0 ? which->number[i] + (double)all : which->number[i];
    if (!(at >= 0 && at < (double)all))
      return ox_fail(g, TF_E_RANGE, "element %g of %lld", which->number[i], (long long)all);
    x[i] = from->number[(int64_t)at];
  }
  for (int k = 0; k < which->rank; k++)
    shape[k] = ox_extent(which, k);
  return x && give(g, which->rank, shape, x, from->whole);
}

static bool concat(ox_net *g) {
  int64_t n = 0;
  bool whole = true;
  for (size_t i = 0; i < g->node->n_input; i++) {
    n += ox_size(known(g, i)), whole &= known(g, i)->whole;
    if (n > OX_NUMBERS) return ox_fail(g, TF_E_LIMIT, "more than %d numbers", OX_NUMBERS);
  }
  double *x = room(g, n);
  n = 0;
  for (size_t i = 0; i < g->node->n_input && x; i++) {
    const ox_value *v = known(g, i);
    memcpy(x + n, v->number, (size_t)ox_size(v) * sizeof *x);
    n += ox_size(v);
  }
  return x && give(g, 1, &n, x, whole);
}

static bool slice(ox_net *g) {
  const ox_value *v = known(g, 0);
  const int64_t *from, *to, *by, all = ox_size(v);
  int64_t n, at, end, step = 1, made = 0;
  if (!ox_numbers(g, 1, &from, &n) || !from || !ox_numbers(g, 2, &to, &n) || !to || !ox_numbers(g, 4, &by, &n))
    return false;
  if (by) step = by[0];
  if (step < 1) return ox_fail(g, TF_E_RANGE, "a step of %lld in a list", (long long)step);
  at = from[0] < 0 ? from[0] + all : from[0];
  end = to[0] < 0 ? to[0] + all : to[0] > all ? all : to[0];
  double *x = room(g, all);
  for (; x && at >= 0 && at < end; at += step)
    x[made++] = v->number[at];
  if (!made) return ox_fail(g, TF_E_RANGE, "an empty list");
  return give(g, 1, &made, x, v->whole);
}

/* ---- which ---------------------------------------------------------------------------------------------------- */

static bool lists(const ox_net *g, const char *type) {
  const ox_value *v = known((ox_net *)g, 0);
  if (!v || v->rank != 1) return false;
  if (!strcmp(type, "Gather")) return known((ox_net *)g, 1) && ox_int(g, "axis", 0) == 0;
  for (size_t i = 0; i < g->node->n_input; i++) {
    const ox_value *x = known((ox_net *)g, i);
    if (!x || x->rank != 1) return false;
  }
  return true;
}

bool ox_known(ox_net *g, bool *done) {
  const char *type = g->node->op_type;
  *done = true;
  if (!strcmp(type, "Constant")) return constant(g);
  if (!strcmp(type, "ConstantOfShape")) return of_shape(g);
  if (!strcmp(type, "Shape")) return shape_of(g);
  if (!strcmp(type, "Range") && known(g, 0) && known(g, 1) && known(g, 2)) return range(g);
  if (!strcmp(type, "Gather") && lists(g, type)) return gather(g);
  if (!strcmp(type, "Concat") && lists(g, type)) return concat(g);
  if (!strcmp(type, "Slice") && lists(g, type)) return slice(g);
  for (int i = 0; sums[i].type; i++) {
    bool all = !strcmp(type, sums[i].type) && g->node->n_input == (size_t)sums[i].n;
    for (int k = 0; k < sums[i].n && all; k++)
      all = known(g, (size_t)k) != NULL;
    if (all) return by_element(g, sums[i].what, sums[i].n);
  }
  *done = false;
  return true;
}
