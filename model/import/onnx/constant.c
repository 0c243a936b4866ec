/* Constants that are known without data: shapes, and what is computed from them. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "model/import/onnx/onnx.h"

enum { AXES = OX_RANK };

static bool give(ox_net *g, int rank, const int64_t *shape, const double *number, int type) {
  ox_value v = {.number = number};
  ox_whole(&v, -1, rank, shape);
  v.tensor = -1;
  v.type = type;
  v.name = g->node->output[0];
  return ox_give(g, 0, &v);
}

static double *room(ox_net *g, int64_t n) {
  double *x = TF_ARRAY(g->arena, double, (size_t)n + 1);
  g->oom |= !x;
  return x;
}

static const ox_value *known(ox_net *g, size_t k) { return ox_known_at(g, k); }

/* ---- made of nothing ------------------------------------------------------------------------ */

static bool too_many(ox_net *g) {
  return g->oom ? false
                : ox_fail(g, TF_E_LIMIT, "more than %d numbers that are computed here",
                          OX_FOLDED_IN_ALL);
}

static bool constant(ox_net *g) {
  const Onnx__AttributeProto *t = ox_attribute(g, "value"), *i = ox_attribute(g, "value_int"),
                             *f = ox_attribute(g, "value_float"),
                             *is = ox_attribute(g, "value_ints"),
                             *fs = ox_attribute(g, "value_floats");
  if (t && t->t) {
    ox_value v;
    if (!ox_tensor_value(g, t->t, g->node->output[0], &v)) return false;
    if (v.number) v.data = NULL; /* weights are initializers; this is a number among numbers */
    return ox_give(g, 0, &v);
  }
  const int64_t n = is ? (int64_t)is->n_ints : fs ? (int64_t)fs->n_floats : 1;
  if (!i && !f && !is && !fs) return ox_fail(g, TF_E_MISSING, "a constant without numbers");
  if (n > OX_NUMBERS) return ox_fail(g, TF_E_LIMIT, "a list of more than %d numbers", OX_NUMBERS);
  if (n == 0)
    return ox_give(g, 0, &(ox_value){.tensor = -1, .name = g->node->output[0], .empty = true});
  double *x = room(g, n);
  for (int64_t k = 0; k < n && x; k++)
    x[k] = is ? (double)is->ints[k] : fs ? (double)fs->floats[k] : i ? (double)i->i : (double)f->f;
  return x && give(g, is || fs, &n, x, i || is ? OX_T_INT64 : OX_T_FLOAT);
}

static bool of_shape(ox_net *g) {
  const int64_t *shape;
  int64_t rank, n = 1;
  if (!ox_numbers(g, 0, &shape, &rank)) return false;
  if (rank > OX_RANK) return ox_fail(g, TF_E_LIMIT, "more than %d axes", OX_RANK);
  for (int64_t k = 0; k < rank; k++)
    if (shape[k] < 0 || !tf_mul(n, shape[k], &n) || n > OX_FOLDED)
      return ox_fail(g, TF_E_LIMIT, "a constant of less than no element, or of more than %d",
                     OX_FOLDED);
  const Onnx__AttributeProto *a = ox_attribute(g, "value");
  ox_value one = {.type = OX_T_FLOAT};
  if (a && a->t && !ox_tensor_value(g, a->t, g->node->output[0], &one)) return false;
  if (n == 0)
    return ox_give(
        g, 0,
        &(ox_value){.tensor = -1, .name = g->node->output[0], .empty = true, .type = one.type});
  double *x = ox_numbers_room(g, n);
  for (int64_t k = 0; k < n && x; k++)
    x[k] = one.number ? one.number[0] : 0;
  return x ? give(g, (int)rank, shape, x, one.type) : too_many(g);
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
  return x && give(g, 1, &n, x, OX_T_INT64);
}

static bool size_of(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  double *x = v ? room(g, 1) : NULL;
  if (x) x[0] = (double)ox_size(v);
  return x && give(g, 0, NULL, x, OX_T_INT64);
}

static bool range(ox_net *g) {
  const double from = known(g, 0)->number[0], to = known(g, 1)->number[0],
               by = known(g, 2)->number[0];
  const double many = ceil((to - from) / by);
  if (!(many >= 1 && many <= OX_FOLDED))
    return ox_fail(g, TF_E_LIMIT, "a range of no number, or of more than %d", OX_FOLDED);
  const int64_t n = (int64_t)many;
  double *x = ox_numbers_room(g, n);
  for (int64_t k = 0; k < n && x; k++)
    x[k] = from + (double)k * by;
  return x ? give(g, 1, &n, x, known(g, 0)->type) : too_many(g);
}

/* Of whole numbers, as their bits are; of what a double does not hold exactly the caller has
 * refused it. */
