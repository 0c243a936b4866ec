/* Nodes that choose by data: places of maxima, elements at places that are data, running sums,
 * losses.  A place is chosen by comparing it with every coordinate, as indices are affine;
 * what the losses read of a class is a sum with one term. */
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

/* Each sequence's first elements, as many as it has, backwards. */
static bool reverse_sequence(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  int time, batch;
  if (!v || !ox_axis_at(g, ox_int(g, "time_axis", 0), v->rank, &time) ||
      !ox_axis_at(g, ox_int(g, "batch_axis", 1), v->rank, &batch))
    return false;
  if (time == batch || v->rank == OX_RANK)
    return ox_fail(g, TF_E_RANGE, "time along the axis of the batch");
  const int64_t n = ox_extent(v, time);
  const bool whole = ox_is_integer(v->type);
  const char *lengths = ox_ones(g, v->rank, batch, ox_extent(v, batch));
  return ox_run(g, "t = Reshape({%lld}, %s)", (long long)n, ox_ones(g, v->rank, time, n)) &&
         ox_run(g, "n = Reshape($1, %s)", lengths) && ox_run(g, "in = Less(t, n)") &&
         ox_run(g, "last = Sub(n, 1)") && ox_run(g, "back = Sub(last, t)") &&
         ox_run(g, "from = Where(in, back, t)") &&
         ox_run(g, "f = Unsqueeze(from, [%d])", time + 1) &&
         ox_run(g, "x = Unsqueeze($0, [%d])", time) &&
         ox_run(g, "s = Reshape({%lld}, %s)", (long long)n, ox_ones(g, v->rank + 1, time + 1, n)) &&
         ox_run(g, "hit = Equal(f, s)") &&
         ox_run(g, "of = Where(hit, x, %s)", whole ? "-inf" : "0.0") &&
         ox_run(g, "@0 = %s(of, [%d]) keepdims=0", whole ? "ReduceMax" : "ReduceSum", time + 1);
}

/* A cache into which each sequence writes from a place of its own on. */
static bool tensor_scatter(ox_net *g) {
  const ox_value *v = ox_input(g, 0), *u = ox_input(g, 1);
  const char *mode = ox_text(g, "mode", "linear");
  const bool around = !strcmp(mode, "circular");
  int axis;
  if (!v || !u || !ox_axis_at(g, ox_int(g, "axis", -2), v->rank, &axis)) return false;
  if (!around && strcmp(mode, "linear") != 0)
    return ox_fail(g, TF_E_NAME, "mode '%.40s'; known: linear, circular", mode);
  if (axis == 0 || u->rank != v->rank || v->rank == OX_RANK)
    return ox_fail(g, TF_E_RANK, "updates of %d axes in %d", u->rank, v->rank);
  const int64_t n = ox_extent(v, axis), many = ox_extent(u, axis);
  const int rank = v->rank + 1;
  if (!ox_run(g, "i = Reshape({%lld}, %s)", (long long)many, ox_ones(g, rank, axis, many)) ||
      !ox_run(g, "s = Reshape({%lld}, %s)", (long long)n, ox_ones(g, rank, axis + 1, n)) ||
      !(ox_has(g, 2) ? ox_run(g, "to = Reshape($2, %s)", ox_ones(g, rank, 0, ox_extent(v, 0)))
                     : ox_run(g, "to = Identity([0])")) ||
      !ox_run(g, "place = Add(to, i)") || !ox_run(g, "same = Equal(place, s)"))
    return false;
  if (around ? !ox_run(g, "turn = Sub(place, %lld)", (long long)n) ||
                   !ox_run(g, "again = Equal(turn, s)") || !ox_run(g, "hit = Or(same, again)")
             : !ox_run(g, "hit = Identity(same)"))
    return false;
  return ox_run(g, "u = Unsqueeze($1, [%d])", axis + 1) && ox_run(g, "new = Where(hit, u, 0.0)") &&
         ox_run(g, "put = ReduceSum(new, [%d]) keepdims=0", axis) &&
         ox_run(g, "one = Where(hit, 1.0, 0.0)") &&
         ox_run(g, "times = ReduceMax(one, [%d]) keepdims=0", axis) &&
         ox_run(g, "is = Less(0.0, times)") && ox_run(g, "@0 = Where(is, put, $0)");
}

/* ---- running sums --------------------------------------------------------------------------- */

/* A sum, or a product; from the other end; of so many blocks within blocks. */
typedef struct {
  ox_net *g;
  bool sum, back;
  int deep;
} running;

