/* Nodes that move elements: all except Concat and Pad become views, and what is composed of others.
 */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "model/import/onnx/onnx.h"

static bool identity(ox_net *g) {
  ox_value v;
  return ox_placed(g, 0, &v) && ox_give(g, 0, &v);
}

/* What a mask says that drops nothing. */
static bool keep_all(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  int64_t shape[OX_RANK];
  for (int k = 0; v && k < v->rank; k++)
    shape[k] = ox_extent(v, k);
  return v && ox_run(g, "zero = ConstantOfShape(%s)", ox_list(g, v->rank, shape)) &&
         ox_run(g, "@1 = Equal(zero, 0.0)");
}

/* Nothing in inference; in training it drops elements at random, whatever share of them. */
static bool dropout(ox_net *g) {
  const bool asked = ox_has(g, 2), old = g->opset < 7;
  const ox_value *mode = asked ? ox_input(g, 2) : NULL;
  if (asked && !(mode && mode->number))
    return mode && ox_fail(g, TF_E_OPEN, "a training_mode that is data");
  const ox_value *ratio = ox_has(g, 1) ? ox_input(g, 1) : NULL;
  const bool none = ratio && ratio->number && ratio->number[0] == 0; /* nothing is dropped */
  if ((mode && mode->number[0] != 0 && !none) || (old && !ox_int(g, "is_test", 0)))
    return ox_fail(g, TF_E_NAME,
                   old ? "training (is_test is 0) is not known" : "training_mode is not known");
  return identity(g) && (!ox_is_wanted(g, 1) || keep_all(g));
}

/* ---- shapes --------------------------------------------------------------------------------- */

/* Known constants stay known. */
static bool shaped(ox_net *g, ox_value *v, int rank, const int64_t *shape) {
  const double *number = v->number;
  if (!ox_reshape(g, v, rank, shape)) return false;
  v->number = number;
  return ox_give(g, 0, v);
}

static bool reshape(ox_net *g) {
  ox_value v;
  const int64_t *want;
  int64_t n, shape[OX_RANK], rest = 1, all;
  int open = -1;
  if (!ox_placed(g, 0, &v) || !ox_numbers(g, 1, &want, &n)) return false;
  if (n > OX_RANK) return ox_fail(g, TF_E_LIMIT, "more than %d axes", OX_RANK);
  for (int k = 0; k < n; k++) {
    shape[k] =
        want[k] == 0 && !ox_int(g, "allowzero", 0) && k < v.rank ? ox_extent(&v, k) : want[k];
    if (want[k] == -1 && open < 0)
      open = k;
    else if (shape[k] < 1 || !tf_mul(rest, shape[k], &rest))
      return ox_fail(g, TF_E_RANGE, "an axis of %lld elements", (long long)want[k]);
  }
  all = ox_size(&v);
  if (open >= 0) shape[open] = all / rest;
  if (rest * (open >= 0 ? shape[open] : 1) != all)
    return ox_fail(g, TF_E_SHAPE, "%lld elements do not fill the shape", (long long)all);
  return shaped(g, &v, (int)n, shape);
}

static bool flatten(ox_net *g) {
  ox_value v;
  int64_t axis = ox_int(g, "axis", 1), shape[2] = {1, 1};
  if (!ox_placed(g, 0, &v)) return false;
  axis = axis < 0 ? axis + v.rank : axis;
  if (axis < 0 || axis > v.rank)
    return ox_fail(g, TF_E_RANGE, "axis %lld of %d", (long long)axis, v.rank);
  for (int k = 0; k < v.rank; k++)
    shape[k >= axis] *= ox_extent(&v, k);
  return shaped(g, &v, 2, shape);
}

/* Axes from an attribute, or the second input; NULL with n 0: none. */
static bool axes_of(ox_net *g, const int64_t **axes, int64_t *n) {
  size_t have;
  *axes = ox_ints(g, "axes", &have);
  *n = (int64_t)have;
  return *axes || ox_numbers(g, 1, axes, n);
}

static bool squeeze(ox_net *g) {
  ox_value v;
  const int64_t *axes;
  int64_t n, shape[OX_RANK];
  bool gone[OX_RANK] = {false};
  int rank = 0, at;
  if (!ox_placed(g, 0, &v) || !axes_of(g, &axes, &n)) return false;
  for (int k = 0; k < v.rank; k++)
    gone[k] = !axes && ox_extent(&v, k) == 1;
  for (int64_t i = 0; i < n && axes; i++) {
    if (!ox_axis_at(g, axes[i], v.rank, &at)) return false;
    if (ox_extent(&v, at) != 1)
      return ox_fail(g, TF_E_SHAPE, "axis %d has %lld elements", at, (long long)ox_extent(&v, at));
    gone[at] = true;
  }
  for (int k = 0; k < v.rank; k++)
    if (!gone[k]) shape[rank++] = ox_extent(&v, k);
  return shaped(g, &v, rank, shape);
}