static double by_bits(char how, double a, double b) {
  const int64_t x = (int64_t)a, y = (int64_t)b;
  return (double)(how == '&' ? x & y : how == '|' ? x | y : x ^ y);
}

/* ---- element by element --------------------------------------------------------------------- */

/* clang-format off */
#define SUMS(X) /* name in ONNX, number of inputs, value; whole: of integers */ \
  X(Add, 2, x[0] + x[1]) X(Sub, 2, x[0] - x[1]) X(Mul, 2, x[0] * x[1])                      \
  X(Div, 2, whole ? trunc(x[0] / x[1]) : x[0] / x[1]) X(Pow, 2, pow(x[0], x[1]))                \
  X(Max, 2, fmax(x[0], x[1])) X(Min, 2, fmin(x[0], x[1]))                                       \
  X(Mod, 2, x[0] - x[1] * floor(x[0] / x[1])) X(Neg, 1, -x[0]) X(Abs, 1, fabs(x[0]))        \
  X(Sign, 1, (x[0] > 0) - (x[0] < 0)) X(Floor, 1, floor(x[0])) X(Ceil, 1, ceil(x[0]))       \
  X(Round, 1, nearbyint(x[0])) X(Where, 3, x[0] != 0 ? x[1] : x[2])                             \
  X(Equal, 2, x[0] == x[1]) X(Less, 2, x[0] < x[1]) X(LessOrEqual, 2, x[0] <= x[1])            \
  X(Greater, 2, x[0] > x[1]) X(GreaterOrEqual, 2, x[0] >= x[1]) X(Not, 1, x[0] == 0)           \
  X(And, 2, x[0] != 0 && x[1] != 0) X(Or, 2, x[0] != 0 || x[1] != 0)                              \
  X(Xor, 2, (x[0] != 0) != (x[1] != 0)) X(IsNaN, 1, isnan(x[0]) != 0)                             \
  X(Sqrt, 1, sqrt(x[0])) X(Exp, 1, exp(x[0])) X(Log, 1, log(x[0])) X(Sin, 1, sin(x[0]))     \
  X(Cos, 1, cos(x[0])) X(Tan, 1, tan(x[0])) X(Tanh, 1, tanh(x[0])) X(Erf, 1, erf(x[0]))     \
  X(Reciprocal, 1, 1 / x[0]) X(Sigmoid, 1, 1 / (1 + exp(-x[0])))                                    \
  X(BitwiseAnd, 2, by_bits('&', x[0], x[1])) X(BitwiseOr, 2, by_bits('|', x[0], x[1]))         \
  X(BitwiseXor, 2, by_bits('^', x[0], x[1])) X(BitwiseNot, 1, -1 - x[0])                           \
  X(BitShift, 2, x[0]) /* shifted */                                                               \
  X(Sinh, 1, sinh(x[0])) X(Cosh, 1, cosh(x[0])) X(Asinh, 1, asinh(x[0])) X(Acosh, 1, acosh(x[0])) \
  X(Atanh, 1, atanh(x[0])) X(Asin, 1, asin(x[0])) X(Acos, 1, acos(x[0])) X(Atan, 1, atan(x[0]))
/* clang-format on */

typedef enum {
#define X(name, n, value) name##_of,
  SUMS(X)
#undef X
      CAST
} sum;
static const struct {
  const char *type;
  sum what;
  int n;
} sums[] = {
#define X(name, n, value) {#name, name##_of, n},
    SUMS(X)
#undef X
        {"Cast", CAST, 1},
    {"CastLike", CAST, 1},
    {NULL, CAST, 0},
};

static double compute(sum what, const double *x, bool whole) {
  switch (what) {
#define X(name, n, value)                                                                          \
  case name##_of: return value;
    SUMS(X)
#undef X
  case CAST: return x[0];
  }
  return NAN;
}

/* The offset, in an operand that is broadcast to `shape`, of element `at` of the result. */
static int64_t broadcast_offset(const ox_value *v, int rank, const int64_t *shape, int64_t at) {
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
        return ox_fail(g, TF_E_SHAPE, "axes of %lld and %lld elements", (long long)shape[k],
                       (long long)extent);
      if (extent > 1) shape[k] = extent;
    }
  }
  return true;
}

/* The type that a Cast makes of its input; 0: none. */
int ox_cast_type(ox_net *g) {
  if (!strcmp(g->node->op_type, "Cast")) return (int)ox_int(g, "to", 0);
  const ox_value *like = g->node->n_input > 1 ? ox_find(g, g->node->input[1]) : NULL;
  return like ? like->type : 0;
}

