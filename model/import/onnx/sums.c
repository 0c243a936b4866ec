/* Nodes that reduce axes, and those composed of such sums: softmax, normalisations and norms of
 * windows. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

/* A value whose axes all have dims; which of them are reduced. */
typedef struct {
  ox_value x;
  ox_axis axis[OX_RANK];
  const ox_axis *all[OX_RANK];
  bool reduced[OX_RANK];
  double many; /* number of elements reduced to one */
} open_value;

static bool open_axes(ox_net *g, open_value *v) {
  const int rank = v->x.rank;
  v->many = 1;
  ox_begin(g);
  for (int k = 0; k < rank; k++) {
    if (!ox_join(g, &v->axis[k], &v->x, k) || !ox_open(g, &v->axis[k])) return false;
    v->all[k] = &v->axis[k];
    if (v->reduced[k]) v->many *= (double)ox_extent(&v->x, k);
  }
  return true;
}

/* The name of an intermediate of the node; NULL: the result itself. */
static const char *name_of(ox_net *g, const char *part) {
  return part ? ox_part(g, part) : g->node->output[0];
}

/* Reduces e; the result has an axis of one element for each reduced axis. */
static bool sum(ox_net *g, const open_value *v, const char *part, const char *reduce, ox_expr *e,
                ox_value *out) {
  const ox_axis *made[OX_RANK];
  for (int k = 0; k < v->x.rank; k++)
    made[k] = v->reduced[k] ? NULL : v->all[k];
  return ox_make(g, name_of(g, part), reduce, e, made, v->x.rank, out);
}

static bool make_elements(ox_net *g, const open_value *v, const char *part, ox_expr *e,
                          ox_value *out) {
  return ox_make(g, name_of(g, part), "=", e, v->all, v->x.rank, out);
}

static ox_expr *read_element(ox_net *g, const open_value *v, const ox_value *x) {
  return ox_read(g, x, v->all);
}

/* Weights, one for each element of the last axes of v, from axis `first` on, or of axis `first`
 * only. */
static ox_expr *weight(ox_net *g, const open_value *v, size_t k, int first, bool one) {
  ox_value w;
  if (!ox_placed(g, k, &w)) return NULL;
  const int n = one ? 1 : v->x.rank - first;
  bool fits = w.rank == n;
  for (int i = 0; i < n && fits; i++)
    fits = w.n[i] <= 1 && ox_extent(&w, i) == ox_extent(&v->x, first + i);
  if (!fits)
    return (void)ox_fail(g, TF_E_SHAPE, "'%.60s' has another shape than what it weighs", w.name),
           NULL;
  return ox_read(g, &w, v->all + first);
}

static ox_expr *call_two(ox_net *g, const char *call, ox_expr *a, ox_expr *b) {
  return b ? ox_call(g, call, a, b, NULL) : NULL;
}
static ox_expr *call_number(ox_net *g, const char *call, ox_expr *a, double b) {
  return call_two(g, call, a, ox_number(g, b));
}

/* ---- reductions ----------------------------------------------------------------------------- */

/* Axes are an attribute or, later, an input; none: all of them, or with noop_with_empty_axes none.
 */
bool ox_reduced_axes(ox_net *g, int rank, bool *over) {
  size_t n;
  const int64_t *axes = ox_ints(g, "axes", &n), *in = NULL;
  int64_t n_in = 0;
  if (!axes && !ox_numbers(g, 1, &in, &n_in)) return false;
  if (in) axes = in, n = (size_t)n_in;
  const bool global = !strncmp(g->node->op_type, "Global", 6); /* all except batch and channels */
  for (int k = 0; k < rank; k++)
    over[k] = global ? k > 1 : n == 0 && !ox_int(g, "noop_with_empty_axes", 0);
  for (size_t i = 0; i < n && axes; i++) {
    int k;
    if (!ox_axis_at(g, axes[i], rank, &k)) return false;
    over[k] = true;
  }
  return true;
}

static bool drop(ox_net *g, const open_value *v, ox_value *out) {
  if (ox_int(g, "keepdims", 1)) return true;
  int64_t shape[OX_RANK];
  int n = 0;
  for (int k = 0; k < v->x.rank; k++)
    if (!v->reduced[k]) shape[n++] = ox_extent(&v->x, k);
  return ox_reshape(g, out, n, shape);
}