static bool unsqueeze(ox_net *g) {
  ox_value v;
  const int64_t *axes;
  int64_t n, shape[OX_RANK];
  bool new[OX_RANK] = {false};
  int at;
  if (!ox_placed(g, 0, &v) || !axes_of(g, &axes, &n)) return false;
  const int rank = v.rank + (int)n;
  if (rank > OX_RANK) return ox_fail(g, TF_E_LIMIT, "more than %d axes", OX_RANK);
  for (int64_t i = 0; i < n; i++) {
    if (!ox_axis_at(g, axes[i], rank, &at)) return false;
    if (new[at]) return ox_fail(g, TF_E_DUP, "axis %d twice", at);
    new[at] = true;
  }
  for (int k = 0, from = 0; k < rank; k++)
    shape[k] = new[k] ? 1 : ox_extent(&v, from++);
  return shaped(g, &v, rank, shape);
}

static bool transpose(ox_net *g) {
  ox_value v;
  size_t n;
  int axis[OX_RANK];
  bool seen[OX_RANK] = {false};
  const int64_t *perm = ox_ints(g, "perm", &n);
  if (!ox_placed(g, 0, &v)) return false;
  if (perm && n != (size_t)v.rank)
    return ox_fail(g, TF_E_SHAPE, "perm has %zu numbers for %d axes", n, v.rank);
  for (int k = 0; k < v.rank; k++) {
    axis[k] = perm ? (int)perm[k] : v.rank - 1 - k;
    if (perm && (perm[k] < 0 || perm[k] >= v.rank || seen[perm[k]]))
      return ox_fail(g, TF_E_RANGE, "perm has %lld", (long long)perm[k]);
    seen[axis[k]] = true;
  }
  ox_permute(&v, axis);
  return ox_give(g, 0, &v);
}

static bool expand(ox_net *g) {
  ox_value v;
  const int64_t *want;
  int64_t n, shape[OX_RANK];
  if (!ox_placed(g, 0, &v) || !ox_numbers(g, 1, &want, &n)) return false;
  if (n > OX_RANK) return ox_fail(g, TF_E_LIMIT, "more than %d axes", OX_RANK);
  const int rank = n > v.rank ? (int)n : v.rank;
  for (int k = 0; k < rank; k++) {
    const int i = k - (rank - (int)n), j = k - (rank - v.rank);
    const int64_t has = j < 0 ? 1 : ox_extent(&v, j);
    shape[k] = i < 0 || want[i] == 1 ? has : want[i];
    if (shape[k] < 1 || shape[k] > OX_MOST_EXTENT)
      return ox_fail(g, TF_E_RANGE, "an axis of %lld elements", (long long)shape[k]);
  }
  return ox_repeat(g, &v, rank, shape) && ox_give(g, 0, &v);
}

/* ---- parts ---------------------------------------------------------------------------------- */

/* What a Slice from `from` up to `to`, backwards if the step is negative, takes of an axis. */
static bool cut_axis(ox_net *g, int64_t all, int64_t from, int64_t to, int64_t step, ox_cuts *out,
                     int k) {
  const bool back = step < 0;
  if (!step) return ox_fail(g, TF_E_RANGE, "a step of 0");
  step = step > all ? all : step < -all ? -all : step;
  from = from < 0 ? from + all : from;
  to = to < 0 ? to + all : to;
  from = from < 0 ? 0 : back && from > all - 1 ? all - 1 : from;
  to = to > all ? all : to < (back ? -1 : 0) ? (back ? -1 : 0) : to;
  out->first[k] = from;
  out->step[k] = step;
  out->n[k] = (back ? from <= to : from >= to) ? 0
              : back                           ? (from - to - step - 1) / -step
                                               : (to - from + step - 1) / step;
  return true;
}

/* Attributes before opset 10, then inputs. */
bool ox_cuts_of(ox_net *g, int rank, const int64_t *extent, ox_cuts *out) {
  const int64_t *from, *to, *axes = NULL, *step = NULL;
  int64_t n, m, n_axes = 0, n_steps = 0;
  size_t a, b, c;
  int k;
  if (ox_has(g, 1)) {
    if (!ox_numbers(g, 1, &from, &n) || !ox_numbers(g, 2, &to, &m) ||
        !ox_numbers(g, 3, &axes, &n_axes) || !ox_numbers(g, 4, &step, &n_steps))
      return false;
  } else {
    from = ox_ints(g, "starts", &a), to = ox_ints(g, "ends", &b), axes = ox_ints(g, "axes", &c);
    n = (int64_t)a, m = (int64_t)b, n_axes = (int64_t)c;
  }
  if (n != m || (axes && n_axes != n) || (step && n_steps != n) || n > rank || !from || !to)
    return ox_fail(g, TF_E_SHAPE, "starts, ends, axes and steps of different lengths");
  for (k = 0; k < rank; k++)
    out->first[k] = 0, out->n[k] = extent[k], out->step[k] = 1;
  for (int64_t i = 0; i < n; i++)
    if (!ox_axis_at(g, axes ? axes[i] : i, rank, &k) ||
        !cut_axis(g, extent[k], from[i], to[i], step ? step[i] : 1, out, k))
      return false;
  return true;
}

