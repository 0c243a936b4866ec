/* Nodes that choose by data: places of maxima, elements at places that are data, running sums,
 * losses.  A place is chosen by comparing it with every coordinate, as indices are affine; what the
 * losses read of a class is a sum with one term. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

/* The value's axis that an attribute says, and its extent. */
static const ox_value *along(ox_net *g, int64_t otherwise, int *axis, int64_t *n) {
  const ox_value *v = ox_input(g, 0);
  if (!v || !ox_axis_at(g, ox_int(g, "axis", otherwise), v->rank, axis)) return NULL;
  *n = ox_extent(v, *axis);
  return v;
}

/* Coordinates along an axis of a value of so many axes, under that name. */
static bool places(ox_net *g, const char *name, int rank, int axis, int64_t n) {
  return ox_run(g, "%s = Reshape({%lld}, %s)", name, (long long)n, ox_ones(g, rank, axis, n));
}

/* Indices of an axis of n elements, counted from the front. */
static bool indices(ox_net *g, size_t k, const char *name, int64_t n) {
  return ox_run(g, "%s.low = Less($%zu, 0)", name, k) &&
         ox_run(g, "%s.up = Add($%zu, %lld)", name, k, (long long)n) &&
         ox_run(g, "%s = Where(%s.low, %s.up, $%zu)", name, name, name, k);
}

/* ---- places of maxima ----------------------------------------------------------------------- */

static bool arg_most(ox_net *g) {
  int axis;
  int64_t n;
  const ox_value *v = along(g, 0, &axis, &n);
  const bool least = !strcmp(g->node->op_type, "ArgMin"),
             last = ox_int(g, "select_last_index", 0) != 0;
  if (!v) return false;
  return ox_run(g, "most = %s($0, [%d])", least ? "ReduceMin" : "ReduceMax", axis) &&
         ox_run(g, "hit = Equal($0, most)") && places(g, "at", v->rank, axis, n) &&
         ox_run(g, "of = Where(hit, at, %lld)", last ? -1LL : (long long)n) &&
         ox_run(g, "@0 = %s(of, [%d]) keepdims=%d", last ? "ReduceMax" : "ReduceMin", axis,
                ox_int(g, "keepdims", 1) != 0);
}

/* 1 at the first of the largest elements.  Before opset 13 all axes from `axis` on are one. */
static bool hardmax(ox_net *g) {
  int axis;
  int64_t n;
  const bool to_end = g->opset < 13;
  const ox_value *v = along(g, to_end ? 1 : -1, &axis, &n);
  if (!v) return false;
  if (to_end && axis != v->rank - 1)
    return ox_fail(g, TF_E_NAME, "before opset 13 along another axis than the last is not known");
  return ox_run(g, "most = ReduceMax($0, [%d])", axis) && ox_run(g, "hit = Equal($0, most)") &&
         places(g, "at", v->rank, axis, n) &&
         ox_run(g, "of = Where(hit, at, %lld)", (long long)n) &&
         ox_run(g, "first = ReduceMin(of, [%d])", axis) && ox_run(g, "one = Equal(at, first)") &&
         ox_run(g, "@0 = Where(one, 1.0, 0.0)");
}

/* An element's place in the order is the number of those that come before it. */
static bool top(ox_net *g) {
  int axis;
  int64_t n, n_many = 1;
  const int64_t *many = NULL, own = ox_int(g, "k", 0);
  const ox_value *v = along(g, -1, &axis, &n);
  if (!v || (g->opset >= 10 && !ox_numbers(g, 1, &many, &n_many))) return false;
  const int64_t k = many ? many[0] : own;
  const int rank = v->rank;
  const bool least = !ox_int(g, "largest", 1);
  if (n_many != 1 || k < 1 || k > n)
    return ox_fail(g, TF_E_RANGE, "%lld of %lld elements", (long long)k, (long long)n);
  const char *sum = ox_is_integer(v->type) ? "ReduceMax" : "ReduceSum",
             *none = ox_is_integer(v->type) ? "-inf" : "0.0";
  return ox_run(g, "x = Identity($0)") && ox_run(g, "a = Unsqueeze(x, [%d])", axis + 1) &&
         ox_run(g, "b = Unsqueeze(x, [%d])", axis) && places(g, "i", rank + 1, axis, n) &&
         places(g, "j", rank + 1, axis + 1, n) &&
         ox_run(g, "first = %s(b, a)", least ? "Less" : "Greater") &&
         ox_run(g, "same = Equal(b, a)") && ox_run(g, "front = Less(j, i)") &&
         ox_run(g, "also = And(same, front)") && ox_run(g, "before = Or(first, also)") &&
         ox_run(g, "one = Where(before, 1.0, 0.0)") &&
         ox_run(g, "order = ReduceSum(one, [%d]) keepdims=0", axis + 1) &&
         ox_run(g, "of = Unsqueeze(order, [%d])", axis) && places(g, "t", rank + 1, axis, k) &&
         ox_run(g, "hit = Equal(of, t)") && ox_run(g, "y = Where(hit, b, %s)", none) &&
         ox_run(g, "@0 = %s(y, [%d]) keepdims=0", sum, axis + 1) &&
         (!ox_is_wanted(g, 1) || (ox_run(g, "z = Where(hit, j, -1)") &&
                                  ox_run(g, "@1 = ReduceMax(z, [%d]) keepdims=0", axis + 1)));
}