/* What a reduction of no element is. */
static double of_nothing(const char *type) {
  if (!strcmp(type, "ReduceProd")) return 1;
  if (!strcmp(type, "ReduceMin")) return (double)INFINITY;
  return !strcmp(type, "ReduceMax") || strstr(type, "Log") ? -(double)INFINITY : 0;
}

/* An input without elements, of which all axes that have none are reduced: a number for each
 * element of the result. */
static bool reduces_nothing(const ox_value *v, const bool *over) {
  bool all = v && v->empty && v->none && v->type == OX_T_FLOAT;
  for (int k = 0; k < (v ? v->rank : 0) && all; k++)
    all = !(v->none >> k & 1) || over[k];
  return all;
}

static bool give_nothing(ox_net *g, const ox_value *v, const bool *over) {
  const char *type = g->node->op_type;
  int64_t shape[OX_RANK];
  int n = 0;
  if (strstr(type, "Mean")) return ox_fail(g, TF_E_RANGE, "a mean of no element");
  for (int k = 0; k < v->rank; k++)
    if (!over[k] || ox_int(g, "keepdims", 1)) shape[n++] = over[k] ? 1 : ox_extent(v, k);
  if (n == 0) return ox_run(g, "@0 = Identity(%.17e)", of_nothing(type));
  return ox_run(g, "@0 = Expand(%.17e, %s)", of_nothing(type), ox_list(g, n, shape));
}

/* Whether the node's result is known as its input has no elements; it is made then. */
static bool take_nothing(ox_net *g, bool *done) {
  const ox_value *v = g->node->n_input ? ox_find(g, g->node->input[0]) : NULL;
  bool over[OX_RANK];
  *done = v && v->empty && !strncmp(g->node->op_type, "Reduce", 6) &&
          ox_reduced_axes(g, v->rank, over) && reduces_nothing(v, over);
  return !*done || give_nothing(g, v, over);
}

static bool reduce(ox_net *g) {
  const char *type = g->node->op_type, *how = ox_kind_of(type)->call;
  bool done;
  if (!take_nothing(g, &done) || done) return done && ox_find(g, g->node->output[0]);
  open_value v = {0};
  ox_value out;
  if (!ox_placed(g, 0, &v.x) || !ox_reduced_axes(g, v.x.rank, v.reduced) || !open_axes(g, &v))
    return false;
  ox_expr *e = read_element(g, &v, &v.x);
  if (!strcmp(type, "ReduceSumSquare") || !strcmp(type, "ReduceL2")) e = call_two(g, "*", e, e);
  if (!strcmp(type, "ReduceL1")) e = ox_call(g, "abs", e, NULL, NULL);
  const bool mean = strstr(type, "Mean") || strstr(type, "Average");
  const char *then = !strcmp(type, "ReduceL2")       ? "sqrt"
                     : !strcmp(type, "ReduceLogSum") ? "log"
                                                     : NULL;
  if (!sum(g, &v, mean || then ? "sum" : NULL, how, e, &out)) return false;
  if (mean || then) {
    e = ox_read(g, &out, v.all);
    if (!sum(g, &v, NULL, "=",
             mean ? call_number(g, "*", e, 1 / v.many) : ox_call(g, then, e, NULL, NULL), &out))
      return false;
  }
  return drop(g, &v, &out) && ox_give(g, 0, &out);
}

/* ---- softmax -------------------------------------------------------------------------------- */