static bool slice(ox_net *g) {
  ox_value v;
  ox_cuts cuts = {0};
  int64_t extent[OX_RANK];
  if (!ox_placed(g, 0, &v)) return false;
  for (int k = 0; k < v.rank; k++)
    extent[k] = ox_extent(&v, k);
  if (!ox_cuts_of(g, v.rank, extent, &cuts)) return false;
  for (int k = 0; k < v.rank; k++)
    if (!cuts.n[k])
      return ox_fail(g, TF_E_RANGE, "nothing of the %lld elements of axis %d", (long long)extent[k],
                     k);
  for (int k = 0; k < v.rank; k++)
    if (!ox_slice(g, &v, k, cuts.first[k], cuts.n[k], cuts.step[k])) return false;
  return ox_give(g, 0, &v);
}

static bool split(ox_net *g) {
  ox_value v;
  size_t have;
  int axis;
  const int64_t *parts = ox_ints(g, "split", &have);
  int64_t n = (int64_t)have, at = 0;
  if (!ox_placed(g, 0, &v) || (!parts && !ox_numbers(g, 1, &parts, &n)) ||
      !ox_axis_at(g, ox_int(g, "axis", 0), v.rank, &axis))
    return false;
  const int64_t all = ox_extent(&v, axis), many = (int64_t)g->node->n_output,
                equal = (all + many - 1) / many;
  if (ox_int(g, "num_outputs", many) != many)
    return ox_fail(g, TF_E_SHAPE, "num_outputs is %lld of %lld results",
                   (long long)ox_int(g, "num_outputs", many), (long long)many);
  if (parts && n != many)
    return ox_fail(g, TF_E_SHAPE, "%lld parts for %lld results", (long long)n, (long long)many);
  for (int64_t i = 0; i < many; i++) {
    ox_value out = v;
    const int64_t size = parts ? parts[i] : i < many - 1 ? equal : all - at;
    if (size < 0 || size > all - at)
      return ox_fail(g, TF_E_RANGE, "a part of %lld elements", (long long)size);
    if (size == 0) { /* which a Concat leaves out */
      if (!ox_give(g, (size_t)i,
                   &(ox_value){.tensor = -1, .name = g->node->output[i], .empty = true}))
        return false;
      continue;
    }
    if (!ox_slice(g, &out, axis, at, size, 1)) return false;
    if (v.number && v.rank == 1 && ox_is_integer(v.type))
      out.number = v.number + at; /* extents stay known */
    if (!ox_give(g, (size_t)i, &out)) return false;
    at += size;
  }
  return at == all || ox_fail(g, TF_E_SHAPE, "parts of %lld elements in all, of %lld",
                              (long long)at, (long long)all);
}

/* Tiling: before each axis one of as many elements, all the same. */
static bool tile(ox_net *g) {
  ox_value v;
  const int64_t *times;
  int64_t n, apart[OX_RANK], wide[OX_RANK], shape[OX_RANK];
  if (!ox_placed(g, 0, &v) || !ox_numbers(g, 1, &times, &n)) return false;
  if (n != v.rank || 2 * v.rank > OX_RANK)
    return ox_fail(g, TF_E_SHAPE, "%lld repeats for %d axes", (long long)n, v.rank);
  for (int k = 0; k < v.rank; k++) {
    if (times[k] < 1 || times[k] > OX_MOST_EXTENT)
      return ox_fail(g, TF_E_RANGE, "%lld copies", (long long)times[k]);
    apart[2 * k] = 1, wide[2 * k] = times[k];
    apart[2 * k + 1] = wide[2 * k + 1] = ox_extent(&v, k);
    if (!tf_mul(times[k], ox_extent(&v, k), &shape[k]))
      return ox_fail(g, TF_E_OVERFLOW, "more than 2^48 elements");
  }
  const int rank = v.rank;
  return ox_reshape(g, &v, 2 * rank, apart) && ox_repeat(g, &v, 2 * rank, wide) &&
         ox_reshape(g, &v, rank, shape) && ox_give(g, 0, &v);
}

/* An axis's place as an index: that of its dims, each times what lies below it. */
static void add_place(ox_index *x, const ox_axis *a, int64_t sign) {
  for (int i = 0; i < a->n_dims; i++)
    x->dim[x->n] = a->dim[i], x->coef[x->n++] = sign * a->cut[a->n_dims - 1 - i];
}

/* The elements of a triangle of the last two axes, and 0. */
static bool trilu(ox_net *g) {
  ox_value v, out;
  ox_axis axis[OX_RANK] = {0};
  const ox_axis *all[OX_RANK];
  const int64_t *off;
  int64_t n;
  if (!ox_placed(g, 0, &v) || !ox_numbers(g, 1, &off, &n)) return false;
  if (v.rank < 2) return ox_fail(g, TF_E_RANK, "a triangle of %d axes", v.rank);
  ox_begin(g);
  for (int k = 0; k < v.rank; k++) {
    if (!ox_join(g, &axis[k], &v, k) || !ox_open(g, &axis[k])) return false;
    all[k] = &axis[k];
  }
  const bool upper = ox_int(g, "upper", 1) != 0;
  ox_index past = {.c = off && n ? -off[0] : 0}; /* columns past the diagonal */
  if (axis[v.rank - 1].n_dims + axis[v.rank - 2].n_dims > OX_FACTORS)
    return ox_regroup(g, TF_E_LIMIT, "too many factors");
  add_place(&past, all[v.rank - 1], 1), add_place(&past, all[v.rank - 2], -1);
  ox_expr *at = ox_index_value(g, &past), *zero = ox_number(g, 0);
  ox_expr *in = upper ? ox_call(g, "<=", zero, at, NULL) : ox_call(g, "<=", at, zero, NULL);
  return ox_make(g, g->node->output[0], "=",
                 ox_call(g, "select", in, ox_read(g, &v, all), ox_number(g, 0)), all, v.rank,
                 &out) &&
         ox_give(g, 0, &out);
}