/* ---- elements at places --------------------------------------------------------------------- */

/* The one element that is hit along an axis; integers by a maximum, which no type wraps. */
static bool the_one(ox_net *g, const char *to, const char *hit, const char *of, int axis) {
  const ox_value *v = *of == '$' ? ox_input(g, (size_t)(of[1] - '0')) : ox_made(g, of);
  if (!v) return false;
  const bool whole = ox_is_integer(v->type);
  return ox_run(g, "%s.of = Where(%s, %s, %s)", to, hit, of, whole ? "-inf" : "0.0") &&
         ox_run(g, "%s = %s(%s.of, [%d]) keepdims=0", to, whole ? "ReduceMax" : "ReduceSum", to,
                axis);
}

/* Slices the value to the extents of another along all axes but one. */
static bool cut_to(ox_net *g, const char *to, const char *from, const ox_value *v,
                   const ox_value *like, int axis) {
  int64_t zero[OX_RANK] = {0}, end[OX_RANK], axes[OX_RANK];
  int n = 0;
  for (int k = 0; k < v->rank; k++) {
    if (k == axis || ox_extent(v, k) == ox_extent(like, k)) continue;
    if (ox_extent(like, k) > ox_extent(v, k))
      return ox_fail(g, TF_E_SHAPE, "indices of %lld elements along axis %d of %lld",
                     (long long)ox_extent(like, k), k, (long long)ox_extent(v, k));
    end[n] = ox_extent(like, k), axes[n++] = k;
  }
  if (!n) return ox_run(g, "%s = Identity(%s)", to, from);
  return ox_run(g, "%s = Slice(%s, %s, %s, %s)", to, from, ox_list(g, n, zero), ox_list(g, n, end),
                ox_list(g, n, axes));
}

static bool gather_elements(ox_net *g) {
  int axis;
  int64_t n;
  const ox_value *v = along(g, 0, &axis, &n), *which = ox_input(g, 1);
  if (!v || !which) return false;
  const int rank = v->rank;
  if (which->rank != rank || rank == OX_RANK)
    return ox_fail(g, TF_E_RANK, "indices of %d axes in %d", which->rank, rank);
  return cut_to(g, "x", "$0", v, which, axis) && indices(g, 1, "i", n) &&
         ox_run(g, "xs = Unsqueeze(x, [%d])", axis) &&
         ox_run(g, "is = Unsqueeze(i, [%d])", axis + 1) && places(g, "at", rank + 1, axis + 1, n) &&
         ox_run(g, "hit = Equal(is, at)") && the_one(g, "y", "hit", "xs", axis + 1) &&
         ox_run(g, "@0 = Identity(y)");
}

/* What several updates of an element come to, and how it joins what was there. */
static bool scattered(ox_net *g, const char *how, int axis, int64_t many, int rank) {
  const bool add = !strcmp(how, "add"), mul = !strcmp(how, "mul"), max = !strcmp(how, "max"),
             min = !strcmp(how, "min");
  const bool none = !strcmp(how, "none");
  if (!add && !mul && !max && !min && !none) return ox_fail(g, TF_E_NAME, "reduction '%.40s'", how);
  if (!none)
    return ox_run(g, "some = Where(hit, us, %s)",
                  add   ? "0.0"
                  : mul ? "1.0"
                  : max ? "-inf"
                        : "inf") &&
           ox_run(g, "all = %s(some, [%d]) keepdims=0",
                  add   ? "ReduceSum"
                  : mul ? "ReduceProd"
                  : max ? "ReduceMax"
                        : "ReduceMin",
                  axis) &&
           ox_run(g, "new = %s(x, all)",
                  add   ? "Add"
                  : mul ? "Mul"
                  : max ? "Max"
                        : "Min");
  /* of several the last one wins */
  return places(g, "turn", rank + 1, axis, many) && ox_run(g, "turns = Where(hit, turn, -1)") &&
         ox_run(g, "last = ReduceMax(turns, [%d])", axis) &&
         ox_run(g, "wins = Equal(turn, last)") && the_one(g, "put", "wins", "us", axis) &&
         ox_run(g, "is = Squeeze(last, [%d])", axis) && ox_run(g, "old = Less(is, 0)") &&
         ox_run(g, "new = Where(old, x, put)");
}

