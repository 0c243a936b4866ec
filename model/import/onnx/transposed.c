/* Transposed convolutions: a convolution whose window slides over the result. */
#include <string.h>

#include "model/import/onnx/onnx.h"

/* Along one axis.  Element o of the result, `before` removed ones counted, is o = stride * q + r:
 * its taps are k = stride * j + r, each of the element q - dilation * j of the input (where the
 * stride is 1; else the dilation is).
 */
typedef struct {
  int64_t in, kernel, stride, dilation, before, out;
  int64_t rows, taps;
  ox_axis position, phase, tap, made;
} spread;

static bool read_pads(ox_net *g, const ox_value *x, int n, const int64_t *kernel, spread *s) {
  int64_t stride[OX_SLID], dilation[OX_SLID], pad[2 * OX_SLID] = {0}, more[OX_SLID] = {0},
                                                      shape[OX_SLID] = {0};
  const char *how = ox_text(g, "auto_pad", "NOTSET");
  const bool upper = !strcmp(how, "SAME_UPPER"), same = upper || !strcmp(how, "SAME_LOWER");
  const bool valid = !strcmp(how, "VALID");
  if (!same && !valid && strcmp(how, "NOTSET") != 0)
    return ox_fail(g, TF_E_NAME, "auto_pad '%.40s'", how);
  for (int i = 0; i < n; i++)
    stride[i] = dilation[i] = 1;
  if (!ox_window_attribute(g, "strides", n, 1, stride) ||
      !ox_window_attribute(g, "dilations", n, 1, dilation) ||
      !ox_window_attribute(g, "pads", 2 * n, 0, pad) ||
      !ox_window_attribute(g, "output_padding", n, 0, more) ||
      !ox_window_attribute(g, "output_shape", n, 1, shape))
    return false;
  if (valid) memset(pad, 0, sizeof pad);
  for (int i = 0; i < n; i++) {
    const int64_t in = ox_extent(x, 2 + i);
    const double reach =
        (double)stride[i] * (double)in + (double)dilation[i] * (double)kernel[i] + (double)more[i];
    if (reach > OX_MOST_EXTENT)
      return ox_fail(g, TF_E_OVERFLOW, "windows over more than 2^30 elements");
    const int64_t all = stride[i] * (in - 1) + more[i] + dilation[i] * (kernel[i] - 1) + 1;
    if (same && !shape[i])
      shape[i] = in * stride[i] < all ? in * stride[i] : all; /* pads are not below 0 */
    if (shape[i]) {
      const int64_t gone = all > shape[i] ? all - shape[i] : 0;
      pad[i] = upper ? gone / 2 : gone - gone / 2;
      pad[n + i] = gone - pad[i];
    }
    s[i] = (spread){.in = in,
                    .kernel = kernel[i],
                    .stride = stride[i],
                    .dilation = dilation[i],
                    .before = pad[i]};
    s[i].out = shape[i] ? shape[i] : all - pad[i] - pad[n + i];
    if (s[i].out < 1) return ox_fail(g, TF_E_SHAPE, "pads leave nothing of axis %d", 2 + i);
    if (stride[i] > 1 && dilation[i] > 1)
      return ox_fail(g, TF_E_NAME, "a stride of %lld with a dilation of %lld", (long long)stride[i],
                     (long long)dilation[i]);
    s[i].rows = (s[i].out + s[i].before + stride[i] - 1) / stride[i];
    s[i].taps = (kernel[i] + stride[i] - 1) / stride[i];
  }
  return true;
}

static bool open_spread(ox_net *g, spread *s) {
  return ox_open_extent(g, &s->position, s->rows) && ox_open_extent(g, &s->phase, s->stride) &&
         ox_open_extent(g, &s->tap, s->taps) && ox_combine(g, &s->position, &s->phase, &s->made);
}

/* The element of the input, and that of the weights, of one tap. */
static void slide(ox_net *g, const spread *s, ox_expr *a, int ra, ox_expr *b, int rb) {
  if (ra >= 0) {
    ox_add_term(&a->index[ra], &s->position, 1, 1);
    ox_add_term(&a->index[ra], &s->tap, 1, -s->dilation);
    ox_pad_rank(&g->tensor[a->tensor], ra, s->dilation * (s->taps - 1), s->rows - s->in);
  }
  if (rb < 0) return;
  ox_add_term(&b->index[rb], &s->tap, 1, s->stride);
  ox_add_term(&b->index[rb], &s->phase, 1, 1);
  ox_pad_rank(&g->tensor[b->tensor], rb, 0, s->stride * s->taps - s->kernel);
}

