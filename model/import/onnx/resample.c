/* Nodes that mix neighbours by numbers known here: resizing, mirrored and repeated borders,
 * elements chosen by lists.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "model/import/onnx/onnx.h"

static const double PI = 3.14159265358979323846;

bool ox_blend_room(ox_net *g, int64_t n, int64_t taps, ox_blend *out) {
  *out = (ox_blend){.n = n, .taps = taps};
  out->source = n <= OX_FOLDED ? ox_places_room(g, n * taps) : ox_places_room(g, n);
  out->weight = out->source ? ox_numbers_room(g, n * taps) : NULL;
  if (out->source && !out->weight && !g->oom)
    return ox_fail(g, TF_E_LIMIT, "more than %d numbers that are computed here", OX_FOLDED_IN_ALL);
  return out->weight != NULL;
}

/* The result in rows of `rows` elements, each of which begins `step` elements of v after the last:
 * the elements that any of a row reads lie from `low` after its begin, `taps` of them. */
typedef struct {
  int64_t rows, step, low, taps;
} band;

static band band_of(const ox_blend *b, int64_t rows, int64_t step) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int64_t i = 0; i < b->n; i++)
    for (int64_t k = 0; k < b->taps; k++) {
      if (b->source[i * b->taps + k] < 0) continue;
      const int64_t from = b->source[i * b->taps + k] - i / rows * step;
      low = from < low ? from : low;
      high = from > high ? from : high;
    }
  return low > high ? (band){rows, step, 0, 1} : (band){rows, step, low, high - low + 1};
}

/* The band of fewest taps: in the ratio of the extents, element by element, or all at once. */
static band narrowest(const ox_blend *b, int64_t in) {
  const int64_t common = tf_gcd(b->n, in), d = common > 0 ? common : 1,
                rows = b->n > d ? b->n / d : 1;
  const band ratio = band_of(b, rows, in / d), single = band_of(b, 1, 1), all = band_of(b, b->n, 0);
  const band *best = single.taps < ratio.taps ? &single : &ratio;
  return all.taps < best->taps ? all : *best;
}

int64_t ox_mixed_taps(const ox_blend *b, int64_t in) { return narrowest(b, in).taps; }

/* What each element of the result takes of each of the band: [n][taps]. */
static const double *weights_of(ox_net *g, const ox_blend *b, const band *s) {
  if (s->taps > OX_FOLDED / b->n) {
    ox_fail(g, TF_E_LIMIT, "more than %d numbers of a table", OX_FOLDED);
    return NULL;
  }
  double *w = ox_numbers_room(g, b->n * s->taps);
  if (!w) {
    if (!g->oom)
      ox_fail(g, TF_E_LIMIT, "more than %d numbers that are computed here", OX_FOLDED_IN_ALL);
    return NULL;
  }
  memset(w, 0, (size_t)(b->n * s->taps) * sizeof *w);
  for (int64_t i = 0; i < b->n; i++)
    for (int64_t k = 0; k < b->taps; k++) {
      const int64_t at = b->source[i * b->taps + k];
      if (at >= 0)
        w[i * s->taps + at - i / s->rows * s->step - s->low] += b->weight[i * b->taps + k];
    }
  return w;
}

/* An axis of one element becomes one of n: the same element again. */
bool ox_repeat_one(ox_net *g, ox_value *v, int axis, int64_t n) {
  int64_t shape[OX_RANK];
  for (int k = 0; k < v->rank; k++)
    shape[k] = k == axis ? n : ox_extent(v, k);
  return ox_repeat(g, v, v->rank, shape);
}

bool ox_mix(ox_net *g, ox_value *v, int axis, const ox_blend *b) {
  const int64_t in = ox_extent(v, axis);
  if (in == 1) return ox_repeat_one(g, v, axis, b->n);
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
  return ox_make(g, ox_part(g, "mixed"), s.taps > 1 ? "+=" : "=", ox_call(g, "*", x, w, NULL), made,
                 rank, v);
}

/* ---- resizing ------------------------------------------------------------------------------- */

/* How an axis is resized, as the operator's attributes say. */
typedef struct {
  const char *where, *round, *mode;
  double cubic, scale, from,
      to;      /* from, to: the part of the axis that is resized, where that is not all of it */
  bool inside; /* what lies outside has no weight, and the others more */
  bool wide;   /* where elements become fewer, each takes of all between */
  int64_t in, out;
} sizing;

/* x over the scale: where the result has just as many elements as that makes, by whole numbers, as
 * a scale that is rounded would put what lies on an element beside it. */
static double unscaled(const sizing *s, double x) {
  const bool whole = fabs(s->scale * (double)s->in - (double)s->out) < 1e-9 * (double)s->out;
  return whole ? x * (double)s->in / (double)s->out : x / s->scale;
}