static bool scatter_elements(ox_net *g) {
  int axis;
  int64_t n;
  const ox_value *v = along(g, 0, &axis, &n), *which = ox_input(g, 1), *what = ox_input(g, 2);
  if (!v || !which || !what || !ox_same_type(g, 0, 2)) return false;
  const int rank = v->rank;
  if (which->rank != rank || what->rank != rank || rank == OX_RANK)
    return ox_fail(g, TF_E_RANK, "indices of %d axes in %d", which->rank, rank);
  int64_t pads[2 * OX_RANK] = {0};
  bool padded = false;
  for (int k = 0; k < rank; k++) {
    if (ox_extent(what, k) != ox_extent(which, k) ||
        (k != axis && ox_extent(which, k) > ox_extent(v, k)))
      return ox_fail(g, TF_E_SHAPE, "indices and updates of other extents along axis %d", k);
    if (k != axis)
      pads[rank + k] = ox_extent(v, k) - ox_extent(which, k), padded |= pads[rank + k] > 0;
  }
  const int64_t many = ox_extent(which, axis);
  const char *more = ox_list(g, 2 * rank, pads);
  return indices(g, 1, "i", n) &&
         (padded ? ox_run(g, "ip = Pad(i, %s, -1) mode=constant", more) &&
                       ox_run(g, "up = Pad($2, %s) mode=constant", more)
                 : ox_run(g, "ip = Identity(i)") && ox_run(g, "up = Identity($2)")) &&
         ox_run(g, "x = Identity($0)") && ox_run(g, "us = Unsqueeze(up, [%d])", axis + 1) &&
         ox_run(g, "ii = Unsqueeze(ip, [%d])", axis + 1) &&
         places(g, "at", rank + 1, axis + 1, n) && ox_run(g, "hit = Equal(ii, at)") &&
         scattered(g, ox_text(g, "reduction", "none"), axis, many, rank) &&
         ox_run(g, "@0 = Identity(new)");
}

/* What flat indices name: of tuples of indices into the first axes, one number each. */
static bool flat_indices(ox_net *g, const int64_t *extent, int deep, int64_t many) {
  const int64_t shape[] = {many, deep};
  if (!ox_run(g, "tuples = Reshape($1, %s)", ox_list(g, 2, shape))) return false;
  int64_t stride = 1;
  for (int k = deep - 1; k >= 0; k--) {
    const int64_t n = extent[k];
    if (!ox_run(g, "c%d = Gather(tuples, %d) axis=1", k, k) ||
        !ox_run(g, "low%d = Less(c%d, 0)", k, k) ||
        !ox_run(g, "up%d = Add(c%d, %lld)", k, k, (long long)n) ||
        !ox_run(g, "at%d = Where(low%d, up%d, c%d)", k, k, k, k))
      return false;
    if (k == deep - 1 ? !ox_run(g, "sum%d = Identity(at%d)", k, k)
                      : !ox_run(g, "far%d = Mul(at%d, %lld)", k, k, (long long)stride) ||
                            !ox_run(g, "sum%d = Add(sum%d, far%d)", k, k + 1, k))
      return false;
    stride *= n;
  }
  return true;
}

/* Data as rows that tuples of indices name, a batch of them at a time. */
typedef struct {
  int deep, batch, rank;
  int64_t rows, inner, many, out[2 * OX_RANK];
} tuples;

static bool read_tuples(ox_net *g, tuples *t) {
  const ox_value *v = ox_input(g, 0), *which = ox_input(g, 1);
  if (!v || !which) return false;
  const int64_t deep = which->rank ? ox_extent(which, which->rank - 1) : 0;
  if (deep < 1 || deep > v->rank)
    return ox_fail(g, TF_E_RANK, "indices of %lld numbers in %d axes", (long long)deep, v->rank);
  *t = (tuples){.deep = (int)deep, .rows = 1, .inner = 1, .many = ox_size(which) / deep};
  for (int k = 0; k < which->rank - 1; k++)
    t->out[t->rank++] = ox_extent(which, k);
  for (int k = 0; k < v->rank; k++) {
    *(k < deep ? &t->rows : &t->inner) *= ox_extent(v, k);
    if (k >= deep) t->out[t->rank++] = ox_extent(v, k);
  }
  if (t->rank > OX_RANK || t->rows > OX_MOST_EXTENT)
    return ox_fail(g, TF_E_LIMIT, "too many axes or rows");
  return true;
}