/* Before opset 13 over all axes from `axis` on. */
static bool softmax(ox_net *g) {
  open_value v = {0};
  ox_value most, e, z, out;
  int axis;
  const bool log = !strcmp(g->node->op_type, "LogSoftmax"), to_end = g->opset < 13;
  if (!ox_placed(g, 0, &v.x) || !ox_axis_at(g, ox_int(g, "axis", to_end ? 1 : -1), v.x.rank, &axis))
    return false;
  for (int k = axis; k < v.x.rank && (to_end || k == axis); k++)
    v.reduced[k] = true;
  if (!open_axes(g, &v) || !sum(g, &v, "max", "max=", read_element(g, &v, &v.x), &most))
    return false;
  if (!make_elements(
          g, &v, "exp",
          ox_call(g, "exp", call_two(g, "-", read_element(g, &v, &v.x), read_element(g, &v, &most)),
                  NULL, NULL),
          &e))
    return false;
  if (!sum(g, &v, "sum", "+=", read_element(g, &v, &e), &z)) return false;
  ox_expr *value =
      log ? call_two(g, "-",
                     call_two(g, "-", read_element(g, &v, &v.x), read_element(g, &v, &most)),
                     ox_call(g, "log", read_element(g, &v, &z), NULL, NULL))
          : call_two(g, "/", read_element(g, &v, &e), read_element(g, &v, &z));
  return make_elements(g, &v, NULL, value, &out) && ox_give(g, 0, &out);
}

/* ---- normalisations ------------------------------------------------------------------------- */

/* (x - mean) / sqrt(variance + epsilon), mean and variance over the axes that v reduces. */
static ox_expr *normal(ox_net *g, const open_value *v) {
  ox_value total, mean, squares, deviation;
  if (!sum(g, v, "sum", "+=", read_element(g, v, &v->x), &total)) return NULL;
  if (!sum(g, v, "mean", "=", call_number(g, "*", read_element(g, v, &total), 1 / v->many), &mean))
    return NULL;
  ox_expr *d = call_two(g, "-", read_element(g, v, &v->x), read_element(g, v, &mean)),
          *again = call_two(g, "-", read_element(g, v, &v->x), read_element(g, v, &mean));
  if (!sum(g, v, "squares", "+=", call_two(g, "*", d, again), &squares)) return NULL;
  ox_expr *var = call_number(g, "+", call_number(g, "*", read_element(g, v, &squares), 1 / v->many),
                             ox_float(g, "epsilon", 1e-5));
  if (!sum(g, v, "deviation", "=", ox_call(g, "sqrt", var, NULL, NULL), &deviation)) return NULL;
  return call_two(g, "/", call_two(g, "-", read_element(g, v, &v->x), read_element(g, v, &mean)),
                  read_element(g, v, &deviation));
}

static bool scaled(ox_net *g, const open_value *v, ox_expr *e, int first, bool one) {
  ox_value out;
  if (e && ox_has(g, 1)) e = call_two(g, "*", e, weight(g, v, 1, first, one));
  if (e && ox_has(g, 2)) e = call_two(g, "+", e, weight(g, v, 2, first, one));
  return make_elements(g, v, NULL, e, &out) && ox_give(g, 0, &out);
}

static bool layer_norm(ox_net *g) {
  open_value v = {0};
  int axis;
  if (ox_is_wanted(g, 1) || ox_is_wanted(g, 2)) return ox_layer_norm_parts(g);
  if (!ox_placed(g, 0, &v.x) || !ox_axis_at(g, ox_int(g, "axis", -1), v.x.rank, &axis))
    return false;
  for (int k = axis; k < v.x.rank; k++)
    v.reduced[k] = true;
  return open_axes(g, &v) && scaled(g, &v, normal(g, &v), axis, false);
}

static bool rms_norm(ox_net *g) {
  open_value v = {0};
  ox_value squares, root;
  int axis;
  if (!ox_placed(g, 0, &v.x) || !ox_axis_at(g, ox_int(g, "axis", -1), v.x.rank, &axis))
    return false;
  for (int k = axis; k < v.x.rank; k++)
    v.reduced[k] = true;
  if (!open_axes(g, &v) ||
      !sum(g, &v, "squares",
           "+=", call_two(g, "*", read_element(g, &v, &v.x), read_element(g, &v, &v.x)), &squares))
    return false;
  ox_expr *e = call_number(g, "+", call_number(g, "*", read_element(g, &v, &squares), 1 / v.many),
                           ox_float(g, "epsilon", 1e-5));
  if (!sum(g, &v, "root", "=", ox_call(g, "sqrt", e, NULL, NULL), &root)) return false;
  return scaled(g, &v, call_two(g, "/", read_element(g, &v, &v.x), read_element(g, &v, &root)),
                axis, false);
}