/* Whether the indices of an axis of `all` elements are in it; as many as number of them, counted
 * from the front. */
static bool indices(ox_net *g, const ox_value *which, int64_t all, int64_t *at) {
  for (int64_t i = 0; i < ox_size(which); i++) {
    const double x = which->number[i] < 0 ? which->number[i] + (double)all : which->number[i];
    if (!(x >= 0 && x < (double)all))
      return ox_fail(g, TF_E_RANGE, "element %g of %lld", which->number[i], (long long)all);
    at[i] = (int64_t)x;
  }
  return true;
}

enum { MOST_RUNS = 8 };

static int64_t stride_ends(const int64_t *at, int64_t n) {
  int64_t k = n < 2 ? n : 2;
  while (k < n && at[k] - at[k - 1] == at[1] - at[0])
    k++;
  return k;
}

/* How many places from at[0] on lie one stride apart.  The last one goes to the places behind it if
 * these are more and take it, too: what is mirrored leaves whole what it mirrors. */
static int64_t run_of(const int64_t *at, int64_t n) {
  const int64_t k = stride_ends(at, n);
  return k > 1 && k < n && stride_ends(at + k - 1, n - k + 1) > k ? k - 1 : k;
}

/* Slices beside each other, of elements a stride apart or of one again and again. */
static bool choose_runs(ox_net *g, ox_value *v, int axis, const int64_t *at, int64_t n) {
  enum { NAME = 16 };
  ox_value part[MOST_RUNS];
  size_t many = 0;
  for (int64_t i = 0, k; i < n; i += k, many++) {
    const int64_t step = i + 1 < n ? at[i + 1] - at[i] : 1;
    char name[NAME];
    k = run_of(at + i, n - i);
    part[many] = *v;
    snprintf(name, sizeof name, "run%zu", many);
    if (!ox_slice(g, &part[many], axis, at[i], step ? k : 1, step ? step : 1)) return false;
    if (!step && !ox_repeat_one(g, &part[many], axis, k)) return false;
    part[many].name = ox_part(g, name);
  }
  return ox_concat(g, part, many, axis, ox_part(g, "runs"), v);
}

/* A slice where they have one stride, a few of them beside each other, or each the sum of its
 * neighbours with one weight 1, whichever reads least. */
static bool choose(ox_net *g, ox_value *v, int axis, const int64_t *at, int64_t n) {
  const int64_t step = n > 1 ? at[1] - at[0] : 1, in = ox_extent(v, axis);
  int64_t runs = 0;
  for (int64_t i = 0; i < n; i += run_of(at + i, n - i))
    runs++;
  if (runs == 1 && step != 0) return ox_slice(g, v, axis, at[0], n, step);
  ox_blend b;
  if (!ox_blend_room(g, n, 1, &b)) return false;
  for (int64_t i = 0; i < n; i++)
    b.source[i] = at[i], b.weight[i] = 1;
  return runs <= MOST_RUNS && in > 1 && v->n[axis] <= 1 && runs < ox_mixed_taps(&b, in)
             ? choose_runs(g, v, axis, at, n)
             : ox_mix(g, v, axis, &b);
}

/* Indices that are data make the result an input of the workload. */
static bool gather(ox_net *g) {
  ox_value v;
  int axis;
  const ox_value *which = ox_input(g, 1), *from = ox_input(g, 0);
  if (!which || !from || !ox_axis_at(g, ox_int(g, "axis", 0), from->rank, &axis)) return false;
  const int64_t n = ox_size(which);
  int64_t shape[OX_RANK];
  int rank = 0;
  for (int k = 0; k < from->rank; k++) {
    if (rank + which->rank >= OX_RANK) return ox_fail(g, TF_E_LIMIT, "more than %d axes", OX_RANK);
    for (int i = 0; k == axis && i < which->rank; i++)
      shape[rank++] = ox_extent(which, i);
    if (k != axis) shape[rank++] = ox_extent(from, k);
  }
  if (!which->number) {
    ox_value out = {.name = g->node->output[0]};
    ox_whole(&out, -1, rank, shape);
    if (!ox_fits(g, &out)) return false;
    ox_warn(g, "data choose what is read: its result is an input of the workload");
    return ox_give(g, 0, &out);
  }
  int64_t *at = ox_places_room(g, n);
  return at && indices(g, which, ox_extent(from, axis), at) && ox_placed(g, 0, &v) &&
         choose(g, &v, axis, at, n) && ox_reshape(g, &v, rank, shape) && ox_give(g, 0, &v);
}

