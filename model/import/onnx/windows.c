/* Nodes with sliding windows: convolutions and pooling. */
#include <math.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

/* One axis along which windows slide. */
typedef struct {
  int64_t in, kernel, stride, dilation, before, after, out;
  ox_axis position, tap; /* position of the window, element in it; a window of one element with
                      stride 1 has no tap, and its position is cut like the value */
} slide;
typedef struct {
  int n;
  slide s[OX_SLID];
} slides;

bool ox_window_attribute(ox_net *g, const char *name, int n, int64_t least, int64_t *out) {
  size_t have;
  const int64_t *v = ox_ints(g, name, &have);
  if (!v) return true;
  if (have != (size_t)n) return ox_fail(g, TF_E_SHAPE, "%s has %zu numbers, not %d", name, have, n);
  for (int i = 0; i < n; i++) {
    if (v[i] < least || v[i] > OX_MOST_EXTENT)
      return ox_fail(g, TF_E_RANGE, "%s has %lld", name, (long long)v[i]);
    out[i] = v[i];
  }
  return true;
}

static bool pad_same(ox_net *g, slide *s) {
  const char *how = ox_text(g, "auto_pad", "NOTSET");
  if (!strcmp(how, "VALID")) s->before = s->after = 0;
  if (!strcmp(how, "NOTSET") || !strcmp(how, "VALID")) return true;
  const bool lower = !strcmp(how, "SAME_LOWER");
  if (!lower && strcmp(how, "SAME_UPPER") != 0)
    return ox_fail(g, TF_E_NAME, "auto_pad '%.40s'", how);
  const int64_t out = (s->in + s->stride - 1) / s->stride;
  int64_t all = (out - 1) * s->stride + s->dilation * (s->kernel - 1) + 1 - s->in;
  all = all > 0 ? all : 0;
  s->before = lower ? all - all / 2 : all / 2;
  s->after = all - s->before;
  return true;
}

/* Strides, dilations and pads of the axes 2.. of v, with windows of kernel[]. */
static bool read_slides(ox_net *g, const ox_value *v, const int64_t *kernel, slides *all) {
  const int n = all->n = v->rank - 2;
  int64_t stride[OX_SLID], dilation[OX_SLID], pad[2 * OX_SLID] = {0};
  if (n < 1 || n > OX_SLID)
    return ox_fail(g, TF_E_RANK, "windows over %d axes; 1 to %d can be", n, OX_SLID);
  for (int i = 0; i < n; i++)
    stride[i] = dilation[i] = 1;
  if (!ox_window_attribute(g, "strides", n, 1, stride) ||
      !ox_window_attribute(g, "dilations", n, 1, dilation) ||
      !ox_window_attribute(g, "pads", 2 * n, 0, pad))
    return false;
  const bool up = ox_int(g, "ceil_mode", 0) != 0;
  for (int i = 0; i < n; i++) {
    slide *s = &all->s[i];
    *s = (slide){.in = ox_extent(v, 2 + i),
                 .kernel = kernel[i],
                 .stride = stride[i],
                 .dilation = dilation[i],
                 .before = pad[i],
                 .after = pad[n + i]};
    if (!pad_same(g, s)) return false;
    const int64_t rest = s->in + s->before + s->after - s->dilation * (s->kernel - 1) - 1;
    if (rest < 0)
      return ox_fail(g, TF_E_SHAPE, "a window of %lld over %lld elements", (long long)s->kernel,
                     (long long)s->in);
    s->out = rest / s->stride + 1;
    if (up && rest % s->stride && s->out * s->stride < s->in + s->before) s->out++;
  }
  return true;
}

static bool is_plain(const slide *s) {
  return s->kernel == 1 && s->stride == 1 && !s->before && !s->after;
}

/* Elements after the last one that windows read. */
static int64_t beyond(const slide *s) {
  return (s->out - 1) * s->stride + s->dilation * (s->kernel - 1) - s->before - (s->in - 1);
}
static bool is_padded(const slide *s) { return s->before > 0 || beyond(s) > 0; }

/* Makes axes along which windows slide ranks: kernels exist for positions along a single dim. */
static bool open_slides(ox_net *g, const ox_value *v, slides *all) {
  for (int i = 0; i < all->n; i++) {
    slide *s = &all->s[i];
    if (v->n[2 + i] > 1)
      return ox_regroup(g, TF_E_SHAPE,
                        "a window over axis %d, which a reshape or a Resize put together", 2 + i);
    if (is_plain(s)
            ? !ox_join(g, &s->position, v, 2 + i) || !ox_open(g, &s->position)
            : !ox_open_extent(g, &s->position, s->out) || !ox_open_extent(g, &s->tap, s->kernel))
      return false;
  }
  return true;
}