static bool instance_norm(ox_net *g) {
  open_value v = {0};
  if (!ox_placed(g, 0, &v.x)) return false;
  if (v.x.rank < 3) return ox_fail(g, TF_E_RANK, "an instance of %d axes", v.x.rank);
  for (int k = 2; k < v.x.rank; k++)
    v.reduced[k] = true;
  return open_axes(g, &v) && scaled(g, &v, normal(g, &v), 1, true);
}

/* Channels in groups, each normal by itself: a group is an axis of its own between. */
static bool group_norm(ox_net *g) {
  open_value v = {0};
  ox_value out, back;
  const int64_t many = ox_int(g, "num_groups", 0);
  int64_t shape[OX_RANK], whole[OX_RANK];
  if (!ox_placed(g, 0, &v.x)) return false;
  const int rank = v.x.rank;
  if (rank < 2 || rank >= OX_RANK || many < 1 || ox_extent(&v.x, 1) % many)
    return ox_fail(g, TF_E_SHAPE, "%lld groups of the channels of %d axes", (long long)many, rank);
  for (int k = 0; k < rank; k++)
    whole[k] = ox_extent(&v.x, k), shape[k + (k > 0)] = whole[k];
  shape[1] = many, shape[2] = whole[1] / many;
  if (!ox_reshape(g, &v.x, rank + 1, shape)) return false;
  for (int k = 2; k <= rank; k++)
    v.reduced[k] = true;
  if (!open_axes(g, &v) || !make_elements(g, &v, "normal", normal(g, &v), &out) ||
      !ox_reshape(g, &out, rank, whole))
    return false;
  open_value w = {.x = out};
  ox_value scale;
  if (!ox_placed(g, 1, &scale)) return false;
  const bool by_group = scale.rank == 1 && ox_extent(&scale, 0) == many && many != whole[1];
  if (by_group && !ox_reshape(g, &w.x, rank + 1, shape)) return false;
  if (!open_axes(g, &w)) return false;
  ox_expr *e = call_two(g, "*", read_element(g, &w, &w.x), weight(g, &w, 1, 1, true));
  e = e ? call_two(g, "+", e, weight(g, &w, 2, 1, true)) : NULL;
  return make_elements(g, &w, NULL, e, &back) && ox_reshape(g, &back, rank, whole) &&
         ox_give(g, 0, &back);
}

/* log(sum(exp(x))), with the largest x taken out of the sum, so that no exponential is too large.
 */
static bool log_sum_exp(ox_net *g) {
  open_value v = {0};
  ox_value most, z, out;
  bool done;
  if (!take_nothing(g, &done) || done) return done && ox_find(g, g->node->output[0]);
  if (!ox_placed(g, 0, &v.x) || !ox_reduced_axes(g, v.x.rank, v.reduced) || !open_axes(g, &v))
    return false;
  if (!sum(g, &v, "max", "max=", read_element(g, &v, &v.x), &most)) return false;
  ox_expr *e =
      ox_call(g, "exp", call_two(g, "-", read_element(g, &v, &v.x), read_element(g, &v, &most)),
              NULL, NULL);
  if (!sum(g, &v, "sum", "+=", e, &z)) return false;
  e = call_two(g, "+", ox_call(g, "log", ox_read(g, &z, v.all), NULL, NULL),
               ox_read(g, &most, v.all));
  return sum(g, &v, NULL, "=", e, &out) && drop(g, &v, &out) && ox_give(g, 0, &out);
}

/* x over its norm along one axis: the sum of what its elements are without sign, or the root of
 * that of their squares.
 */