/* ---- concatenation -------------------------------------------------------------------------- */

/* An axis along which parts are concatenated, in blocks as long as what reshapes have merged within
 * any part. */
typedef struct {
  int64_t whole, block;
  ox_axis outer, inside, all;
} parts;

/* Checks that part v begins at a block boundary. */
static bool add_part(ox_net *g, parts *r, const ox_value *v, int axis) {
  const ox_factor *f = ox_factors(v, axis);
  int64_t inner = 1;
  bool ok = ox_cut(g, &r->inside, 1);
  for (int i = v->n[axis] - 1; i > 0 && ok; i--)
    ok = ox_cut(g, &r->inside, inner *= f[i].extent);
  if (!ok) return false;
  r->block = r->inside.cut[r->inside.n - 1];
  return true;
}

static bool open_row(ox_net *g, parts *r, int64_t whole) {
  r->whole = whole;
  if (whole % r->block)
    return ox_regroup(g, TF_E_SHAPE,
                      "a part that a reshape put together of pieces of %lld, in a whole of %lld",
                      (long long)r->block, (long long)whole);
  return ox_open_extent(g, &r->outer, whole / r->block) && ox_open(g, &r->inside) &&
         ox_combine(g, &r->outer, &r->inside, &r->all);
}

/* The rank that the axis's outermost factor covers completely, so that its neighbours are padding;
 * -1: none. */
static int outer_rank(const ox_net *g, const ox_value *v, int axis) {
  const ox_factor *f = ox_factors(v, axis);
  const ox_tensor *t = &g->tensor[v->tensor];
  int found = -1;
  for (int r = 0; v->n[axis] && r < t->rank; r++)
    if (f->step[r]) found = found == -1 ? r : -2;
  return found >= 0 && !v->origin[found] && t->shape[found] == f->step[found] * f->extent ? found
                                                                                          : -1;
}

/* Copies v if its axis has no such rank. */
static bool make_part(ox_net *g, ox_value *v, int axis) {
  return outer_rank(g, v, axis) >= 0 || ox_copy(g, v, v->name);
}

/* Element `place - from` of v along the axis; 0 outside. */
static ox_expr *read_part(ox_net *g, const ox_value *v, int axis, const ox_axis *const *all,
                          const parts *row, int64_t from) {
  const int64_t size = ox_extent(v, axis), behind = row->whole - from - size;
  const ox_axis *at[OX_RANK];
  ox_value one =
      *v; /* the same within one block: a part, whose numbers are not those of the whole */
  one.number = NULL;
  ox_factor *f = one.f + (ox_factors(v, axis) - v->f);
  const int r = outer_rank(g, v, axis);
  if (r < 0 || size % row->block || from % row->block)
    return (void)ox_regroup(g, TF_E_SHAPE,
                            "parts that begin within what a reshape put together of pieces of %lld",
                            (long long)row->block),
           NULL;
  const int64_t step = f->step[r] * (row->block / (size / f->extent));
  f->extent = row->block / (size / f->extent);
  memcpy(at, all, (size_t)v->rank * sizeof *at);
  at[axis] = &row->inside;
  ox_expr *e = ox_read(g, &one, at);
  if (!e) return NULL;
  ox_index *x = &e->index[r];
  if (row->outer.n_dims) x->dim[x->n] = row->outer.dim[0], x->coef[x->n++] = step;
  x->c -= from / row->block * step;
  ox_tensor *t = &g->tensor[v->tensor];
  ox_pad_rank(t, r, from / row->block * step, behind / row->block * step);
  return e;
}

/* Checks that the parts can stand beside each other along the axis, and gives the others of their
 * axes dims. */
static bool begin_parts(ox_net *g, ox_value *v, size_t n, int axis, parts *row, ox_axis *at,
                        const ox_axis **all) {
  int64_t whole = 0;
  for (size_t i = 0; i < n; i++) {
    if (v[i].rank != v->rank)
      return ox_fail(g, TF_E_RANK, "parts of %d and %d axes", v->rank, v[i].rank);
    if (!make_part(g, &v[i], axis) || !add_part(g, row, &v[i], axis)) return false;
    whole += ox_extent(&v[i], axis);
    if (whole > OX_MOST_SIZE) return ox_fail(g, TF_E_OVERFLOW, "more than 2^48 elements");
  }
  ox_begin(g);
  for (int k = 0; k < v->rank; k++) {
    for (size_t i = 0; i < n && k != axis; i++) {
      if (ox_extent(&v[i], k) != ox_extent(v, k))
        return ox_fail(g, TF_E_SHAPE, "parts of %lld and %lld elements along axis %d",
                       (long long)ox_extent(v, k), (long long)ox_extent(&v[i], k), k);
      if (!ox_join(g, &at[k], &v[i], k)) return false;
    }
    if (k == axis ? !open_row(g, row, whole) : !ox_open(g, &at[k])) return false;
    all[k] = k == axis ? &row->all : &at[k];
  }
  return true;
}