/* The result without what the pads remove. */
static bool crop(ox_net *g, ox_value *out, int n, const spread *s) {
  int64_t shape[OX_RANK];
  bool across = false;
  for (int i = 0; i < n; i++)
    across |= s[i].stride > 1 && (s[i].before % s[i].stride || s[i].out % s[i].stride);
  for (int k = 0; k < out->rank; k++)
    shape[k] = ox_extent(out, k);
  if (across && !ox_recast(g, out, out->rank, shape)) return false;
  for (int i = 0; i < n; i++)
    if (!ox_slice(g, out, 2 + i, s[i].before, s[i].out, 1)) return false;
  return true;
}

static bool are_ranks(const ox_net *g, const ox_value *v, const bool *slides) {
  bool fits = true;
  for (int k = 2; k < v->rank; k++)
    fits &= !slides[k - 2] || ox_rank_of(g, v, k) >= 0;
  return fits;
}

/* A tensor of which each axis that windows slide along is a rank: a copy has one for an axis of one
 * element, too. */
static bool make_ranks(ox_net *g, ox_value *v, const bool *slides) {
  int64_t shape[OX_RANK];
  bool several = false;
  for (int k = 0; k < v->rank; k++) {
    shape[k] = ox_extent(v, k);
    several |= k > 1 && slides[k - 2] && v->n[k] > 1;
  }
  if (several && !ox_recast(g, v, v->rank, shape)) return false;
  return are_ranks(g, v, slides) || ox_copy(g, v, v->name);
}

/* ---- windows that do not overlap ------------------------------------------------------------ */
/* Whether each element of the result is of one window: the sum is one product, of the input's
 * places by channels and the weights of a channel as a row. */
static bool is_product(int64_t groups, int n, const spread *s) {
  bool one = groups == 1, spreads = false;
  for (int i = 0; i < n; i++) {
    one &= s[i].kernel == s[i].stride && s[i].rows <= s[i].in;
    spreads |= s[i].stride > 1;
  }
  return one && spreads;
}

/* The weights with a column for each channel made and element of a window.  Numbers of the model,
 * unless another node has read them, become an input of these two ranks. */
static bool as_columns(ox_net *g, ox_value *w) {
  ox_value *named = ox_find(g, g->node->input[1]);
  const bool new = named->tensor < 0;
  const int rank = w->rank;
  int64_t shape[OX_RANK];
  for (int k = 0; k < rank; k++)
    shape[k] = ox_extent(w, k);
  const int64_t columns[2] = {shape[0], ox_size(w) / shape[0]};
  if (!ox_reshape(g, w, 2, columns) || !ox_place(g, w)) return false;
  if (!new) return true;
  *named = *w;
  return ox_reshape(g, named, rank, shape);
}

/* The sum, of the product's rows and columns, as a value in the order of the result. */
static bool in_order(ox_net *g, int n, const spread *s, ox_value *out) {
  int64_t shape[OX_RANK] = {ox_extent(out, 0)}, made = ox_extent(out, 1 + n);
  int from[OX_RANK] = {0, 1 + n};
  for (int i = 0; i < n; i++) {
    shape[1 + i] = s[i].rows;
    shape[2 + n + i] = s[i].stride;
    made /= s[i].stride;
    from[2 + 2 * i] = 1 + i;
    from[3 + 2 * i] = 2 + n + i;
  }
  shape[1 + n] = made;
  if (!ox_reshape(g, out, 2 + 2 * n, shape)) return false;
  ox_permute(out, from);
  shape[1] = made;
  for (int i = 0; i < n; i++)
    shape[2 + i] = s[i].rows * s[i].stride;
  return ox_reshape(g, out, 2 + n, shape);
}

static bool product(ox_net *g, ox_value *x, ox_value *w, int n, const spread *s, ox_value *out) {
  ox_axis batch = {0}, in = {0}, column = {0}, at[OX_SLID] = {{0}};
  const ox_axis *from[OX_RANK] = {&batch, &in}, *weight[OX_RANK] = {&in, &column},
                *all[OX_RANK] = {&batch};
  if (!as_columns(g, w)) return false;
  ox_begin(g);
  if (!ox_join(g, &batch, x, 0) || !ox_open(g, &batch) || !ox_join(g, &in, x, 1) ||
      !ox_join(g, &in, w, 0) || !ox_open(g, &in) || !ox_join(g, &column, w, 1) ||
      !ox_open(g, &column))
    return false;
  for (int i = 0; i < n; i++) {
    if (!ox_slice(g, x, 2 + i, 0, s[i].rows, 1) || !ox_join(g, &at[i], x, 2 + i) ||
        !ox_open(g, &at[i]))
      return false;
    from[2 + i] = all[1 + i] = &at[i];
  }
  all[1 + n] = &column;
  ox_expr *a = ox_read(g, x, from), *b = a ? ox_read(g, w, weight) : NULL;
  return b && ox_make(g, ox_sum_name(g), "+=", ox_call(g, "*", a, b, NULL), all, 2 + n, out) &&
         in_order(g, n, s, out);
}