/* How many elements are summed in one op; the most of a block; of what is not cut into any. */
enum { RUNNING_TERMS = 4, RUNNING_BLOCK = 16, RUNNING_SHORT = 64 };

static const char *running_part(const running *r, const char *what, int64_t nth) {
  char name[60];
  snprintf(name, sizeof name, "%s.%d.%lld", what, r->deep, (long long)nth);
  return ox_part(r->g, name);
}

static ox_expr *joined(const running *r, ox_expr *a, ox_expr *b) {
  return a && b ? ox_call(r->g, r->sum ? "+" : "*", a, b, NULL) : a ? a : b;
}

/* The axes of an op on all of v's elements, which also has the cuts of `more`: another of the same
 * axes but for one, NULL if none. */
static bool open_running(const running *r, const ox_value *v, const ox_value *more, int without,
                         ox_axis *axis, const ox_axis **at) {
  ox_begin(r->g);
  for (int k = 0; k < v->rank; k++) {
    axis[k] = (ox_axis){0};
    if (!ox_join(r->g, &axis[k], v, k) ||
        (more && k != without && !ox_join(r->g, &axis[k], more, k - (k > without))) ||
        !ox_open(r->g, &axis[k]))
      return false;
    at[k] = &axis[k];
  }
  return true;
}

/* The element so many before the op's along an axis of one factor; where there is none, what adds
 * nothing. */
static ox_expr *shifted(const running *r, const ox_value *v, int axis, int64_t by,
                        const ox_axis *const *at) {
  ox_net *g = r->g;
  ox_value there = *v;
  const int64_t n = ox_extent(v, axis);
  for (int k = 0; k < OX_RANK && v->n[axis]; k++)
    there.origin[k] += (r->back ? by : -by) * ox_factors(v, axis)->step[k];
  ox_expr *e = ox_read(g, &there, at);
  if (!e || !by) return e;
  ox_tensor *t = &g->tensor[e->kind == OX_READ ? e->tensor : v->tensor];
  for (int k = 0; k < t->rank; k++) {
    int64_t low = there.origin[k], high = low;
    for (int i = 0; i < there.n_factors; i++) {
      const int64_t far = there.f[i].step[k] * (there.f[i].extent - 1);
      *(far < 0 ? &low : &high) += far;
    }
    ox_pad_rank(t, k, -low, high - t->shape[k] + 1);
  }
  ox_index place = {0};
  ox_add_term(&place, at[axis], 1, 1);
  ox_expr *here = ox_index_value(g, &place),
          *in = r->back ? ox_call(g, "<=", here, ox_number(g, (double)(n - 1 - by)), NULL)
                        : ox_call(g, "<=", ox_number(g, (double)by), here, NULL);
  return ox_call(g, "select", in, e, ox_number(g, r->sum ? 0 : 1));
}

/* Running sums of a short axis: of the last 4 elements, of the last 16 from those, and so on. */
static bool run_short(const running *r, ox_value *v, int axis, bool without) {
  const int64_t n = ox_extent(v, axis);
  for (int64_t step = 1; step == 1 || step < n; step *= RUNNING_TERMS) {
    ox_axis axes[OX_RANK];
    const ox_axis *at[OX_RANK];
    const int64_t first = step == 1 && without;
    if (!open_running(r, v, NULL, 0, axes, at)) return false;
    ox_expr *e = shifted(r, v, axis, first, at);
    for (int64_t k = 1; e && k < RUNNING_TERMS && (first + k) * step < n; k++) {
      ox_expr *more = shifted(r, v, axis, (first + k) * step, at);
      e = more ? joined(r, e, more) : NULL;
    }
    if (!ox_make(r->g, running_part(r, "last", step), "=", e, at, v->rank, v)) return false;
  }
  return true;
}

/* The same in one op, of each all up to it: where they are few, or no block divides them. */
static bool run_few(const running *r, ox_value *v, int axis, bool without) {
  ox_net *g = r->g;
  ox_axis axes[OX_RANK], from = {0};
  const ox_axis *at[OX_RANK], *of[OX_RANK];
  ox_index here = {0}, there = {0};
  if (!open_running(r, v, NULL, 0, axes, at) || !ox_join(g, &from, v, axis) || !ox_open(g, &from))
    return false;
  memcpy(of, at, (size_t)v->rank * sizeof *of);
  of[axis] = &from;
  ox_add_term(r->back ? &there : &here, at[axis], 1, 1);
  ox_add_term(r->back ? &here : &there, &from, 1, 1);
  ox_expr *in = ox_call(g, without ? "<" : "<=", ox_index_value(g, &there),
                        ox_index_value(g, &here), NULL),
          *e = ox_call(g, "select", in, ox_read(g, v, of), ox_number(g, r->sum ? 0 : 1));
  return ox_make(g, running_part(r, "before", 0), r->sum ? "+=" : "*=", e, at, v->rank, v);
}