void ox_pad_rank(ox_tensor *t, int rank, int64_t before, int64_t after) {
  if (before > t->read_before[rank]) t->read_before[rank] = before;
  if (before > t->pad[rank]) t->pad[rank] = before;
  if (after > t->pad[rank]) t->pad[rank] = after;
}

void ox_add_term(ox_index *x, const ox_axis *a, int64_t step, int64_t times) {
  if (!a->n_dims) return;
  x->dim[x->n] = a->dim[0];
  x->coef[x->n++] = step * times;
}

/* Windows need a rank to slide along, padded ones one of their own: a repetition or a slice is
 * copied. */
static bool make_room(ox_net *g, ox_value *v, const slides *all) {
  bool fits = true;
  for (int i = 0; i < all->n; i++)
    if (v->n[2 + i] <= 1)
      fits &= (!is_padded(&all->s[i]) || ox_rank_of(g, v, 2 + i) >= 0) &&
              (is_plain(&all->s[i]) || v->n[2 + i] == 0 || ox_rank_along(g, v, 2 + i) >= 0);
  return fits || ox_copy(g, v, v->name);
}

/* Adds the window's element to the index of axis `axis`. */
static bool add_slide(ox_net *g, ox_expr *e, const ox_value *v, int axis, const slide *s) {
  ox_tensor *t = &g->tensor[e->tensor];
  if (v->n[axis] == 0) return true; /* one element, read once */
  const int r = ox_rank_along(g, v, axis);
  const ox_factor *f = ox_factors(v, axis);
  if (r < 0) return ox_regroup(g, TF_E_SHAPE, "a window over axis %d, which is a diagonal", axis);
  ox_add_term(&e->index[r], &s->position, f->step[r], s->stride);
  ox_add_term(&e->index[r], &s->tap, f->step[r], s->dilation);
  e->index[r].c -= f->step[r] * s->before;
  if (!is_padded(s)) return true;
  ox_pad_rank(t, r, s->before, beyond(s));
  return true;
}

/* Reads v at two axes and the windows' elements. */
static ox_expr *read_slid(ox_net *g, const ox_value *v, const ox_axis *batch,
                          const ox_axis *channel, const slides *all) {
  const ox_axis *at[OX_RANK] = {batch, channel};
  for (int i = 0; i < all->n; i++)
    at[2 + i] = is_plain(&all->s[i]) ? &all->s[i].position : NULL;
  ox_expr *e = ox_read(g, v, at);
  for (int i = 0; i < all->n && e; i++)
    if (!is_plain(&all->s[i]) && !add_slide(g, e, v, 2 + i, &all->s[i])) return NULL;
  return e;
}

/* Axes of the result: batch, channels, positions. */
static int made_axes(const ox_axis *batch, const ox_axis *channel, const slides *all,
                     const ox_axis **out) {
  out[0] = batch, out[1] = channel;
  for (int i = 0; i < all->n; i++)
    out[2 + i] = &all->s[i].position;
  return 2 + all->n;
}

/* ---- convolutions --------------------------------------------------------------------------- */

/* Channels: `groups` groups of `in` input and `out` output channels. */
typedef struct {
  ox_axis group, in, out, read, made;
} channels;

bool ox_cut_groups(ox_net *g, const ox_value *v, int axis, int64_t n, ox_axis *outer,
                   ox_axis *inner) {
  ox_axis all = {0};
  bool ok =
      ox_join(g, &all, v, axis) && ox_cut(g, &all, n) && ox_cut(g, outer, 1) && ox_cut(g, inner, 1);
  for (int i = 0; i < all.n && ok; i++)
    ok = all.cut[i] <= n ? ox_cut(g, inner, all.cut[i]) : ox_cut(g, outer, all.cut[i] / n);
  return ok;
}

static bool open_channels(ox_net *g, const ox_value *x, const ox_value *w, int64_t groups,
                          channels *c) {
  const int64_t in = ox_extent(x, 1), out = ox_extent(w, 0);
  if (groups < 1 || in % groups || out % groups || ox_extent(w, 1) != in / groups)
    return ox_fail(g, TF_E_SHAPE, "%lld channels in %lld groups beside weights of %lld for %lld",
                   (long long)in, (long long)groups, (long long)ox_extent(w, 1), (long long)out);
  return ox_cut_groups(g, x, 1, in / groups, &c->group, &c->in) &&
         ox_cut_groups(g, w, 0, out / groups, &c->group, &c->out) && ox_join(g, &c->in, w, 1) &&
         ox_open(g, &c->group) && ox_open(g, &c->in) && ox_open(g, &c->out) &&
         ox_combine(g, &c->group, &c->in, &c->read) && ox_combine(g, &c->group, &c->out, &c->made);
}