/* hit: whether a tuple names a row; x: the rows. */
static bool hit_rows(ox_net *g, const tuples *t) {
  const ox_value *v = ox_input(g, 0);
  int64_t extent[OX_RANK];
  for (int k = 0; k < v->rank; k++)
    extent[k] = ox_extent(v, k);
  const int64_t rows[] = {t->rows, t->inner}, each[] = {t->many, 1, 1};
  return flat_indices(g, extent, t->deep, t->many) &&
         ox_run(g, "x = Reshape($0, %s)", ox_list(g, 2, rows)) &&
         ox_run(g, "row = Reshape(sum0, %s)", ox_list(g, 3, each)) &&
         places(g, "at", 3, 1, t->rows) && ox_run(g, "hit = Equal(row, at)");
}

static bool gather_tuples(ox_net *g) {
  tuples t;
  if (ox_int(g, "batch_dims", 0))
    return ox_fail(g, TF_E_NAME, "batch_dims other than 0 are not known");
  if (!read_tuples(g, &t) || !hit_rows(g, &t)) return false;
  return ox_run(g, "xs = Unsqueeze(x, [0])") && the_one(g, "y", "hit", "xs", 1) &&
         ox_run(g, "@0 = Reshape(y, %s)", ox_list(g, t.rank, t.out));
}

static bool scatter_tuples(ox_net *g) {
  tuples t;
  if (!ox_same_type(g, 0, 2) || !read_tuples(g, &t) || !hit_rows(g, &t)) return false;
  const ox_value *v = ox_input(g, 0), *what = ox_input(g, 2);
  int64_t shape[OX_RANK];
  const int64_t each[] = {t.many, 1, t.inner};
  if (!what || ox_size(what) != t.many * t.inner)
    return what ? ox_fail(g, TF_E_SHAPE, "updates of another number of elements") : false;
  for (int k = 0; k < v->rank; k++)
    shape[k] = ox_extent(v, k);
  return ox_run(g, "us = Reshape($2, %s)", ox_list(g, 3, each)) &&
         scattered(g, ox_text(g, "reduction", "none"), 0, t.many, 2) &&
         ox_run(g, "@0 = Reshape(new, %s)", ox_list(g, v->rank, shape));
}

static bool one_hot(ox_net *g) {
  const ox_value *v = ox_input(g, 0), *values = ox_input(g, 2);
  const int64_t *deep;
  int64_t n;
  int axis;
  if (!v || !values || !ox_numbers(g, 1, &deep, &n) ||
      !ox_axis_at(g, ox_int(g, "axis", -1), v->rank + 1, &axis))
    return false;
  if (n != 1 || deep[0] < 1 || ox_size(values) != 2 || v->rank == OX_RANK)
    return ox_fail(g, TF_E_SHAPE, "a depth below 1, or other values than two");
  return indices(g, 0, "i", deep[0]) && ox_run(g, "is = Unsqueeze(i, [%d])", axis) &&
         places(g, "at", v->rank + 1, axis, deep[0]) && ox_run(g, "hit = Equal(is, at)") &&
         ox_run(g, "off = Gather($2, 0) axis=0") && ox_run(g, "on = Gather($2, 1) axis=0") &&
         ox_run(g, "@0 = Where(hit, on, off)");
}

/* ---- running sums --------------------------------------------------------------------------- */

static bool running(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  const bool sum = !strcmp(g->node->op_type, "CumSum"), back = ox_int(g, "reverse", 0) != 0,
             without = ox_int(g, "exclusive", 0) != 0;
  const int64_t *which;
  int64_t n;
  int axis;
  if (!v || !ox_numbers(g, 1, &which, &n)) return false;
  if (n != 1) return ox_fail(g, TF_E_SHAPE, "%lld axes; one is needed", (long long)n);
  if (!ox_axis_at(g, which[0], v->rank, &axis)) return false;
  if (v->rank == OX_RANK) return ox_fail(g, TF_E_LIMIT, "more than %d axes", OX_RANK - 1);
  n = ox_extent(v, axis);
  return places(g, "i", v->rank + 1, axis, n) && places(g, "j", v->rank + 1, axis + 1, n) &&
         ox_run(g, "x = Unsqueeze($0, [%d])", axis) &&
         ox_run(g, "in = %s(%s)", without ? "Less" : "LessOrEqual", back ? "i, j" : "j, i") &&
         ox_run(g, "some = Where(in, x, %s)", sum ? "0.0" : "1.0") &&
         ox_run(g, "@0 = %s(some, [%d]) keepdims=0", sum ? "ReduceSum" : "ReduceProd", axis + 1);
}