/* All of each block. */
static bool sum_blocks(const running *r, ox_value *v, int axis) {
  ox_axis axes[OX_RANK];
  const ox_axis *at[OX_RANK];
  if (!open_running(r, v, NULL, 0, axes, at)) return false;
  ox_expr *e = ox_read(r->g, v, at);
  memmove(at + axis, at + axis + 1, (size_t)(v->rank - axis - 1) * sizeof *at);
  return ox_make(r->g, running_part(r, "block", 0), r->sum ? "+=" : "*=", e, at, v->rank - 1, v);
}

/* The block into which an axis is cut: the axis itself where it is short, or no block fits. */
static int64_t running_block(int64_t n) {
  for (int64_t b = RUNNING_BLOCK; b >= RUNNING_TERMS && n > RUNNING_SHORT; b--)
    if (n % b == 0) return b;
  return n;
}

/* Running sums within blocks, and before each block the running sum of the blocks before it: linear
 * in the axis's extent, and in lanes, as no sum waits for its neighbour. */
static bool run_blocks(running *r, ox_value *v, int axis, bool without) {
  ox_net *g = r->g;
  const int64_t n = ox_extent(v, axis), block = running_block(n);
  const int rank = v->rank;
  int64_t apart[OX_RANK], whole[OX_RANK], rest[OX_RANK];
  const bool few = r->deep || block > RUNNING_SHORT; /* chains of many ops take long to plan */
  if (block == n) return few ? run_few(r, v, axis, without) : run_short(r, v, axis, without);
  for (int k = 0; k < rank; k++)
    rest[k] = whole[k] = apart[k + (k > axis)] = ox_extent(v, k);
  rest[axis] = apart[axis] = n / block, apart[axis + 1] = block;
  ox_value in, all, out = *v;
  if (!ox_reshape(g, &out, rank + 1, apart)) return false;
  in = all = out;
  if (!(few ? run_few(r, &in, axis + 1, without) : run_short(r, &in, axis + 1, without)))
    return false;
  if (without) {
    if (!sum_blocks(r, &all, axis + 1)) return false;
  } else {
    all = in;
    if (!ox_slice(g, &all, axis + 1, r->back ? 0 : block - 1, 1, 1) ||
        !ox_reshape(g, &all, rank, rest))
      return false;
  }
  r->deep++;
  if (!run_blocks(r, &all, axis, true)) return false;
  ox_axis axes[OX_RANK];
  const ox_axis *at[OX_RANK], *of[OX_RANK];
  if (!open_running(r, &in, &all, axis + 1, axes, at)) return false;
  for (int k = 0; k < rank; k++)
    of[k] = at[k + (k > axis)];
  ox_expr *e = joined(r, ox_read(g, &in, at), ox_read(g, &all, of));
  r->deep--;
  return ox_make(g, running_part(r, "whole", 0), "=", e, at, rank + 1, v) &&
         ox_reshape(g, v, rank, whole);
}

static bool run_along(ox_net *g) {
  ox_value v;
  const int64_t *which;
  int64_t n, shape[OX_RANK];
  int axis;
  running r = {g, !strcmp(g->node->op_type, "CumSum"), ox_int(g, "reverse", 0) != 0, 0};
  if (!ox_placed(g, 0, &v) || !ox_numbers(g, 1, &which, &n)) return false;
  if (n != 1) return ox_fail(g, TF_E_SHAPE, "%lld axes; one is needed", (long long)n);
  if (!ox_axis_at(g, which[0], v.rank, &axis)) return false;
  if (v.rank == OX_RANK) return ox_fail(g, TF_E_LIMIT, "more than %d axes", OX_RANK - 1);
  for (int k = 0; k < v.rank; k++)
    shape[k] = ox_extent(&v, k);
  return (v.n[axis] <= 1 || ox_recast(g, &v, v.rank, shape)) &&
         run_blocks(&r, &v, axis, ox_int(g, "exclusive", 0) != 0) && ox_give(g, 0, &v);
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
    {"ReverseSequence", reverse_sequence, NULL},
    {"TensorScatter", tensor_scatter, NULL},
    {"CumSum", run_along, NULL},
    {"CumProd", run_along, NULL},
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