/* Whole numbers stay in their type; those of Cast, which cuts them, are rounded to it. */
static bool fit(ox_net *g, double *x, int64_t n, int type) {
  bool ok = true;
  for (int64_t i = 0; i < n && ok; i++)
    x[i] = ox_as_type(x[i], type, &ok);
  return ok || ox_fail(g, TF_E_RANGE, "a number that is none of type %s", ox_type_name(type));
}

/* x shifted by n bits; by more than its type has, or by less than none, nothing of it is left but
 * its sign. */
static double shifted(double x, double n, int bits, bool right) {
  const bool out = n < 0 || n >= bits;
  if (out) return right && x < 0 ? -1 : 0;
  return right ? floor(ldexp(x, -(int)n)) : ldexp(x, (int)n);
}

/* Bits are those of numbers that a double holds exactly. */
static bool check_bits(ox_net *g, const double *x, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (fabs(x[i]) > 0x1p53) return ox_fail(g, TF_E_RANGE, "bits of a number beyond 2^53");
  return true;
}

static bool by_element(ox_net *g, int row, bool *done) {
  const int n = sums[row].n;
  const sum what = sums[row].what;
  const ox_value *v[3];
  int rank;
  int64_t shape[AXES], all = 1;
  const bool cut =
      what == Mod_of && ox_int(g, "fmod", 0); /* the sign of what is divided, not of the divisor */
  v[0] = known(g, 0);
  bool is_place = v[0]->place;
  for (int i = 1; i < n; i++) {
    v[i] = known(g, (size_t)i);
    is_place |= v[i]->place;
  }
  if (is_place && what != CAST) return true; /* a coordinate is an index, not a table */
  const bool whole = ox_is_integer(v[0]->type);
  const int type = ox_result_type(g, what == CAST ? ox_cast_type(g) : 0);
  if (what == CAST && type != OX_T_BOOL && ox_type_kind_of(type) != OX_FLOAT_KIND &&
      !ox_is_integer(type))
    return true;
  if (!broadcast(g, v, n, &rank, shape) || (n == 2 && !ox_check_axis(g, v[0], v[1]))) return false;
  for (int k = 0; k < rank; k++)
    if (!tf_mul(all, shape[k], &all)) return true;
  const char *way = what == BitShift_of ? ox_text(g, "direction", "") : "";
  const bool right = !strcmp(way, "RIGHT"), bits = !strncmp(g->node->op_type, "Bit", 3);
  if (what == BitShift_of && !right && strcmp(way, "LEFT") != 0)
    return ox_fail(g, TF_E_NAME, "direction '%.40s'", way);
  for (int i = 0; i < n && bits; i++)
    if (!ox_is_integer(v[i]->type) || !check_bits(g, v[i]->number, ox_size(v[i]))) return false;
  double *x = ox_numbers_room(g, all), of[3] = {0};
  if (!x) return true;
  for (int64_t at = 0; at < all; at++) {
    for (int i = 0; i < n; i++)
      of[i] = v[i]->number[broadcast_offset(v[i], rank, shape, at)];
    x[at] = cut                   ? fmod(of[0], of[1])
            : what == BitShift_of ? shifted(of[0], of[1], ox_type_bits(type), right)
                                  : compute(what, of, whole);
  }
  if (bits && ox_type_bits(type) > 53 && !check_bits(g, x, all)) return false;
  if ((what == CAST || ox_is_integer(type)) && !fit(g, x, all, type)) return false;
  *done = true;
  return give(g, rank, shape, x, type);
}

/* ---- which ---------------------------------------------------------------------------------- */

bool ox_folds(const char *type) {
  static const char *const made[] = {"Constant", "ConstantOfShape", "Shape", "Size", "Range"};
  for (size_t i = 0; i < sizeof made / sizeof *made; i++)
    if (!strcmp(type, made[i])) return true;
  for (int i = 0; sums[i].type; i++)
    if (!strcmp(type, sums[i].type)) return true;
  return ox_moves_numbers(type);
}

bool ox_known(ox_net *g, bool *done) {
  const char *type = g->node->op_type;
  *done = true;
  if (!strcmp(type, "Constant")) return constant(g);
  if (!strcmp(type, "ConstantOfShape")) return of_shape(g);
  if (!strcmp(type, "Shape")) return shape_of(g);
  if (!strcmp(type, "Size")) return size_of(g);
  if (!strcmp(type, "Range") && known(g, 0) && known(g, 1) && known(g, 2)) return range(g);
  *done = false;
  for (int i = 0; sums[i].type; i++) {
    bool all = !strcmp(type, sums[i].type) &&
               (sums[i].what == CAST || g->node->n_input == (size_t)sums[i].n);
    for (int k = 0; k < sums[i].n && all; k++)
      all = known(g, (size_t)k) != NULL;
    if (all) return by_element(g, i, done);
  }
  return ox_fold(g, done);
}