bool ox_concat(ox_net *g, ox_value *v, size_t n, int axis, const char *name, ox_value *out) {
  int64_t from = 0;
  parts row = {.block = 1};
  ox_axis at[OX_RANK] = {0};
  const ox_axis *all[OX_RANK];
  if (n == 1) {
    *out = *v;
    return true;
  }
  if (!begin_parts(g, v, n, axis, &row, at, all)) return false;
  ox_expr *e = NULL;
  for (size_t i = 0; i < n; i++) {
    ox_expr *x = read_part(g, &v[i], axis, all, &row, from);
    if (!x) return false;
    e = e ? ox_call(g, "+", e, x, NULL) : x;
    from += ox_extent(&v[i], axis);
  }
  return ox_make(g, name, "=", e, all, v->rank, out);
}

static bool is_empty(ox_net *g, size_t k) {
  const ox_value *v = ox_find(g, g->node->input[k]);
  return v && v->empty;
}

/* Parts without elements are left out. */
static bool concat(ox_net *g) {
  const size_t n = g->node->n_input;
  size_t have = 0;
  ox_value out;
  int axis;
  ox_value *v = TF_ARRAY(g->arena, ox_value, n + 1);
  if (!v) return !(g->oom = true);
  for (size_t i = 0; i < n; i++)
    if (!is_empty(g, i) && !ox_placed(g, i, &v[have++])) return false;
  if (!have) return ox_fail(g, TF_E_MISSING, "no part has an element");
  return ox_axis_at(g, ox_int(g, "axis", 0), v->rank, &axis) &&
         ox_concat(g, v, have, axis, g->node->output[0], &out) && ox_give(g, 0, &out);
}

/* Zeros around an axis: like concatenation with a larger whole. */
static bool pad_zeros(ox_net *g, ox_value *v, int axis, int64_t before, int64_t whole) {
  parts row = {.block = 1};
  ox_axis at[OX_RANK] = {0};
  const ox_axis *all[OX_RANK];
  if (!make_part(g, v, axis) || !add_part(g, &row, v, axis)) return false;
  ox_begin(g);
  for (int k = 0; k < v->rank; k++) {
    if (k == axis ? !open_row(g, &row, whole) : !ox_join(g, &at[k], v, k) || !ox_open(g, &at[k]))
      return false;
    all[k] = k == axis ? &row.all : &at[k];
  }
  ox_expr *e = read_part(g, v, axis, all, &row, before);
  return e && ox_make(g, g->node->output[0], "=", e, all, v->rank, v);
}

/* Pads around an axis: its edge repeated, its neighbours mirrored, or wrapped around. */
static bool pad_copies(ox_net *g, ox_value *v, int axis, int64_t before, int64_t whole, char how) {
  const int64_t in = ox_extent(v, axis);
  int64_t *at = ox_places_room(g, whole);
  if (!at) return false;
  for (int64_t i = 0; i < whole; i++) {
    int64_t x = i - before;
    if (how == 'w') x = (x % in + in) % in;
    if (how == 'r' && in > 1)
      x = ((x % (2 * in - 2)) + 2 * in - 2) % (2 * in - 2), x = x < in ? x : 2 * in - 2 - x;
    at[i] = x < 0 || in == 1 ? 0 : x > in - 1 ? in - 1 : x;
  }
  return choose(g, v, axis, at, whole);
}

/* Pads of each axis: before it, and after it.  Pads below 0 cut. */
static bool read_pads(ox_net *g, int rank, int64_t *before, int64_t *after) {
  size_t have;
  const int64_t *pads = ox_ints(g, "pads", &have), *axes;
  int64_t n = (int64_t)have, m;
  if ((!pads && !ox_numbers(g, 1, &pads, &n)) || !ox_numbers(g, 3, &axes, &m)) return false;
  const int64_t many = axes ? m : rank;
  if (n != 2 * many)
    return ox_fail(g, TF_E_SHAPE, "%lld pads for %d axes", (long long)n, (int)many);
  for (int k = 0; k < rank; k++)
    before[k] = after[k] = 0;
  for (int64_t i = 0; i < many; i++) {
    int k;
    if (!ox_axis_at(g, axes ? axes[i] : i, rank, &k)) return false;
    for (int64_t side = i; side < n; side += many)
      if (pads[side] < -OX_MOST_EXTENT || pads[side] > OX_MOST_EXTENT)
        return ox_fail(g, TF_E_RANGE, "a pad of %lld", (long long)pads[side]);
    before[k] = pads[i], after[k] = pads[many + i];
  }
  return true;
}