/* Where element i of the result lies among those of the input. */
static double source_of(const sizing *s, int64_t i) {
  const double x = (double)i, out = s->scale * (double)s->in;
  if (!strcmp(s->where, "tf_crop_and_resize")) {
    const double most = (double)(s->in - 1), span = (s->to - s->from) * most;
    return s->out > 1 ? s->from * most + x * span / (double)(s->out - 1)
                      : (s->from + s->to) / 2 * most;
  }
  if (!strcmp(s->where, "align_corners"))
    return s->out > 1 ? x * (double)(s->in - 1) / (double)(s->out - 1) : 0;
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

/* The factor of distances by which antialiasing widens the kernel. */
static double shrunk(const sizing *s) { return s->wide && s->scale < 1 ? s->scale : 1; }

/* Whether element i lies within the axis; where only a part of it is resized, others have a value
 * of their own. */
static bool lies_inside(const sizing *s, int64_t i) {
  const double x = source_of(s, i);
  return strcmp(s->where, "tf_crop_and_resize") != 0 || (x >= 0 && x <= (double)(s->in - 1));
}

static void fill_blend(const sizing *s, ox_blend *b) {
  const bool cubic = !strcmp(s->mode, "cubic"), linear = !strcmp(s->mode, "linear");
  const double by = shrunk(s), reach = by < 1 ? ceil((cubic ? 2 : 1) / by) - 1 : cubic ? 1 : 0;
  for (int64_t i = 0; i < s->out; i++) {
    const double x = source_of(s, i), first = cubic || linear ? floor(x) - reach : rounded(s, x);
    if (!lies_inside(s, i)) {
      for (int64_t k = 0; k < b->taps; k++)
        b->source[i * b->taps + k] = -1, b->weight[i * b->taps + k] = 0;
      continue;
    }
    double sum = 0;
    for (int64_t k = 0; k < b->taps; k++) {
      const double at = first + (double)k, most = (double)(s->in - 1);
      double w = cubic    ? cubic_at(s->cubic, (x - at) * by)
                 : linear ? fmax(1 - fabs(x - at) * by, 0)
                          : 1;
      if (s->inside && (at < 0 || at > most)) w = 0;
      b->source[i * b->taps + k] = (int64_t)(at < 0 ? 0 : at > most ? most : at);
      b->weight[i * b->taps + k] = w;
      sum += w;
    }
    for (int64_t k = 0; k < b->taps && (s->inside || by < 1) && sum != 0; k++)
      b->weight[i * b->taps + k] /= sum;
  }
}

static bool resize_axis(ox_net *g, ox_value *v, int axis, const sizing *s) {
  ox_blend b;
  if (s->in == 1) return ox_repeat_one(g, v, axis, s->out);
  const bool cubic = !strcmp(s->mode, "cubic"), linear = !strcmp(s->mode, "linear");
  const double wide = 2 * ceil((cubic ? 2 : 1) / shrunk(s));
  if (!(wide <= OX_FOLDED)) return ox_fail(g, TF_E_LIMIT, "windows of %g elements", wide);
  const int64_t taps = cubic || linear ? (int64_t)wide : 1;
  if (!ox_blend_room(g, s->out, taps, &b)) return false;
  fill_blend(s, &b);
  return ox_mix(g, v, axis, &b);
}

static bool is_one_of(const char *text, const char *const *of) {
  for (; *of; of++)
    if (!strcmp(text, *of)) return true;
  return false;
}

static bool read_sizing(ox_net *g, sizing *s) {
  static const char *const wheres[] = {"half_pixel", "pytorch_half_pixel",   "align_corners",
                                       "asymmetric", "half_pixel_symmetric", "tf_crop_and_resize",
                                       NULL},
                           *const modes[] = {"nearest", "linear", "cubic", NULL},
                           *const rounds[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                              "ceil", NULL};
  const bool old = !strcmp(g->node->op_type, "Upsample") || g->opset < 11;
  *s = (sizing){.where =
                    old ? "asymmetric" : ox_text(g, "coordinate_transformation_mode", "half_pixel"),
                .round = old ? "floor" : ox_text(g, "nearest_mode", "round_prefer_floor"),
                .mode = ox_text(g, "mode", "nearest"),
                .cubic = ox_float(g, "cubic_coeff_a", -0.75),
                .inside = ox_int(g, "exclude_outside", 0) != 0,
                .wide = ox_int(g, "antialias", 0) != 0,
                .to = 1};
  if (!strcmp(s->mode, "bilinear")) s->mode = "linear";
  if (!is_one_of(s->mode, modes))
    return ox_fail(g, TF_E_NAME, "mode '%.40s'; known: nearest, linear, cubic", s->mode);
  if (!isfinite(s->cubic)) return ox_fail(g, TF_E_RANGE, "cubic_coeff_a is %g", s->cubic);
  if (!is_one_of(s->where, wheres))
    return ox_fail(g, TF_E_NAME, "coordinates '%.40s' are not known", s->where);
  if (!is_one_of(s->round, rounds))
    return ox_fail(g, TF_E_NAME, "nearest_mode '%.40s' is not known", s->round);
  const int type = ox_find(g, g->node->input[0])->type;
  if (strcmp(s->mode, "nearest") != 0 && ox_is_integer(type))
    return ox_fail(g, TF_E_TYPE,
                   "mode '%.40s' of integers cuts, which the workload language cannot say",
                   s->mode);
  if (strcmp(s->mode, "nearest") != 0 && ox_type_kind_of(type) == OX_COARSE_KIND)
    return ox_fail(g, TF_E_TYPE, "mode '%.40s' of data of type %s", s->mode, ox_type_name(type));
  return true;
}

/* The i-th number of an input of n of them; 0: it is not known. */
static double listed_at(const ox_value *v, int64_t n, int64_t i) {
  return v && v->number && ox_size(v) == n ? v->number[i] : 0;
}

/* One scale for all axes whose sizes are given, so that the result is within them, or so that they
 * are within it. */
static bool keep_ratio(ox_net *g, const ox_value *v, const ox_value *size, double *out) {
  const char *how = ox_text(g, "keep_aspect_ratio_policy", "stretch");
  const bool least = !strcmp(how, "not_larger");
  size_t n_axes;
  const int64_t *axes = ox_ints(g, "axes", &n_axes);
  const int64_t n = axes ? (int64_t)n_axes : v->rank;
  *out = 0;
  if (!size || !strcmp(how, "stretch")) return true;
  if (!least && strcmp(how, "not_smaller") != 0)
    return ox_fail(g, TF_E_NAME, "keep_aspect_ratio_policy '%.40s'", how);
  for (int64_t i = 0; i < n; i++) {
    int k = (int)i;
    if (axes && !ox_axis_at(g, axes[i], v->rank, &k)) return false;
    const double x = listed_at(size, n, i) / (double)ox_extent(v, k);
    *out = i == 0 ? x : least ? fmin(*out, x) : fmax(*out, x);
  }
  return true;
}

/* The scale of an axis, of several ways to say it; 0: it is not known. */
static double scale_of(const ox_net *g, const ox_value *by, const ox_value *size, int64_t n,
                       int64_t i, double in) {
  const Onnx__AttributeProto *listed = ox_attribute(g, "scales");
  if (size) return listed_at(size, n, i) / in;
  if (by) return listed_at(by, n, i);
  return listed && listed->n_floats == (size_t)n ? (double)listed->floats[i] : 0;
}

/* Scales of all axes, and extents of the result; with `part` the ends of what is resized of each.
 */
static bool read_scales(ox_net *g, const ox_value *v, double *scale, int64_t *out, double *part) {
  const size_t k_scale = !strcmp(g->node->op_type, "Upsample") || g->opset < 11 ? 1 : 2;
  const ox_value *by = ox_has(g, k_scale) ? ox_input(g, k_scale) : NULL,
                 *size = !by && ox_has(g, 3) ? ox_input(g, 3) : NULL,
                 *roi = k_scale == 2 && ox_has(g, 1) ? ox_input(g, 1) : NULL;
  size_t n_axes;
  const int64_t *axes = ox_ints(g, "axes", &n_axes);
  const int64_t n = axes ? (int64_t)n_axes : v->rank;
  const bool crops =
      !strcmp(ox_text(g, "coordinate_transformation_mode", ""), "tf_crop_and_resize");
  double ratio;
  if (crops && (!roi || !roi->number || ox_size(roi) != 2 * n))
    return ox_fail(g, TF_E_OPEN, "the part that is resized is not known");
  if (!keep_ratio(g, v, size, &ratio)) return false;
  for (int k = 0; k < v->rank; k++)
    scale[k] = 1, out[k] = ox_extent(v, k), part[2 * k] = 0, part[2 * k + 1] = 1;
  for (int64_t i = 0; i < n; i++) {
    int k = (int)i;
    if (axes && !ox_axis_at(g, axes[i], v->rank, &k)) return false;
    const double in = (double)ox_extent(v, k),
                 x = ratio != 0 ? ratio : scale_of(g, by, size, n, i, in);
    if (x == 0) return ox_fail(g, TF_E_OPEN, "neither scales nor sizes are known");
    const double made = ratio != 0 ? floor(in * x + 0.5)
                        : size     ? listed_at(size, n, i)
                                   : floor(in * x);
    if (!(made >= 1 && made <= OX_FOLDED && x > 0))
      return ox_fail(g, TF_E_RANGE, "%g elements times %g", in, x);
    scale[k] = x, out[k] = (int64_t)made;
    if (crops) part[2 * k] = roi->number[i], part[2 * k + 1] = roi->number[n + i];
    if (!(fabs(part[2 * k]) <= 1e6 && fabs(part[2 * k + 1]) <= 1e6))
      return ox_fail(g, TF_E_RANGE, "a part that ends at %g", part[2 * k + 1]);
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

/* Elements that lie outside of what is resized have one value. */
static bool extrapolate(ox_net *g, const ox_value *v, const sizing *of) {
  char inside[40] = "";
  int n = 0;
  ox_value mixed = *v;
  mixed.name = ox_part(g, "resized");
  if (!ox_define(g, mixed.name, &mixed)) return false;
  for (int k = 0; k < v->rank; k++) {
    int64_t first = 0, last = of[k].out - 1;
    while (first <= last && !lies_inside(&of[k], first))
      first++;
    while (last >= first && !lies_inside(&of[k], last))
      last--;
    if (first == 0 && last == of[k].out - 1) continue;
    if (!ox_run(g, "at%d = Reshape({%lld}, %s)", k, (long long)of[k].out,
                ox_ones(g, v->rank, k, of[k].out)) ||
        !ox_run(g, "from%d = LessOrEqual(%lld, at%d)", k, (long long)first, k) ||
        !ox_run(g, "to%d = LessOrEqual(at%d, %lld)", k, k, (long long)last) ||
        !ox_run(g, "in%d = And(from%d, to%d)", k, k, k) ||
        (n && !ox_run(g, "all%d = And(%s, in%d)", k, inside, k)))
      return false;
    snprintf(inside, sizeof inside, n++ ? "all%d" : "in%d", k);
  }
  if (!n) return ox_run(g, "@0 = Identity(resized)");
  return ox_run(g, "@0 = Where(%s, resized, %.17e)", inside, ox_float(g, "extrapolation_value", 0));
}

static bool resize(ox_net *g) {
  ox_value v;
  sizing s, of[OX_RANK];
  double scale[OX_RANK], part[2 * OX_RANK];
  int64_t out[OX_RANK], times[OX_RANK];
  bool mixed = false;
  if (!ox_placed(g, 0, &v) || !read_sizing(g, &s) || !read_scales(g, &v, scale, out, part))
    return false;
  const bool crops = !strcmp(s.where, "tf_crop_and_resize");
  for (int k = 0; k < v.rank; k++) {
    s.in = ox_extent(&v, k), s.out = out[k], s.scale = scale[k], s.from = part[2 * k],
    s.to = part[2 * k + 1];
    if (g->opset == 10 && !strcmp(g->node->op_type, "Resize"))
      s.round = s.scale < 1 ? "ceil" : "floor"; /* of opset 10 */
    of[k] = s;
    const bool all = !crops || (s.from == 0 && s.to == 1),
               again = all && (scale[k] == 1 || repeats(&s, &times[k]));
    times[k] = scale[k] == 1 || !again ? 1 : times[k];
    if (again) continue;
    if (!resize_axis(g, &v, k, &s)) return false;
    mixed = true;
  }
  if (mixed) v.number = NULL;
  if (!ox_repeat_each(g, &v, times)) return false;
  return crops && ox_float(g, "extrapolation_value", 0) != 0 ? extrapolate(g, &v, of)
                                                             : ox_give(g, 0, &v);
}

/* ---- places that are known ------------------------------------------------------------------ */

/* How elements are read at places between them. */
typedef struct {
  const char *mode, *pads;
  bool corners;
  int n; /* axes */
  int64_t in[3];
} sampling;

/* Into the range by reflection at its ends. */
static float reflected(float x, float least, float most) {
  const float wide = most - least;
  if (x >= least && x <= most) return x;
  const float off = x < least ? least - x : x - most, turns = truncf(off / wide),
              rest = off - turns * wide;
  const bool back = fmodf(turns, 2) == 0;
  return (x < least) == back ? least + rest : most - rest;
}

/* The element of an axis that a place names; -1: none, a zero. */
static int64_t element_at(const sampling *s, int k, float x) {
  const float most = (float)(s->in[k] - 1), half = s->corners ? 0 : 0.5f;
  if (!strcmp(s->pads, "border")) x = x < 0 ? 0 : x > most ? most : x;
  if (!strcmp(s->pads, "reflection"))
    x = truncf(s->in[k] > 1 ? reflected(x, -half, most + half) : 0);
  return x >= 0 && x <= most ? (int64_t)x : -1;
}

/* Where along an axis a number from -1 to 1 lies. */
static float position_of(const sampling *s, int k, float x) {
  const float n = (float)s->in[k], half = s->corners ? 0 : 0.5f, most = n - 1;
  float at = s->corners ? (x + 1) / 2 * most : ((x + 1) * n - 1) / 2;
  if (!strcmp(s->mode, "nearest")) at = rintf(at);
  if (at >= -half && at <= most + half) return at;
  if (!strcmp(s->pads, "border")) return at < 0 ? 0 : at > most ? most : at;
  return !strcmp(s->pads, "reflection") && s->in[k] > 1 ? reflected(at, -half, most + half) : at;
}

/* What the place takes of each element of an axis. */
static void weigh(const sampling *s, int k, float x, double *w) {
  const bool cubic = !strcmp(s->mode, "cubic"), nearest = !strcmp(s->mode, "nearest");
  const float at = position_of(s, k, x),
              first = nearest ? truncf(at) : floorf(at) - (cubic ? 1 : 0);
  memset(w, 0, (size_t)s->in[k] * sizeof *w);
  for (int i = 0; i < (nearest ? 1 : cubic ? 4 : 2); i++) {
    const int64_t e = element_at(s, k, first + (float)i);
    const double off = (double)at - (double)(first + (float)i);
    if (e >= 0) w[e] += nearest ? 1 : cubic ? cubic_at(-0.75, off) : 1 - fabs(off);
  }
}

/* Weights of all elements for each place: [batch, elements, places]. */
static bool weigh_all(const sampling *s, const double *grid, int64_t batch, int64_t points,
                      double *w, double *each) {
  const int64_t size = s->in[0] * (s->n > 1 ? s->in[1] : 1) * (s->n > 2 ? s->in[2] : 1);
  double *of[3] = {each, each + s->in[0], each + s->in[0] + (s->n > 1 ? s->in[1] : 0)};
  for (int64_t i = 0; i < batch * points; i++) {
    for (int k = 0; k < s->n; k++) {
      const double x = grid[i * s->n + s->n - 1 - k]; /* the last axis first */
      if (!(fabs(x) < 1e6)) return false;
      weigh(s, k, (float)x, of[k]);
    }
    for (int64_t e = 0; e < size; e++) {
      int64_t rest = e;
      double product = 1;
      for (int k = s->n - 1; k >= 0; k--)
        product *= of[k][rest % s->in[k]], rest /= s->in[k];
      w[(i / points * size + e) * points + i % points] = product;
    }
  }
  return true;
}

static bool read_sampling(ox_net *g, sampling *s) {
  static const char *const modes[] = {"nearest", "linear", "cubic", NULL}, *const pads[] = {
                                                                               "zeros", "border",
                                                                               "reflection", NULL};
  const ox_value *v = ox_input(g, 0), *at = ox_input(g, 1);
  if (!v || !at) return false;
  *s = (sampling){.mode = ox_text(g, "mode", "linear"),
                  .pads = ox_text(g, "padding_mode", "zeros"),
                  .corners = ox_int(g, "align_corners", 0) != 0,
                  .n = v->rank - 2};
  if (!strcmp(s->mode, "bilinear")) s->mode = "linear";
  if (!strcmp(s->mode, "bicubic")) s->mode = "cubic";
  if (!is_one_of(s->mode, modes))
    return ox_fail(g, TF_E_NAME, "mode '%.40s'; known: nearest, linear, cubic", s->mode);
  if (!is_one_of(s->pads, pads)) return ox_fail(g, TF_E_NAME, "padding_mode '%.40s'", s->pads);
  if (s->n < 1 || s->n > 3 || at->rank != v->rank || ox_extent(at, at->rank - 1) != s->n ||
      ox_extent(at, 0) != ox_extent(v, 0))
    return ox_fail(g, TF_E_SHAPE, "places of %d axes for %d", at->rank, v->rank);
  for (int k = 0; k < s->n; k++)
    s->in[k] = ox_extent(v, 2 + k);
  return true;
}

/* Places that are data, between four elements of an image: of each axis's elements the two beside
 * the place have a weight, 1 less their distance. */
static bool sample_data(ox_net *g, const sampling *s, const int64_t *shape) {
  const ox_value *v = ox_input(g, 0);
  const int64_t batch = ox_extent(v, 0), channels = ox_extent(v, 1), points = shape[2] * shape[3];
  const bool border = !strcmp(s->pads, "border");
  if (s->n != 2 || strcmp(s->mode, "linear") != 0 || (!border && strcmp(s->pads, "zeros") != 0))
    return ox_fail(
        g, TF_E_OPEN,
        "places that are data are known in images, linear, with zeros or the border around");
  for (int k = 0; k < 2; k++) {
    const double n = (double)s->in[k], most = n - 1;
    const int64_t all[] = {batch, 1, points}, row[] = {1, s->in[k], 1};
    const double by = s->corners ? most / 2 : n / 2, more = s->corners ? most / 2 : n / 2 - 0.5;
    if (!ox_run(g, "g%d = Gather($1, %d) axis=3", k, 1 - k) ||
        !ox_run(g, "f%d = Reshape(g%d, %s)", k, k, ox_list(g, 3, all)) ||
        !ox_run(g, "m%d = Mul(f%d, %.17e)", k, k, by) ||
        !ox_run(g, "p%d = Add(m%d, %.17e)", k, k, more) ||
        !(border ? ox_run(g, "c%d = Clip(p%d, 0.0, %.17e)", k, k, most)
                 : ox_run(g, "c%d = Identity(p%d)", k, k)) ||
        !ox_run(g, "e%d = Reshape({%lld}, %s)", k, (long long)s->in[k], ox_list(g, 3, row)) ||
        !ox_run(g, "d%d = Sub(c%d, e%d)", k, k, k) || !ox_run(g, "a%d = Abs(d%d)", k, k) ||
        !ox_run(g, "r%d = Neg(a%d)", k, k) || !ox_run(g, "h%d = Add(r%d, 1.0)", k, k) ||
        !ox_run(g, "w%d = Relu(h%d)", k, k))
      return false;
  }
  const int64_t flat[] = {batch, channels * s->in[0], s->in[1]},
                apart[] = {batch, channels, s->in[0], points};
  return ox_run(g, "x = Reshape($0, %s)", ox_list(g, 3, flat)) && ox_run(g, "t = MatMul(x, w1)") &&
         ox_run(g, "u = Reshape(t, %s)", ox_list(g, 4, apart)) &&
         ox_run(g, "w = Unsqueeze(w0, [1])") && ox_run(g, "uw = Mul(u, w)") &&
         ox_run(g, "y = ReduceSum(uw, [2]) keepdims=0") &&
         ox_run(g, "@0 = Reshape(y, %s)", ox_list(g, 4, shape));
}

/* Elements at places of a grid: where these are known, a product with a table of what each takes of
 * each element. */
static bool grid_sample(ox_net *g) {
  sampling s;
  if (!read_sampling(g, &s)) return false;
  const ox_value *v = ox_input(g, 0), *at = ox_read_at(g, 1), *like = ox_input(g, 1);
  int64_t shape[OX_RANK] = {ox_extent(v, 0), ox_extent(v, 1)}, points = 1, size = 1;
  for (int k = 0; k < s.n; k++)
    points *= shape[2 + k] = ox_extent(like, 1 + k), size *= s.in[k];
  if (!at) return !g->oom && sample_data(g, &s, shape);
  if (size > OX_FOLDED || points > OX_FOLDED || shape[0] > OX_FOLDED || size * points > OX_FOLDED ||
      size * points * shape[0] > OX_FOLDED)
    return sample_data(g, &s, shape);
  double *w = ox_numbers_room(g, shape[0] * size * points),
         *each = ox_numbers_room(g, s.in[0] + (s.n > 1 ? s.in[1] : 0) + (s.n > 2 ? s.in[2] : 0));
  if (!w || !each)
    return g->oom ? false
                  : ox_fail(g, TF_E_LIMIT, "more than %d numbers that are computed here",
                            OX_FOLDED_IN_ALL);
  if (!weigh_all(&s, at->number, shape[0], points, w, each))
    return ox_fail(g, TF_E_RANGE, "a place that is no number, or far away");
  const int64_t flat[] = {shape[0], shape[1], size}, table[] = {shape[0], size, points};
  return ox_let(g, "table", 3, table, w, OX_T_FLOAT) &&
         ox_run(g, "x = Reshape($0, %s)", ox_list(g, 3, flat)) &&
         ox_run(g, "y = MatMul(x, table)") &&
         ox_run(g, "@0 = Reshape(y, %s)", ox_list(g, v->rank, shape));
}

/* Places of a grid transformed by an affine matrix of each of the batch. */
static bool affine_grid(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  const int64_t *size;
  int64_t n, points = 1;
  if (!v || !ox_numbers(g, 1, &size, &n)) return false;
  const int axes = (int)n - 2;
  const bool corners = ox_int(g, "align_corners", 0) != 0;
  if (axes < 2 || axes > 3 || v->rank != 3 || ox_extent(v, 1) != axes ||
      ox_extent(v, 2) != axes + 1 || ox_extent(v, 0) != size[0])
    return ox_fail(g, TF_E_SHAPE, "matrices of other extents than %d by %d", axes, axes + 1);
  for (int k = 0; k < axes; k++) {
    if (size[2 + k] < 1 || size[2 + k] > OX_FOLDED || points > OX_FOLDED)
      return ox_fail(g, TF_E_RANGE, "%lld places", (long long)size[2 + k]);
    points *= size[2 + k];
  }
  double *x = points <= OX_FOLDED ? ox_numbers_room(g, points * (axes + 1)) : NULL;
  if (!x)
    return g->oom ? false : ox_fail(g, TF_E_LIMIT, "a grid of %lld places", (long long)points);
  for (int64_t i = 0; i < points; i++) {
    int64_t rest = i;
    for (int k = axes - 1; k >= 0; k--) {
      const double many = (double)size[2 + k], at = (double)(rest % size[2 + k]);
      x[i * (axes + 1) + axes - 1 - k] = !corners   ? (2 * at + 1) / many - 1
                                         : many > 1 ? 2 * at / (many - 1) - 1
                                                    : -1;
      rest /= size[2 + k];
    }
    x[i * (axes + 1) + axes] = 1;
  }
  const int64_t table[] = {points, axes + 1};
  int64_t shape[5] = {size[0]};
  for (int k = 0; k < axes; k++)
    shape[1 + k] = size[2 + k];
  shape[1 + axes] = axes;
  return ox_let(g, "grid", 2, table, x, OX_T_FLOAT) &&
         ox_run(g, "turn = Transpose($0) perm=0,2,1") && ox_run(g, "at = MatMul(grid, turn)") &&
         ox_run(g, "@0 = Reshape(at, %s)", ox_list(g, axes + 2, shape));
}

/* Sums of overlapping blocks: a transposed convolution whose weights put each element of a block in
 * its place. */
static bool col2im(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  const int64_t *image, *block;
  int64_t n, m, kernel = 1, stride[OX_SLID], dilation[OX_SLID], pad[2 * OX_SLID] = {0}, in[OX_RANK],
                w[OX_RANK], more[OX_SLID], blocks = 1;
  if (!v || !ox_numbers(g, 1, &image, &n) || !ox_numbers(g, 2, &block, &m)) return false;
  if (n != m || n < 1 || n > OX_SLID || v->rank != 3)
    return ox_fail(g, TF_E_RANK, "blocks of %lld axes of %lld", (long long)m, (long long)n);
  for (int k = 0; k < n; k++)
    stride[k] = dilation[k] = 1;
  if (!ox_window_attribute(g, "strides", (int)n, 1, stride) ||
      !ox_window_attribute(g, "dilations", (int)n, 1, dilation) ||
      !ox_window_attribute(g, "pads", (int)(2 * n), 0, pad))
    return false;
  for (int k = 0; k < n; k++) {
    if (block[k] < 1 || block[k] > 1024 || image[k] < 1 || image[k] > OX_MOST_EXTENT)
      return ox_fail(g, TF_E_RANGE, "a block of %lld", (long long)block[k]);
    const int64_t rest = image[k] + pad[k] + pad[n + k] - dilation[k] * (block[k] - 1) - 1;
    if (rest < 0) return ox_fail(g, TF_E_SHAPE, "blocks that are larger than the image");
    in[2 + k] = rest / stride[k] + 1, more[k] = rest % stride[k], w[2 + k] = block[k];
    kernel *= block[k], blocks *= in[2 + k];
  }
  const int64_t channels = ox_extent(v, 1) / kernel;
  if (kernel > 1024 || channels < 1 || ox_extent(v, 1) % kernel || ox_extent(v, 2) != blocks)
    return ox_fail(g, TF_E_SHAPE, "blocks of other extents");
  double *x = channels * kernel <= OX_FOLDED / kernel
                  ? ox_numbers_room(g, channels * kernel * kernel)
                  : NULL;
  if (!x)
    return g->oom ? false : ox_fail(g, TF_E_LIMIT, "more than %d numbers of a table", OX_FOLDED);
  for (int64_t i = 0; i < channels * kernel * kernel; i++)
    x[i] = i / kernel % kernel == i % kernel;
  in[0] = ox_extent(v, 0), in[1] = w[0] = channels * kernel, w[1] = 1;
  const char *strides = ox_list(g, (int)n, stride), *dilations = ox_list(g, (int)n, dilation),
             *pads = ox_list(g, (int)(2 * n), pad), *rest = ox_list(g, (int)n, more);
  return ox_let(g, "place", (int)n + 2, w, x, OX_T_FLOAT) &&
         ox_run(g, "x = Reshape($0, %s)", ox_list(g, (int)n + 2, in)) &&
         ox_run(g,
                "@0 = ConvTranspose(x, place) group=%lld strides=%s dilations=%s pads=%s "
                "output_padding=%s",
                (long long)channels, strides + 1, dilations + 1, pads + 1, rest + 1);
}

/* ---- signals -------------------------------------------------------------------------------- */

/* A window's numbers: a constant less cosines of one and of two turns. */
static bool window(ox_net *g) {
  const int64_t *size;
  int64_t n;
  const char *type = g->node->op_type;
  if (!ox_numbers(g, 0, &size, &n)) return false;
  if (n != 1 || size[0] < 1 || size[0] > OX_FOLDED)
    return ox_fail(g, TF_E_RANGE, "a window of another size than 1 to %d", OX_FOLDED);
  const double a = !strcmp(type, "HannWindow")      ? 0.5
                   : !strcmp(type, "HammingWindow") ? 25. / 46
                                                    : 0.42,
               c = a == 0.42 ? 0.08 : 0, b = a == 0.42 ? 0.5 : 1 - a,
               around = (double)(ox_int(g, "periodic", 1) ? size[0] : size[0] - 1);
  if (around < 1) return ox_fail(g, TF_E_RANGE, "a window of one number that is not periodic");
  double *x = ox_numbers_room(g, size[0]);
  for (int64_t i = 0; x && i < size[0]; i++) {
    const double turn = 2 * PI * (double)i / around;
    x[i] = a - b * cos(turn) + c * cos(2 * turn);
  }
  if (!x)
    return g->oom ? false
                  : ox_fail(g, TF_E_LIMIT, "more than %d numbers that are computed here",
                            OX_FOLDED_IN_ALL);
  return ox_let(g, "window", 1, size, x, OX_T_FLOAT) &&
         ox_run(g, "@0 = Cast(window) to=%d", (int)ox_int(g, "output_datatype", OX_T_FLOAT));
}

/* A discrete Fourier transform of n numbers, as `in` of them, of one or two parts, and `out` of
 * two, or of one. */
typedef struct {
  int64_t n, in, out, parts, made;
  bool inverse,
      half; /* half: of the numbers in the other half nothing is said, as they mirror these */
} transform;

/* What part q of number k takes of part p of number i. */
static double share(const transform *t, int64_t i, int64_t p, int64_t k, int64_t q) {
  const double turn = 2 * PI * (double)(i * k % t->n) / (double)t->n,
               sine = t->inverse ? sin(turn) : -sin(turn);
  const double x = p == q ? cos(turn) : q ? sine : -sine;
  if (!t->inverse) return x;
  const bool twice = t->half && i > 0 && 2 * i != t->n, alone = t->half && !twice && p;
  return alone ? 0 : (twice ? 2 : 1) * x / (double)t->n;
}

static const double *shares(ox_net *g, const transform *t) {
  const int64_t rows = t->in * t->parts, columns = t->out * t->made;
  double *w = rows <= OX_FOLDED / columns ? ox_numbers_room(g, rows * columns) : NULL;
  if (!w && !g->oom) ox_fail(g, TF_E_LIMIT, "a table of more than %d numbers", OX_FOLDED);
  const int64_t used = t->half && t->inverse ? t->n / 2 + 1 : t->n;
  for (int64_t r = 0; w && r < rows; r++)
    for (int64_t c = 0; c < columns; c++)
      w[r * columns + c] =
          r / t->parts < used ? share(t, r / t->parts, r % t->parts, c / t->made, c % t->made) : 0;
  return w;
}

static bool read_transform(ox_net *g, const ox_value *v, int axis, transform *t) {
  const int64_t *length;
  int64_t many;
  if (!ox_numbers(g, 1, &length, &many)) return false;
  *t = (transform){.inverse = ox_int(g, "inverse", 0) != 0,
                   .half = ox_int(g, "onesided", 0) != 0,
                   .in = ox_extent(v, axis),
                   .parts = ox_extent(v, v->rank - 1)};
  const bool back = t->inverse && t->half;
  t->n = many ? length[0] : back ? 2 * (t->in - 1) : t->in;
  t->out = t->half && !t->inverse ? t->n / 2 + 1 : t->n;
  t->made = back ? 1 : 2;
  if (t->parts > 2 || (back && t->parts != 2))
    return ox_fail(g, TF_E_SHAPE, "numbers of %lld parts", (long long)t->parts);
  if (t->n < 1 || t->n > OX_FOLDED || t->in > OX_FOLDED)
    return ox_fail(g, TF_E_RANGE, "a transform of %lld numbers", (long long)t->n);
  return true;
}

/* A product with a table of cosines and sines. */
static bool fourier(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  const bool old = g->opset < 20;
  const int64_t *given;
  int64_t many, shape[OX_RANK], last[OX_RANK];
  int axis, to[OX_RANK], back[OX_RANK];
  if (!v) return false;
  if (old ? (given = NULL, many = 0, false) : !ox_numbers(g, 2, &given, &many)) return false;
  if (!ox_axis_at(g, old ? ox_int(g, "axis", 1) : many ? given[0] : -2, v->rank, &axis))
    return false;
  transform t;
  if (v->rank < 2 || axis == v->rank - 1)
    return ox_fail(g, TF_E_RANK, "a transform along the parts of numbers");
  if (!read_transform(g, v, axis, &t)) return false;
  const int64_t table[] = {t.in * t.parts, t.out * t.made};
  const double *w = shares(g, &t);
  if (!w) return false;
  int64_t from[OX_RANK], again[OX_RANK];
  int n = 0;
  for (int k = 0; k < v->rank; k++)
    if (k != axis && k != v->rank - 1) to[n] = k, shape[n] = last[n] = ox_extent(v, k), n++;
  to[n] = axis, to[n + 1] = v->rank - 1;
  for (int k = 0; k < v->rank; k++)
    back[to[k]] = k, from[k] = to[k];
  for (int k = 0; k < v->rank; k++)
    again[k] = back[k];
  shape[n] = table[0], last[n] = t.out, last[n + 1] = t.made;
  return ox_let(g, "table", 2, table, w, OX_T_FLOAT) &&
         ox_run(g, "x = Transpose($0) perm=%s", ox_list(g, v->rank, from) + 1) &&
         ox_run(g, "rows = Reshape(x, %s)", ox_list(g, n + 1, shape)) &&
         ox_run(g, "y = MatMul(rows, table)") &&
         ox_run(g, "parts = Reshape(y, %s)", ox_list(g, v->rank, last)) &&
         ox_run(g, "@0 = Transpose(parts) perm=%s", ox_list(g, v->rank, again) + 1);
}

/* Transforms of pieces of a signal, each weighed by a window, beside each other. */
static bool short_fourier(ox_net *g) {
  enum { MOST = 1024 };
  const ox_value *v = ox_input(g, 0);
  const int64_t *step, *wide;
  int64_t n, m;
  if (!v || !ox_numbers(g, 1, &step, &n) || !ox_numbers(g, 3, &wide, &m)) return false;
  const ox_value *w = ox_has(g, 2) ? ox_input(g, 2) : NULL;
  if (v->rank != 3 || n != 1 || step[0] < 1 || (w && w->rank != 1))
    return ox_fail(g, TF_E_SHAPE, "a signal of %d axes", v->rank);
  const int64_t length = ox_extent(v, 1), size = m ? wide[0] : w ? ox_extent(w, 0) : length;
  if (size < 1 || size > length || (w && ox_extent(w, 0) != size))
    return ox_fail(g, TF_E_SHAPE, "pieces of %lld of %lld", (long long)size, (long long)length);
  const int64_t many = 1 + (length - size) / step[0];
  if (many > MOST)
    return ox_fail(g, TF_E_LIMIT, "%lld pieces; up to %d are known", (long long)many, MOST);
  for (int64_t i = 0; i < many; i++) {
    const int k = (int)i;
    if (!ox_run(g, "s%d = Slice($0, [%lld], [%lld], [1])", k, (long long)(i * step[0]),
                (long long)(i * step[0] + size)) ||
        !(w ? (k || ox_run(g, "w = Reshape($2, [1,-1,1])")) && ox_run(g, "m%d = Mul(s%d, w)", k, k)
            : ox_run(g, "m%d = Identity(s%d)", k, k)) ||
        !ox_run(g, "d%d = DFT(m%d, -, 1) onesided=%d", k, k, ox_int(g, "onesided", 1) != 0) ||
        !ox_run(g, "f%d = Unsqueeze(d%d, [1])", k, k) ||
        !(k ? ox_run(g, "all%d = Concat(all%d, f%d) axis=1", k, k - 1, k)
            : ox_run(g, "all0 = Identity(f0)")))
      return false;
  }
  return ox_run(g, "@0 = Identity(all%d)", (int)many - 1);
}

const ox_kind ox_resizes[] = {
    {"Resize", resize, NULL},
    {"Upsample", resize, NULL},
    {"GridSample", grid_sample, NULL},
    {"AffineGrid", affine_grid, NULL},
    {"Col2Im", col2im, NULL},
    {"HannWindow", window, NULL},
    {"HammingWindow", window, NULL},
    {"BlackmanWindow", window, NULL},
    {"DFT", fourier, NULL},
    {"STFT", short_fourier, NULL},
    {NULL, NULL, NULL},
};
