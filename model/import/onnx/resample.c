/* Nodes that mix neighbours by numbers known here: resizing, mirrored and repeated borders, elements chosen by lists.
 */
#include <math.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

bool ox_table(ox_net *g, const char *part, int rank, const int64_t *shape, const double *number, ox_value *out) {
  const int t = number ? ox_new_tensor(g, ox_part(g, part)) : -1;
  if (t < 0) return false;
  ox_tensor *made = &g->tensor[t];
  *out = (ox_value){.name = made->from};
  ox_whole(out, t, rank, shape);
  made->rank = rank;
  made->source.number = number;
  memcpy(made->shape, shape, (size_t)rank * sizeof *shape);
  return true;
}

bool ox_blend_room(ox_net *g, int64_t n, int64_t taps, ox_blend *out) {
  *out = (ox_blend){.n = n, .taps = taps};
  out->at = n <= OX_FOLDED ? ox_places_room(g, n * taps) : ox_places_room(g, n);
  out->weight = out->at ? ox_numbers_room(g, n * taps) : NULL;
  if (out->at && !out->weight && !g->oom)
    return ox_fail(g, TF_E_LIMIT, "more than %d numbers that are computed here", OX_FOLDED_IN_ALL);
  return out->weight != NULL;
}

/* The result in rows of `rows` elements, each of which begins `step` elements of v after the last: the elements that
 * any of a row reads lie from `low` after its begin, `taps` of them. */
typedef struct {
  int64_t rows, step, low, taps;
} band;

static band band_of(const ox_blend *b, int64_t rows, int64_t step) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int64_t i = 0; i < b->n; i++)
    for (int64_t k = 0; k < b->taps; k++) {
      if (b->at[i * b->taps + k] < 0) continue;
      const int64_t from = b->at[i * b->taps + k] - i / rows * step;
      low = from < low ? from : low;
      high = from > high ? from : high;
    }
  return low > high ? (band){rows, step, 0, 1} : (band){rows, step, low, high - low + 1};
}

static int64_t common_divisor(int64_t a, int64_t b) { return b ? common_divisor(b, a % b) : a; }

/* The band of fewest taps: in the ratio of the extents, element by element, or all at once. */
static band narrowest(const ox_blend *b, int64_t in) {
  const int64_t d = common_divisor(b->n, in);
  const band ratio = band_of(b, b->n / d, in / d), single = band_of(b, 1, 1), all = band_of(b, b->n, 0);
  const band *best = single.taps < ratio.taps ? &single : &ratio;
  return all.taps < best->taps ? all : *best;
}

/* What each element of the result takes of each of the band: [n][taps]. */
static const double *weights_of(ox_net *g, const ox_blend *b, const band *s) {
  if (s->taps > OX_FOLDED / b->n) {
    ox_fail(g, TF_E_LIMIT, "more than %d numbers of a table", OX_FOLDED);
    return NULL;
  }
  double *w = ox_numbers_room(g, b->n * s->taps);
  if (!w) {
    if (!g->oom) ox_fail(g, TF_E_LIMIT, "more than %d numbers that are computed here", OX_FOLDED_IN_ALL);
    return NULL;
  }
  memset(w, 0, (size_t)(b->n * s->taps) * sizeof *w);
  for (int64_t i = 0; i < b->n; i++)
    for (int64_t k = 0; k < b->taps; k++) {
      const int64_t at = b->at[i * b->taps + k];
      if (at >= 0) w[i * s->taps + at - i / s->rows * s->step - s->low] += b->weight[i * b->taps + k];
    }
  return w;
}

/* An axis of one element becomes one of n: the same element again. */
static bool repeat_one(ox_net *g, ox_value *v, int axis, int64_t n) {
  int64_t shape[OX_RANK];
  for (int k = 0; k < v->rank; k++)
    shape[k] = k == axis ? n : ox_extent(v, k);
  return ox_repeat(g, v, v->rank, shape);
}