/* ---- losses --------------------------------------------------------------------------------- */

/* The sum, or the mean by weight, of the losses. */
static bool reduce_loss(ox_net *g, const char *how, bool weighed) {
  if (!strcmp(how, "none")) return ox_run(g, "@0 = Identity(loss)");
  if (!strcmp(how, "sum")) return ox_run(g, "@0 = ReduceSum(loss) keepdims=0");
  if (strcmp(how, "mean") != 0)
    return ox_fail(g, TF_E_NAME, "reduction '%.40s'; known: none, sum, mean", how);
  if (!weighed) return ox_run(g, "@0 = ReduceMean(loss) keepdims=0");
  return ox_run(g, "all = ReduceSum(loss) keepdims=0") &&
         ox_run(g, "weights = ReduceSum(weight) keepdims=0") && ox_run(g, "@0 = Div(all, weights)");
}

/* The logarithm that the target's class has, times the class's weight; targets that are ignored
 * weigh nothing. */
static bool class_loss(ox_net *g) {
  const ox_value *v = ox_input(g, 0), *t = ox_input(g, 1);
  const bool given = ox_has(g, 2), ignores = ox_attribute(g, "ignore_index") != NULL;
  if (!v || !t) return false;
  const int rank = v->rank;
  if (rank < 2 || t->rank != rank - 1)
    return ox_fail(g, TF_E_RANK, "%d axes and targets of %d", rank, t->rank);
  for (int k = 0; k < rank; k++)
    if (k != 1 && ox_extent(v, k) != ox_extent(t, k - (k > 1)))
      return ox_fail(g, TF_E_SHAPE, "targets of other extents");
  const int64_t classes = ox_extent(v, 1);
  if (!ox_run(g, "ts = Unsqueeze($1, [1])") || !places(g, "class", rank, 1, classes) ||
      !ox_run(g, "hit = Equal(ts, class)") || !the_one(g, "value", "hit", "$0", 1) ||
      !ox_run(g, "minus = Neg(value)"))
    return false;
  if (given && (!ox_run(g, "w = Reshape($2, %s)", ox_ones(g, rank, 1, classes)) ||
                !the_one(g, "own", "hit", "w", 1)))
    return false;
  if (!given && !ox_run(g, "own = Identity(1.0)")) return false;
  if (ignores) {
    if (!ox_run(g, "out = Equal($1, %lld)", (long long)ox_int(g, "ignore_index", 0)) ||
        !ox_run(g, "weight = Where(out, 0.0, own)"))
      return false;
  } else if (!ox_run(g, "weight = Identity(own)")) {
    return false;
  }
  const bool weighed = given || ignores;
  if (!ox_run(g, weighed ? "loss = Mul(minus, weight)" : "loss = Identity(minus)")) return false;
  return reduce_loss(g, ox_text(g, "reduction", "mean"), weighed);
}

static bool cross_entropy(ox_net *g) {
  char ignored[60] = "";
  const char *how = ox_word(g, "reduction", "mean");
  if (!how) return false;
  if (ox_attribute(g, "ignore_index"))
    snprintf(ignored, sizeof ignored, "ignore_index=%lld", (long long)ox_int(g, "ignore_index", 0));
  return ox_run(g, "logs = LogSoftmax($0) axis=1") &&
         (!ox_is_wanted(g, 1) || ox_run(g, "@1 = Identity(logs)")) &&
         ox_run(g, "@0 = NegativeLogLikelihoodLoss(logs, $1, $2) reduction=%s %s", how, ignored);
}

const ox_kind ox_choices[] = {
    {"GatherND", gather_tuples, NULL},
    {"ScatterND", scatter_tuples, NULL},
    {"OneHot", one_hot, NULL},
    {"CumSum", running, NULL},
    {"CumProd", running, NULL},
    {"NegativeLogLikelihoodLoss", class_loss, NULL},
    {"SoftmaxCrossEntropyLoss", cross_entropy, NULL},
    {"ArgMax", arg_most, NULL},
    {"ArgMin", arg_most, NULL},
    {"Hardmax", hardmax, NULL},
    {"TopK", top, NULL},
    {"GatherElements", gather_elements, NULL},
    {"ScatterElements", scatter_elements, NULL},
    {"Scatter", scatter_elements, NULL},
    {NULL, NULL, NULL},
};