static bool lp_norm(ox_net *g) {
  open_value v = {0};
  ox_value norm, out;
  int axis;
  const int64_t power = ox_int(g, "p", 2);
  const bool squares = power == 2;
  if (power != 1 && power != 2)
    return ox_fail(g, TF_E_RANGE, "p is %lld; 1 and 2 are known", (long long)power);
  if (!ox_placed(g, 0, &v.x) || !ox_axis_at(g, ox_int(g, "axis", -1), v.x.rank, &axis))
    return false;
  v.reduced[axis] = true;
  if (!open_axes(g, &v)) return false;
  ox_expr *e = read_element(g, &v, &v.x);
  e = squares ? call_two(g, "*", e, read_element(g, &v, &v.x)) : ox_call(g, "abs", e, NULL, NULL);
  if (!sum(g, &v, "norm", "+=", e, &norm)) return false;
  e = ox_read(g, &norm, v.all);
  e = call_number(g, "max", squares ? ox_call(g, "sqrt", e, NULL, NULL) : e,
                  FLT_MIN); /* zeros stay zeros */
  e = call_two(g, "/", read_element(g, &v, &v.x), e);
  return make_elements(g, &v, NULL, e, &out) && ox_give(g, 0, &out);
}

/* The file's tensor if the value is all of it; NULL otherwise. */
static const Onnx__TensorProto *file_tensor(const ox_net *g, const ox_value *v) {
  if (v->tensor < 0) return v->data;
  return ox_is_whole(g, v) ? g->tensor[v->tensor].source.data : NULL;
}

enum { SCALE, SHIFT, MEAN, VARIANCE, BATCH };

/* Weights of the file: their numbers are read where the factor is packed. */
static bool of_file(ox_net *g, ox_source *out) {
  for (size_t k = 0; k < BATCH; k++)
    if (!(out->batch[k] = file_tensor(g, ox_input(g, k + 1)))) return false;
  return true;
}

/* Numbers that are known, wherever they come from: those of the factor. */
static bool of_numbers(ox_net *g, int i, int64_t channels, ox_source *out) {
  const ox_value *v[BATCH];
  for (size_t k = 0; k < BATCH; k++)
    if (!(v[k] = ox_read_at(g, k + 1))) return false;
  double *x = ox_numbers_room(g, channels);
  for (int64_t c = 0; x && c < channels; c++) {
    const double factor = v[SCALE]->number[c] / sqrt(v[VARIANCE]->number[c] + out->epsilon);
    x[c] = i ? v[SHIFT]->number[c] - v[MEAN]->number[c] * factor : factor;
  }
  *out = (ox_source){.number = x};
  return x != NULL;
}

/* Data, or parts of weights: an op computes the factor. */
static bool of_data(ox_net *g, int i, ox_value *factor) {
  ox_value v[BATCH];
  ox_axis axis = {0};
  const ox_axis *const at[] = {&axis};
  ox_expr *x[BATCH] = {NULL};
  ox_begin(g);
  for (size_t k = 0; k < BATCH; k++)
    if (!ox_placed(g, k + 1, &v[k]) || !ox_join(g, &axis, &v[k], 0)) return false;
  if (!ox_open(g, &axis)) return false;
  for (size_t k = 0; k < BATCH; k++)
    if ((i || k == SCALE || k == VARIANCE) && !(x[k] = ox_read(g, &v[k], at))) return false;
  ox_expr *root = ox_call(g, "sqrt", call_number(g, "+", x[VARIANCE], ox_float(g, "epsilon", 1e-5)),
                          NULL, NULL);
  ox_expr *e = call_two(g, "/", x[SCALE], root);
  if (i) e = call_two(g, "-", x[SHIFT], call_two(g, "*", x[MEAN], e));
  return ox_make(g, ox_part(g, i ? "shift" : "scale"), "=", e, at, 1, factor);
}

/* The scale (i 0) or shift of each channel of a BatchNormalization. */
static bool factor_of(ox_net *g, int i, int64_t channels, ox_value *factor) {
  ox_source source = {.epsilon = ox_float(g, "epsilon", 1e-5), .fold = i ? OX_SHIFT : OX_SCALE};
  if (!of_file(g, &source) && !of_numbers(g, i, channels, &source))
    return !g->oom && of_data(g, i, factor);
  const int t = ox_new_tensor(g, ox_part(g, i ? "shift" : "scale"));
  if (t < 0) return false;
  ox_whole(factor, t, 1, &channels);
  g->tensor[t].rank = 1;
  g->tensor[t].shape[0] = channels;
  g->tensor[t].source = source;
  if (i)
    tf_page_add(&g->notes, "# %s: scale = %s / sqrt(%s + %g), shift = %s - %s * scale\n",
                g->node->output[0], g->node->input[1], g->node->input[4],
                ox_float(g, "epsilon", 1e-5), g->node->input[2], g->node->input[3]);
  return true;
}