bool ox_add_bias(ox_net *g, size_t k, const ox_axis *channel, const ox_axis *const *made, int n,
                 ox_value *out) {
  if (!ox_has(g, k)) return true;
  ox_value b;
  if (!ox_placed(g, k, &b)) return false;
  if (b.n[0] > 1) return ox_regroup(g, TF_E_SHAPE, "a bias that a reshape put together");
  if (b.rank != 1 || ox_extent(&b, 0) != channel->cut[channel->n - 1])
    return ox_fail(g, TF_E_SHAPE, "a bias of %lld elements for %lld channels",
                   (long long)ox_size(&b), (long long)channel->cut[channel->n - 1]);
  ox_expr *x = ox_read(g, out, made), *y = x ? ox_read(g, &b, &channel) : NULL;
  return y && ox_make(g, g->node->output[0], "=", ox_call(g, "+", x, y, NULL), made, n, out);
}

const char *ox_sum_name(ox_net *g) { return ox_has(g, 2) ? ox_part(g, "sum") : g->node->output[0]; }

bool ox_kernel_of(ox_net *g, const ox_value *w, int64_t *kernel) {
  memset(kernel, 0, OX_RANK * sizeof *kernel);
  for (int i = 0; i < w->rank - 2; i++)
    kernel[i] = ox_extent(w, 2 + i);
  int64_t said[OX_RANK];
  memcpy(said, kernel, sizeof said);
  if (!ox_window_attribute(g, "kernel_shape", w->rank - 2, 1, said)) return false;
  for (int i = 0; i < w->rank - 2; i++)
    if (said[i] != kernel[i])
      return ox_fail(g, TF_E_SHAPE, "kernel_shape has %lld where the weights have %lld",
                     (long long)said[i], (long long)kernel[i]);
  return true;
}

static bool conv(ox_net *g) {
  ox_value x, w, out;
  int64_t kernel[OX_RANK];
  slides all;
  channels c = {0};
  ox_axis batch = {0};
  if (!ox_placed(g, 0, &x) || !ox_placed(g, 1, &w)) return false;
  if (x.rank < 3 || w.rank != x.rank)
    return ox_fail(g, TF_E_RANK, "a convolution of %d axes with weights of %d", x.rank, w.rank);
  if (!ox_kernel_of(g, &w, kernel) || !read_slides(g, &x, kernel, &all) || !make_room(g, &x, &all))
    return false;
  ox_begin(g);
  if (!ox_join(g, &batch, &x, 0) || !ox_open(g, &batch) ||
      !open_channels(g, &x, &w, ox_int(g, "group", 1), &c) || !open_slides(g, &x, &all))
    return false;
  const ox_axis *weight[OX_RANK] = {&c.made, &c.in}, *made[OX_RANK];
  for (int i = 0; i < all.n; i++) {
    weight[2 + i] = is_plain(&all.s[i]) ? NULL : &all.s[i].tap;
    if (w.n[2 + i] > 1)
      return ox_regroup(g, TF_E_SHAPE, "windows of weights that a reshape put together");
  }
  ox_expr *a = read_slid(g, &x, &batch, &c.read, &all), *b = a ? ox_read(g, &w, weight) : NULL;
  const int n = made_axes(&batch, &c.made, &all, made);
  return b && ox_make(g, ox_sum_name(g), "+=", ox_call(g, "*", a, b, NULL), made, n, &out) &&
         ox_add_bias(g, 2, &c.made, made, n, &out) && ox_give(g, 0, &out);
}

/* ---- pooling -------------------------------------------------------------------------------- */

/* Whether the window's element is inside the axis; NULL if all are, or out of memory. */
static ox_expr *is_in_axis(ox_net *g, const slide *s) {
  ox_index at = {.c = -s->before};
  ox_expr *low = NULL, *high = NULL;
  ox_add_term(&at, &s->position, 1, s->stride);
  ox_add_term(&at, &s->tap, 1, s->dilation);
  if (s->before > 0) low = ox_call(g, "<=", ox_number(g, 0), ox_index_value(g, &at), NULL);
  if (beyond(s) > 0)
    high = ox_call(g, "<=", ox_index_value(g, &at), ox_number(g, (double)(s->in - 1)), NULL);
  return low && high ? ox_call(g, "and", low, high, NULL) : low ? low : high;
}