/* Zeros, and where they stand, outside of what was there, the number. */
static bool pad_number(ox_net *g, const int64_t *before, const int64_t *after) {
  const ox_value *v = ox_input(g, 0);
  char inside[40] = "";
  int64_t pads[2 * OX_RANK];
  int n = 0;
  if (!v) return false;
  const int rank = v->rank;
  int64_t extent[OX_RANK];
  for (int k = 0; k < rank; k++)
    pads[k] = before[k], pads[rank + k] = after[k], extent[k] = ox_extent(v, k);
  if (!ox_run(g, "zeros = Pad($0, %s) mode=constant", ox_list(g, 2 * rank, pads))) return false;
  for (int k = 0; k < rank; k++) {
    if (before[k] <= 0 && after[k] <= 0) continue;
    const int64_t front = before[k] > 0 ? before[k] : 0, left = extent[k] + before[k] + after[k];
    const int64_t end = left - (after[k] > 0 ? after[k] : 0);
    if (!ox_run(g, "at%d = Reshape({%lld}, %s)", k, (long long)left, ox_ones(g, rank, k, left)) ||
        !ox_run(g, "from%d = LessOrEqual(%lld, at%d)", k, (long long)front, k) ||
        !ox_run(g, "to%d = Less(at%d, %lld)", k, k, (long long)end) ||
        !ox_run(g, "in%d = And(from%d, to%d)", k, k, k) ||
        (n && !ox_run(g, "all%d = And(%s, in%d)", k, inside, k)))
      return false;
    snprintf(inside, sizeof inside, n++ ? "all%d" : "in%d", k);
  }
  if (!n) return ox_run(g, "@0 = Identity(zeros)");
  if (ox_has(g, 2)) return ox_run(g, "@0 = Where(%s, zeros, $2)", inside);
  return ox_run(g, "@0 = Where(%s, zeros, %.17e)", inside, ox_float(g, "value", 0));
}

static bool pad(ox_net *g) {
  ox_value v;
  int64_t before[OX_RANK], after[OX_RANK];
  const char *mode = ox_text(g, "mode", "constant");
  const ox_value *value = ox_has(g, 2) ? ox_input(g, 2) : NULL;
  const bool zeros = !strcmp(mode, "constant"),
             filled = zeros && (value ? !value->number || value->number[0] != 0
                                      : ox_float(g, "value", 0) != 0);
  if (!ox_placed(g, 0, &v) || !read_pads(g, v.rank, before, after)) return false;
  if (value && ox_size(value) != 1) return ox_fail(g, TF_E_SHAPE, "pads of several numbers");
  if (filled) return (!value || g->within || ox_same_type(g, 0, 2)) && pad_number(g, before, after);
  if (!zeros && strcmp(mode, "reflect") != 0 && strcmp(mode, "edge") != 0 &&
      strcmp(mode, "wrap") != 0)
    return ox_fail(g, TF_E_NAME, "mode '%.40s'; known: constant, reflect, edge, wrap", mode);
  for (int axis = 0; axis < v.rank; axis++) {
    const int64_t cut = before[axis] < 0 ? -before[axis] : 0,
                  end = after[axis] < 0 ? -after[axis] : 0;
    const int64_t left = ox_extent(&v, axis) - cut - end;
    if (left < 1) return ox_fail(g, TF_E_RANGE, "pads leave nothing of axis %d", axis);
    if ((cut || end) && !ox_slice(g, &v, axis, cut, left, 1)) return false;
    const int64_t front = before[axis] + cut, whole = left + front + after[axis] + end;
    if (whole > OX_MOST_EXTENT)
      return ox_fail(g, TF_E_RANGE, "%lld elements with pads", (long long)whole);
    if (whole == left) continue;
    if (!(zeros ? pad_zeros(g, &v, axis, front, whole)
                : pad_copies(g, &v, axis, front, whole, mode[0])))
      return false;
  }
  return ox_give(g, 0, &v);
}

/* ---- resampling ----------------------------------------------------------------------------- */

/* DepthToSpace and SpaceToDepth: shapes and transpositions. */
static bool blocks(ox_net *g) {
  ox_value v;
  const bool to_space = !strcmp(g->node->op_type, "DepthToSpace"),
             crd = !strcmp(ox_text(g, "mode", "DCR"), "CRD");
  if (!crd && strcmp(ox_text(g, "mode", "DCR"), "DCR") != 0)
    return ox_fail(g, TF_E_NAME, "mode '%.40s'; known: DCR, CRD", ox_text(g, "mode", ""));
  const int64_t b = ox_int(g, "blocksize", 0);
  if (!ox_placed(g, 0, &v)) return false;
  if (v.rank != 4 || b < 1 || b > 1024)
    return ox_fail(g, TF_E_RANK, "%d axes in blocks of %lld", v.rank, (long long)b);
  const int64_t n = ox_extent(&v, 0), c = ox_extent(&v, 1), h = ox_extent(&v, 2),
                w = ox_extent(&v, 3);
  if (to_space ? c % (b * b) : h % b || w % b)
    return ox_fail(g, TF_E_SHAPE, "blocks of %lld do not divide it", (long long)b);
  const int64_t dcr[] = {n, b, b, c / (b * b), h, w}, crds[] = {n, c / (b * b), b, b, h, w},
                space[] = {n, c, h / b, b, w / b, b};
  const int64_t high[] = {n, c / (b * b), h * b, w * b}, deep[] = {n, c * b * b, h / b, w / b};
  static const int by_dcr[] = {0, 3, 4, 1, 5, 2}, by_crd[] = {0, 1, 4, 2, 5, 3},
                   by_space[] = {0, 3, 5, 1, 2, 4}, crd_space[] = {0, 1, 3, 5, 2, 4};
  if (!ox_reshape(g, &v, 6, to_space ? crd ? crds : dcr : space)) return false;
  ox_permute(&v, to_space ? crd ? by_crd : by_dcr : crd ? crd_space : by_space);
  return ox_reshape(g, &v, 4, to_space ? high : deep) && ox_give(g, 0, &v);
}