/* In inference mean and variance are weights: it becomes a scale and a shift of each channel,
 * computed once. */
static bool batch_norm(ox_net *g) {
  open_value v = {0};
  ox_value out, factor[2] = {0};
  bool more = false; /* results of training */
  for (size_t k = 1; k < g->node->n_output; k++)
    more |= *g->node->output[k] != '\0';
  if (ox_int(g, "training_mode", 0)) return ox_batch_norm_training(g);
  if ((g->opset < 7 && !ox_int(g, "is_test", 0)) || (g->opset < 14 && more))
    return ox_fail(g, TF_E_NAME,
                   "training (is_test is 0, or it has more than one result) is not known");
  if (!ox_int(g, "spatial", 1)) return ox_fail(g, TF_E_NAME, "spatial 0 is not known");
  if (!ox_placed(g, 0, &v.x)) return false;
  if (v.x.rank < 2 || g->node->n_input != 5)
    return ox_fail(g, TF_E_RANK, "five inputs are needed, the first with two axes");
  const int64_t channels = ox_extent(&v.x, 1);
  for (size_t k = 1; k < 5; k++) {
    const ox_value *w = ox_input(g, k);
    if (!w || w->rank != 1 || ox_extent(w, 0) != channels)
      return ox_fail(g, TF_E_SHAPE, "weights of another shape than [%lld]", (long long)channels);
  }
  for (int i = 0; i < 2; i++)
    if (!factor_of(g, i, channels, &factor[i])) return false;
  if (!open_axes(g, &v)) return false;
  ox_expr *e = call_two(g, "*", read_element(g, &v, &v.x), ox_read(g, &factor[0], v.all + 1));
  return make_elements(g, &v, NULL,
                       e ? call_two(g, "+", e, ox_read(g, &factor[1], v.all + 1)) : NULL, &out) &&
         ox_give(g, 0, &out);
}

/* ---- composed of these ---------------------------------------------------------------------- */

/* LayerNormalization whose mean or deviation is a result, too. */
bool ox_layer_norm_parts(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  int axis;
  int64_t over[OX_RANK];
  if (!v || !ox_axis_at(g, ox_int(g, "axis", -1), v->rank, &axis)) return false;
  for (int k = axis; k < v->rank; k++)
    over[k - axis] = k;
  for (size_t k = 1; k < 3 && ox_has(g, k); k++) {
    const ox_value *w = ox_input(g, k);
    bool fits = w && w->rank == v->rank - axis;
    for (int i = 0; fits && i < w->rank; i++)
      fits = ox_extent(w, i) == ox_extent(v, axis + i);
    if (!fits)
      return w ? ox_fail(g, TF_E_SHAPE, "'%.60s' has another shape than what it weighs", w->name)
               : false;
  }
  const bool mean = ox_is_wanted(g, 1), deviation = ox_is_wanted(g, 2), shift = ox_has(g, 2);
  return ox_run(g, "mean = ReduceMean($0, %s)", ox_list(g, v->rank - axis, over)) &&
         ox_run(g, "d = Sub($0, mean)") && ox_run(g, "dd = Mul(d, d)") &&
         ox_run(g, "var = ReduceMean(dd, %s)", ox_list(g, v->rank - axis, over)) &&
         ox_run(g, "more = Add(var, %.17e)", ox_float(g, "epsilon", 1e-5)) &&
         ox_run(g, "root = Sqrt(more)") && ox_run(g, "inv = Reciprocal(root)") &&
         ox_run(g, "normal = Mul(d, inv)") &&
         ox_run(g, "%s = Mul(normal, $1)", shift ? "scaled" : "@0") &&
         (!shift || ox_run(g, "@0 = Add(scaled, $2)")) &&
         (!mean || ox_run(g, "@1 = Identity(mean)")) &&
         (!deviation || ox_run(g, "@2 = Identity(inv)"));
}