/* The lowest number where the window's element is outside. */
static ox_expr *least_outside(ox_net *g, ox_expr *e, const slides *all) {
  ox_expr *in = NULL;
  for (int i = 0; i < all->n; i++) {
    ox_expr *one = is_in_axis(g, &all->s[i]);
    in = in && one ? ox_call(g, "and", in, one, NULL) : in ? in : one;
  }
  return in ? ox_call(g, "select", in, e, ox_number(g, -INFINITY)) : e;
}

/* How many elements of the window at that position count: those inside the axis, and pads if asked.
 */
static int64_t counted(const slide *s, int64_t at, bool pads) {
  const int64_t first = at * s->stride - s->before, end = pads ? s->in + s->after : s->in,
                low = pads ? -s->before : 0;
  const int64_t from = first < low ? (low - first + s->dilation - 1) / s->dilation : 0;
  const int64_t to = first < end ? (end - first + s->dilation - 1) / s->dilation : 0;
  return (to < s->kernel ? to : s->kernel) - from;
}

/* The inverse of what counts, for each position along an axis, as a table. */
static ox_expr *read_share(ox_net *g, const slide *s, int i, bool pads) {
  static const char *const names[OX_SLID] = {"share", "share_2", "share_3", "share_4"};
  const ox_axis *const at = &s->position;
  double *inverse = ox_numbers_room(g, s->out);
  ox_value table;
  if (!inverse) {
    if (!g->oom) ox_fail(g, TF_E_LIMIT, "windows at more than %d places", OX_FOLDED);
    return NULL;
  }
  for (int64_t k = 0; k < s->out; k++) {
    const int64_t many = counted(s, k, pads);
    inverse[k] = many > 0 ? 1 / (double)many : 0;
  }
  return ox_table(g, names[i], 1, &s->out, inverse, &table) ? ox_read(g, &table, &at) : NULL;
}

/* The sum of each window, divided by how many of its elements count. */
static ox_expr *mean_of(ox_net *g, ox_expr *sum, const slides *all, bool pads) {
  double taps = 1;
  for (int i = 0; i < all->n && sum; i++) {
    const slide *s = &all->s[i];
    if (!is_padded(s) || (pads && beyond(s) <= s->after)) {
      taps *= (double)s->kernel;
      continue;
    }
    ox_expr *share = read_share(g, s, i, pads);
    sum = share ? ox_call(g, "*", sum, share, NULL) : NULL;
  }
  return sum ? ox_call(g, "*", sum, ox_number(g, 1 / taps), NULL) : NULL;
}

static bool pool(ox_net *g, const ox_value *x, slides *all, bool most) {
  ox_value out;
  ox_axis batch = {0}, channel = {0};
  ox_begin(g);
  if (!ox_join(g, &batch, x, 0) || !ox_join(g, &channel, x, 1) || !ox_open(g, &batch) ||
      !ox_open(g, &channel) || !open_slides(g, x, all))
    return false;
  const ox_axis *made[OX_RANK];
  const int n = made_axes(&batch, &channel, all, made);
  ox_expr *e = read_slid(g, x, &batch, &channel, all);
  if (e && most && !g->tensor[x->tensor].positive) e = least_outside(g, e, all);
  if (!e || !ox_make(g, most ? g->node->output[0] : ox_part(g, "sum"), most ? "max=" : "+=", e,
                     made, n, &out))
    return false;
  if (most) return ox_give(g, 0, &out);
  e = mean_of(g, ox_read(g, &out, made), all, ox_int(g, "count_include_pad", 0) != 0);
  return e && ox_make(g, g->node->output[0], "=", e, made, n, &out) && ox_give(g, 0, &out);
}

static bool windows(ox_net *g, bool most) {
  ox_value x;
  slides all;
  int64_t kernel[OX_RANK] = {0};
  if (!ox_placed(g, 0, &x)) return false;
  if (g->node->n_output > 1 && *g->node->output[1])
    return ox_fail(g, TF_E_NAME, "places of maxima are not known");
  if (x.rank < 3 || !ox_window_attribute(g, "kernel_shape", x.rank - 2, 1, kernel))
    return x.rank >= 3 ? false : ox_fail(g, TF_E_RANK, "pooling of %d axes", x.rank);
  if (!kernel[0]) return ox_fail(g, TF_E_MISSING, "no kernel_shape");
  return read_slides(g, &x, kernel, &all) && make_room(g, &x, &all) && pool(g, &x, &all, most);
}

static bool max_pool(ox_net *g) { return windows(g, true); }
static bool average_pool(ox_net *g) { return windows(g, false); }

const ox_kind ox_windows[] = {
    {"Conv", conv, NULL},
    {"MaxPool", max_pool, NULL},
    {"AveragePool", average_pool, NULL},
    {NULL, NULL, NULL},
};