bool ox_mix(ox_net *g, ox_value *v, int axis, const ox_blend *b) {
  const int64_t in = ox_extent(v, axis);
  if (in == 1) return repeat_one(g, v, axis, b->n);
  const band s = narrowest(b, in);
  const int64_t shape[] = {b->n / s.rows, s.rows, s.taps};
  ox_axis axes[OX_RANK] = {0}, row, element, tap, all_of;
  const ox_axis *at[OX_RANK], *made[OX_RANK], *const of_table[] = {&row, &element, &tap};
  const char *name = v->name;
  ox_value table;
  int64_t extent[OX_RANK];
  for (int k = 0; k < v->rank; k++)
    extent[k] = ox_extent(v, k);
  if (v->n[axis] > 1 && !ox_recast(g, v, v->rank, extent)) return false;
  if (ox_rank_of(g, v, axis) < 0 && !ox_copy(g, v, name)) return false;
  const int r = ox_rank_of(g, v, axis);
  if (r < 0 || !ox_table(g, "table", 3, shape, weights_of(g, b, &s), &table)) return false;
  ox_begin(g);
  for (int k = 0; k < v->rank; k++) {
    if (k != axis && (!ox_join(g, &axes[k], v, k) || !ox_open(g, &axes[k]))) return false;
    at[k] = k == axis ? NULL : &axes[k];
    made[k] = k == axis ? &all_of : &axes[k];
  }
  if (!ox_open_extent(g, &row, shape[0]) || !ox_open_extent(g, &element, shape[1]) ||
      !ox_open_extent(g, &tap, shape[2]) || !ox_combine(g, &row, &element, &all_of))
    return false;
  ox_expr *x = ox_read(g, v, at), *w = x ? ox_read(g, &table, of_table) : NULL;
  if (!w) return false;
  ox_add_term(&x->index[r], &row, 1, s.step);
  ox_add_term(&x->index[r], &tap, 1, 1);
  x->index[r].c += s.low;
  ox_pad_rank(&g->tensor[v->tensor], r, -s.low, (shape[0] - 1) * s.step + s.low + s.taps - in);
  const int rank = v->rank;
  return ox_make(g, ox_part(g, "mixed"), s.taps > 1 ? "+=" : "=", ox_call(g, "*", x, w, NULL), made, rank, v);
}

/* ---- resizing ------------------------------------------------------------------------------------------------- */

/* How an axis is resized, as the operator's attributes say. */
typedef struct {
  const char *where, *round, *mode;
  double cubic, scale;
  bool inside; /* what lies outside has no weight, and the others more */
  int64_t in, out;
} sizing;

/* x over the scale: where the result has just as many elements as that makes, by whole numbers, as a scale that is
 * rounded would put what lies on an element beside it. */
static double unscaled(const sizing *s, double x) {
  const bool whole = fabs(s->scale * (double)s->in - (double)s->out) < 1e-9 * (double)s->out;
  return whole ? x * (double)s->in / (double)s->out : x / s->scale;
}

/* Where element i of the result lies among those of the input. */
static double source_of(const sizing *s, int64_t i) {
  const double x = (double)i, out = s->scale * (double)s->in;
  if (!strcmp(s->where, "align_corners")) return s->out > 1 ? x * (double)(s->in - 1) / (double)(s->out - 1) : 0;
  if (!strcmp(s->where, "asymmetric")) return unscaled(s, x);
  if (!strcmp(s->where, "pytorch_half_pixel") && s->out == 1) return 0;
  const double half = unscaled(s, x + 0.5) - 0.5;
  if (strcmp(s->where, "half_pixel_symmetric") != 0) return half;
  return (double)s->in / 2 * (1 - (double)s->out / out) + half;
}