static bool mean_variance(ox_net *g) {
  static const int64_t usual[] = {0, 2, 3};
  size_t n;
  const int64_t *axes = ox_ints(g, "axes", &n);
  const char *over =
      axes ? ox_list(g, (int)(n < OX_RANK ? n : OX_RANK), axes) : ox_list(g, 3, usual);
  return ox_run(g, "mean = ReduceMean($0, %s)", over) && ox_run(g, "d = Sub($0, mean)") &&
         ox_run(g, "dd = Mul(d, d)") && ox_run(g, "var = ReduceMean(dd, %s)", over) &&
         ox_run(g, "root = Sqrt(var)") && ox_run(g, "more = Add(root, 1.0e-9)") &&
         ox_run(g, "@0 = Div(d, more)");
}

/* Channels over a power of the squares of those beside them. */
static bool local_norm(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  const int64_t size = ox_int(g, "size", 0), before = (size - 1) / 2, after = size - 1 - before;
  const double bias = ox_float(g, "bias", 1);
  if (!v) return false;
  if (v->rank < 3 || v->rank > 5 || size < 1 || size > OX_MOST_EXTENT || !(bias > 0))
    return ox_fail(g, TF_E_RANGE, "%lld channels beside each other of %d axes, from %g on",
                   (long long)size, v->rank, bias);
  static const char *const kernel[] = {"1", "1,1", "1,1,1"}, *const pads[] = {"0", "0,0", "0,0,0"};
  const int more = v->rank - 3; /* axes behind the channels, less one */
  return ox_run(g, "squares = Mul($0, $0)") && ox_run(g, "apart = Unsqueeze(squares, [1])") &&
         ox_run(g,
                "mean = AveragePool(apart) kernel_shape=%lld,%s pads=%lld,%s,%lld,%s "
                "count_include_pad=1",
                (long long)size, kernel[more], (long long)before, pads[more], (long long)after,
                pads[more]) &&
         ox_run(g, "beside = Squeeze(mean, [1])") &&
         ox_run(g, "part = Mul(beside, %.17e)", ox_float(g, "alpha", 1e-4)) &&
         ox_run(g, "sum = Add(part, %.17e)", bias) && ox_run(g, "log = Log(sum)") &&
         ox_run(g, "power = Mul(log, %.17e)", -ox_float(g, "beta", 0.75)) &&
         ox_run(g, "factor = Exp(power)") && ox_run(g, "@0 = Mul($0, factor)");
}

/* BatchNormalization in training: of the batch's own mean and deviation, which running ones follow.
 */
bool ox_batch_norm_training(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  const double keep = ox_float(g, "momentum", 0.9);
  int64_t over[OX_RANK];
  int n = 0;
  if (!v) return false;
  if (v->rank < 2 || g->node->n_input != 5)
    return ox_fail(g, TF_E_RANK, "five inputs are needed, the first with two axes");
  for (int k = 0; k < v->rank; k++)
    if (k != 1) over[n++] = k;
  const char *axes = ox_list(g, n, over), *channel = ox_ones(g, v->rank, 1, ox_extent(v, 1));
  if (!ox_run(g, "m = ReduceMean($0, %s)", axes) || !ox_run(g, "d = Sub($0, m)") ||
      !ox_run(g, "dd = Mul(d, d)") || !ox_run(g, "var = ReduceMean(dd, %s)", axes) ||
      !ox_run(g, "more = Add(var, %.17e)", ox_float(g, "epsilon", 1e-5)) ||
      !ox_run(g, "root = Sqrt(more)") || !ox_run(g, "normal = Div(d, root)") ||
      !ox_run(g, "s = Reshape($1, %s)", channel) || !ox_run(g, "b = Reshape($2, %s)", channel) ||
      !ox_run(g, "scaled = Mul(normal, s)") || !ox_run(g, "@0 = Add(scaled, b)"))
    return false;
  for (size_t k = 1; k < 3; k++) {
    const char *of = k == 1 ? "m" : "var";
    if (ox_is_wanted(g, k) && (!ox_run(g, "%s.1 = Squeeze(%s, %s)", of, of, axes) ||
                               !ox_run(g, "%s.2 = Mul(%s.1, %.17e)", of, of, 1 - keep) ||
                               !ox_run(g, "%s.3 = Mul($%zu, %.17e)", of, k + 2, keep) ||
                               !ox_run(g, "@%zu = Add(%s.3, %s.2)", k, of, of)))
      return false;
  }
  return true;
}