/* What adds the bias puts the sums in their places. */
static bool add_bias(ox_net *g, int n, ox_value *out) {
  ox_axis axis[OX_RANK] = {{0}};
  const ox_axis *all[OX_RANK];
  ox_begin(g);
  for (int k = 0; k < 2 + n; k++) {
    if (!ox_join(g, &axis[k], out, k) || !ox_open(g, &axis[k])) return false;
    all[k] = &axis[k];
  }
  return ox_add_bias(g, 2, &axis[1], all, 2 + n, out);
}

static bool by_product(ox_net *g, ox_value *x, ox_value *w, int n, const spread *s) {
  ox_value out;
  return product(g, x, w, n, s, &out) && add_bias(g, n, &out) && crop(g, &out, n, s) &&
         ox_give(g, 0, &out);
}

static bool transposed(ox_net *g) {
  ox_value x, w, out;
  int64_t kernel[OX_RANK];
  bool weighed[OX_SLID] = {false}, moves[OX_SLID] = {false};
  spread s[OX_SLID];
  ox_axis batch = {0}, group = {0}, in = {0}, made_in = {0}, read = {0}, made = {0};
  if (!ox_placed(g, 0, &x) || !ox_input(g, 1)) return false;
  w = *ox_input(g, 1);
  const int n = x.rank - 2;
  if (n < 1 || n > OX_SLID || w.rank != x.rank)
    return ox_fail(g, TF_E_RANK, "a convolution of %d axes with weights of %d", x.rank, w.rank);
  const int64_t groups = ox_int(g, "group", 1), channels = ox_extent(&x, 1);
  if (groups < 1 || channels % groups || ox_extent(&w, 0) != channels)
    return ox_fail(g, TF_E_SHAPE, "%lld channels in %lld groups beside weights for %lld",
                   (long long)channels, (long long)groups, (long long)ox_extent(&w, 0));
  if (!ox_kernel_of(g, &w, kernel) || !read_pads(g, &x, n, kernel, s)) return false;
  if (is_product(groups, n, s)) return by_product(g, &x, &w, n, s);
  if (!ox_placed(g, 1, &w)) return false;
  for (int i = 0; i < n; i++) {
    weighed[i] = s[i].kernel > 1 || s[i].stride > 1;
    moves[i] = s[i].in > 1 || s[i].rows > 1 || s[i].taps > 1;
  }
  if (!make_ranks(g, &x, moves) || !make_ranks(g, &w, weighed)) return false;
  ox_begin(g);
  if (!ox_join(g, &batch, &x, 0) || !ox_open(g, &batch) ||
      !ox_cut_groups(g, &x, 1, channels / groups, &group, &in) ||
      !ox_cut_groups(g, &w, 0, channels / groups, &group, &in) || !ox_join(g, &made_in, &w, 1) ||
      !ox_open(g, &group) || !ox_open(g, &in) || !ox_open(g, &made_in) ||
      !ox_combine(g, &group, &in, &read) || !ox_combine(g, &group, &made_in, &made))
    return false;
  const ox_axis *from[OX_RANK] = {&batch, &read}, *weight[OX_RANK] = {&read, &made_in},
                *all[OX_RANK] = {&batch, &made};
  for (int i = 0; i < n; i++) {
    if (!open_spread(g, &s[i])) return false;
    all[2 + i] = &s[i].made;
  }
  ox_expr *a = ox_read(g, &x, from), *b = a ? ox_read(g, &w, weight) : NULL;
  for (int i = 0; i < n && b; i++)
    slide(g, &s[i], a, moves[i] ? ox_rank_of(g, &x, 2 + i) : -1, b,
          weighed[i] ? ox_rank_of(g, &w, 2 + i) : -1);
  ox_expr *value = b ? ox_call(g, "*", a, b, NULL) : NULL;
  return ox_make(g, ox_sum_name(g), "+=", value, all, x.rank, &out) &&
         ox_add_bias(g, 2, &made, all, x.rank, &out) && crop(g, &out, n, s) && ox_give(g, 0, &out);
}

const ox_kind ox_transposed[] = {{"ConvTranspose", transposed, NULL}, {NULL, NULL, NULL}};