static double rounded(const sizing *s, double x) {
  if (!strcmp(s->round, "floor")) return floor(x);
  if (!strcmp(s->round, "ceil")) return ceil(x);
  return !strcmp(s->round, "round_prefer_ceil") ? floor(x + 0.5) : ceil(x - 0.5);
}

/* The convolution kernel of cubic resizing, at distance x. */
static double cubic_at(double a, double x) {
  x = fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static void fill(const sizing *s, ox_blend *b) {
  const bool cubic = !strcmp(s->mode, "cubic"), linear = !strcmp(s->mode, "linear");
  for (int64_t i = 0; i < s->out; i++) {
    const double x = source_of(s, i), first = cubic || linear ? floor(x) - (cubic ? 1 : 0) : rounded(s, x);
    double sum = 0;
    for (int64_t k = 0; k < b->taps; k++) {
      const double at = first + (double)k, most = (double)(s->in - 1);
      double w = cubic ? cubic_at(s->cubic, x - at) : linear ? 1 - fabs(x - at) : 1;
      if (s->inside && (at < 0 || at > most)) w = 0;
      b->at[i * b->taps + k] = (int64_t)(at < 0 ? 0 : at > most ? most : at);
      b->weight[i * b->taps + k] = w;
      sum += w;
    }
    for (int64_t k = 0; k < b->taps && s->inside && sum != 0; k++)
      b->weight[i * b->taps + k] /= sum;
  }
}

static bool resize_axis(ox_net *g, ox_value *v, int axis, const sizing *s) {
  ox_blend b;
  if (s->in == 1) return repeat_one(g, v, axis, s->out);
  const int64_t taps = !strcmp(s->mode, "cubic") ? 4 : !strcmp(s->mode, "linear") ? 2 : 1;
  if (!ox_blend_room(g, s->out, taps, &b)) return false;
  fill(s, &b);
  return ox_mix(g, v, axis, &b);
}

static bool is_one_of(const char *text, const char *const *of) {
  for (; *of; of++)
    if (!strcmp(text, *of)) return true;
  return false;
}

static bool read_sizing(ox_net *g, sizing *s) {
  static const char *const wheres[] = {"half_pixel", "pytorch_half_pixel",   "align_corners",
                                       "asymmetric", "half_pixel_symmetric", NULL},
                           *const modes[] = {"nearest", "linear", "cubic", NULL},
                           *const rounds[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
  const bool old = !strcmp(g->node->op_type, "Upsample") || g->opset < 11;
  *s = (sizing){.where = old ? "asymmetric" : ox_text(g, "coordinate_transformation_mode", "half_pixel"),
                .round = old ? "floor" : ox_text(g, "nearest_mode", "round_prefer_floor"),
                .mode = ox_text(g, "mode", "nearest"),
                .cubic = ox_float(g, "cubic_coeff_a", -0.75),
                .inside = ox_int(g, "exclude_outside", 0) != 0};
  if (!strcmp(s->mode, "bilinear")) s->mode = "linear";
  if (!is_one_of(s->mode, modes)) return ox_fail(g, TF_E_NAME, "mode '%.40s'; known: nearest, linear, cubic", s->mode);
  if (!isfinite(s->cubic)) return ox_fail(g, TF_E_RANGE, "cubic_coeff_a is %g", s->cubic);
  if (!is_one_of(s->where, wheres)) return ox_fail(g, TF_E_NAME, "coordinates '%.40s' are not known", s->where);
  if (!is_one_of(s->round, rounds)) return ox_fail(g, TF_E_NAME, "nearest_mode '%.40s' is not known", s->round);
  if (strcmp(s->mode, "nearest") != 0 && ox_is_integer(ox_find(g, g->node->input[0])->type))
    return ox_fail(g, TF_E_TYPE, "mode '%.40s' of integers cuts, which the workload language cannot say", s->mode);
  if (ox_int(g, "antialias", 0)) return ox_fail(g, TF_E_NAME, "antialias is not known");
  if (strcmp(ox_text(g, "keep_aspect_ratio_policy", "stretch"), "stretch") != 0)
    return ox_fail(g, TF_E_NAME, "keep_aspect_ratio_policy other than stretch is not known");
  return true;
}

/* The i-th number of an input of n of them; 0: it is not known. */
static double listed_at(const ox_value *v, int64_t n, int64_t i) {
  return v && v->number && ox_size(v) == n ? v->number[i] : 0;
}

/* Scales of all axes, and extents of the result. */
static bool read_scales(ox_net *g, const ox_value *v, double *scale, int64_t *out) {
  const size_t k_scale = !strcmp(g->node->op_type, "Upsample") || g->opset < 11 ? 1 : 2;
  const ox_value *by = ox_has(g, k_scale) ? ox_input(g, k_scale) : NULL,
                 *size = !by && ox_has(g, 3) ? ox_input(g, 3) : NULL;
  const Onnx__AttributeProto *listed = ox_attribute(g, "scales");
  size_t n_axes;
  const int64_t *axes = ox_ints(g, "axes", &n_axes);
  const int64_t n = axes ? (int64_t)n_axes : v->rank;
  for (int k = 0; k < v->rank; k++)
    scale[k] = 1, out[k] = ox_extent(v, k);
  for (int64_t i = 0; i < n; i++) {
    int k = (int)i;
    if (axes && !ox_axis_at(g, axes[i], v->rank, &k)) return false;
    const double in = (double)ox_extent(v, k), many = listed_at(size, n, i);
    double x = size ? many / in : listed_at(by, n, i);
    if (!by && !size && listed && listed->n_floats == (size_t)n) x = (double)listed->floats[i];
    if (x == 0) return ox_fail(g, TF_E_OPEN, "neither scales nor sizes are known");
    const double made = size ? many : floor(in * x);
    if (!(made >= 1 && made <= OX_FOLDED && x > 0)) return ox_fail(g, TF_E_RANGE, "%g elements times %g", in, x);
    scale[k] = x, out[k] = (int64_t)made;
  }
  return true;
}

/* Whether each element is repeated `times` times, which is another index of the same tensor. */
static bool repeats(const sizing *s, int64_t *times) {
  *times = s->scale >= 1 && s->scale <= 1024 ? (int64_t)s->scale : 0;
  if (!*times || (double)*times != s->scale || s->out > OX_FOLDED || s->out != s->in * *times ||
      strcmp(s->mode, "nearest") != 0)
    return false;
  for (int64_t i = 0; i < s->out; i++) {
    const double at = rounded(s, source_of(s, i)), most = (double)(s->in - 1);
    if ((at < 0 ? 0 : at > most ? most : at) != (double)(i / *times)) return false;
  }
  return true;
}

static bool resize(ox_net *g) {
  ox_value v;
  sizing s;
  double scale[OX_RANK];
  int64_t out[OX_RANK], times[OX_RANK];
  bool mixed = false;
  if (!ox_placed(g, 0, &v) || !read_sizing(g, &s) || !read_scales(g, &v, scale, out)) return false;
  for (int k = 0; k < v.rank; k++) {
    s.in = ox_extent(&v, k), s.out = out[k], s.scale = scale[k];
    if (g->opset == 10 && !strcmp(g->node->op_type, "Resize"))
      s.round = s.scale < 1 ? "ceil" : "floor"; /* of opset 10 */
    const bool again = scale[k] == 1 || repeats(&s, &times[k]);
    times[k] = scale[k] == 1 || !again ? 1 : times[k];
    if (again) continue;
    if (!resize_axis(g, &v, k, &s)) return false;
    mixed = true;
  }
  if (mixed) v.number = NULL;
  return ox_repeat_each(g, &v, times) && ox_give(g, 0, &v);
}

const ox_kind ox_resizes[] = {{"Resize", resize, NULL}, {"Upsample", resize, NULL}, {NULL, NULL, NULL}};