/* ---- norms of windows ----------------------------------------------------------------------- */

/* The p-th root of `from`, as the result. */
static bool root(ox_net *g, const char *from, int64_t p) {
  if (p == 1) return ox_run(g, "@0 = Identity(%s)", from);
  return p == 2 ? ox_run(g, "@0 = Sqrt(%s)", from)
                : ox_run(g, "@0 = Pow(%s, %.17e)", from, 1 / (double)p);
}

static bool check_power(ox_net *g, int64_t p) {
  return (p >= 1 && p <= 16) ||
         ox_fail(g, TF_E_RANGE, "p is %lld; 1 to 16 are known", (long long)p);
}

static bool lp_pool(ox_net *g) {
  const int64_t p = ox_int(g, "p", 2);
  size_t n;
  const int64_t *kernel = ox_ints(g, "kernel_shape", &n);
  double many = 1;
  for (size_t i = 0; kernel && i < n; i++)
    many *= (double)kernel[i];
  const char *how = ox_word(g, "auto_pad", "NOTSET");
  if (!how || !check_power(g, p)) return false;
  if (!kernel) return ox_fail(g, TF_E_MISSING, "no kernel_shape");
  if (ox_int(g, "ceil_mode", 0)) return ox_fail(g, TF_E_NAME, "ceil_mode is not known");
  return ox_run(g, "size = Abs($0)") && ox_run(g, "power = Pow(size, %.17e)", (double)p) &&
         ox_run(g, "mean = AveragePool(power) auto_pad=%s %s %s %s %s count_include_pad=1", how,
                ox_same_list(g, "kernel_shape"), ox_same_list(g, "strides"),
                ox_same_list(g, "dilations"), ox_same_list(g, "pads")) &&
         ox_run(g, "sum = Mul(mean, %.17e)", many) && root(g, "sum", p);
}

static bool global_lp_pool(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  const int64_t p = ox_int(g, "p", 2);
  int64_t over[OX_RANK];
  if (!v || !check_power(g, p)) return false;
  if (v->rank < 3) return ox_fail(g, TF_E_RANK, "pooling of %d axes", v->rank);
  for (int k = 2; k < v->rank; k++)
    over[k - 2] = k;
  return ox_run(g, "size = Abs($0)") && ox_run(g, "power = Pow(size, %.17e)", (double)p) &&
         ox_run(g, "sum = ReduceSum(power, %s)", ox_list(g, v->rank - 2, over)) &&
         root(g, "sum", p);
}

const ox_kind ox_sums[] = {
    {"LpPool", lp_pool, NULL},
    {"GlobalLpPool", global_lp_pool, NULL},
    {"MeanVarianceNormalization", mean_variance, NULL},
    {"LRN", local_norm, NULL},
    {"ReduceSum", reduce, "+="},
    {"ReduceMean", reduce, "+="},
    {"ReduceMax", reduce, "max="},
    {"ReduceMin", reduce, "min="},
    {"ReduceProd", reduce, "*="},
    {"ReduceSumSquare", reduce, "+="},
    {"ReduceL1", reduce, "+="},
    {"ReduceL2", reduce, "+="},
    {"GlobalAveragePool", reduce, "+="},
    {"GlobalMaxPool", reduce, "max="},
    {"Softmax", softmax, NULL},
    {"LogSoftmax", softmax, NULL},
    {"LayerNormalization", layer_norm, NULL},
    {"SimplifiedLayerNormalization", rms_norm, NULL},
    {"RMSNormalization", rms_norm, NULL},
    {"InstanceNormalization", instance_norm, NULL},
    {"GroupNormalization", group_norm, NULL},
    {"ReduceLogSumExp", log_sum_exp, NULL},
    {"ReduceLogSum", reduce, "+="},
    {"LpNormalization", lp_norm, NULL},
    {"BatchNormalization", batch_norm, NULL},
    {NULL, NULL, NULL},
};