/* ---- moves that are composed of others ------------------------------------------------------ */

/* The middle of what is larger than asked for, and zeros around what is smaller. */
static bool crop_pad(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  size_t n_axes;
  const int64_t *want, *axes = ox_ints(g, "axes", &n_axes);
  int64_t n, from[OX_RANK], to[OX_RANK], all[OX_RANK], pads[2 * OX_RANK] = {0};
  if (!v || !ox_numbers(g, 1, &want, &n)) return false;
  if (n != (axes ? (int64_t)n_axes : v->rank))
    return ox_fail(g, TF_E_SHAPE, "%lld extents", (long long)n);
  for (int k = 0; k < v->rank; k++)
    from[k] = 0, to[k] = ox_extent(v, k), all[k] = k;
  for (int64_t i = 0; i < n; i++) {
    int k;
    if (!ox_axis_at(g, axes ? axes[i] : i, v->rank, &k)) return false;
    const int64_t has = ox_extent(v, k), more = want[i] - has;
    if (want[i] < 1 || want[i] > OX_MOST_EXTENT)
      return ox_fail(g, TF_E_RANGE, "an axis of %lld elements", (long long)want[i]);
    if (more < 0) from[k] = -more / 2, to[k] = from[k] + want[i];
    pads[k] = more > 0 ? more / 2 : 0;
    pads[v->rank + k] = more > 0 ? more - more / 2 : 0;
  }
  return ox_run(g, "cut = Slice($0, %s, %s, %s)", ox_list(g, v->rank, from),
                ox_list(g, v->rank, to), ox_list(g, v->rank, all)) &&
         ox_run(g, "@0 = Pad(cut, %s) mode=constant", ox_list(g, 2 * v->rank, pads));
}

static bool eye_like(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  const int64_t off = ox_int(g, "k", 0);
  if (!v) return false;
  if (v->rank != 2 || off < -OX_MOST_EXTENT || off > OX_MOST_EXTENT)
    return ox_fail(g, TF_E_RANK, "a diagonal of %d axes", v->rank);
  const int type = (int)ox_int(g, "dtype", v->type);
  return ox_run(g, "i = Reshape({%lld,%lld}, [-1,1])", (long long)ox_extent(v, 0),
                (long long)off) &&
         ox_run(g, "j = Identity({%lld})", (long long)ox_extent(v, 1)) &&
         ox_run(g, "same = Equal(i, j)") && ox_run(g, "@0 = Cast(same) to=%d", type);
}

/* Elements where a condition that is known holds. */
static bool compress(ox_net *g) {
  const ox_value *v = ox_input(g, 0), *c = ox_input(g, 1);
  const bool flat = !ox_attribute(g, "axis");
  int axis = 0;
  if (!v || !c) return false;
  if (!c->number) return ox_fail(g, TF_E_OPEN, "a condition that is data");
  if (!flat && !ox_axis_at(g, ox_int(g, "axis", 0), v->rank, &axis)) return false;
  const int64_t has = flat ? ox_size(v) : ox_extent(v, axis), n = ox_size(c);
  double *x = ox_numbers_room(g, n);
  int64_t many = 0;
  for (int64_t i = 0; x && i < n; i++)
    if (c->number[i] != 0) x[many++] = (double)i;
  if (!x || n > has || !many)
    return x ? ox_fail(g, TF_E_RANGE, "%lld of %lld elements", (long long)many, (long long)has)
             : false;
  return ox_let(g, "which", 1, &many, x, OX_T_INT64) &&
         ox_run(g, flat ? "all = Reshape($0, [-1])" : "all = Identity($0)") &&
         ox_run(g, "@0 = Gather(all, which) axis=%d", axis);
}

const ox_kind ox_moves[] = {
    {"Identity", identity, NULL},
    {"Dropout", dropout, NULL},
    {"Reshape", reshape, NULL},
    {"Flatten", flatten, NULL},
    {"Squeeze", squeeze, NULL},
    {"Unsqueeze", unsqueeze, NULL},
    {"Transpose", transpose, NULL},
    {"Expand", expand, NULL},
    {"Slice", slice, NULL},
    {"Split", split, NULL},
    {"Gather", gather, NULL},
    {"Concat", concat, NULL},
    {"Pad", pad, NULL},
    {"CenterCropPad", crop_pad, NULL},
    {"Tile", tile, NULL},
    {"Trilu", trilu, NULL},
    {"DepthToSpace", blocks, NULL},
    {"SpaceToDepth", blocks, NULL},
    {"EyeLike", eye_like, NULL},
    {"Compress", compress, NULL},
    {NULL, NULL, NULL},
};
