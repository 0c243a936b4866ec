/* Convolutions of libxsmm 1.17: its layers, in its own layouts; and its batch-reducing products
 * over a padded copy of plain images, as a user writes it by hand. */
#ifndef BENCH_XSMM_CONV_H
#define BENCH_XSMM_CONV_H
#include <libxsmm.h>
#include <omp.h>

#include "rounds.h"
#include "window.h"

typedef struct {
  window w;
  libxsmm_dnn_layer *layer;
  libxsmm_dnn_tensor_datalayout *in_lay, *out_lay, *by_lay;
  float *in, *out;
  size_t out_words;
  int border; /* around the result */
} layer;

static libxsmm_dnn_tensor_datalayout *bound(libxsmm_dnn_layer *l, libxsmm_dnn_tensor_type type,
                                            float **at, size_t *words) {
  libxsmm_dnn_err_t err;
  libxsmm_dnn_tensor_datalayout *lay = libxsmm_dnn_create_tensor_datalayout(l, type, &err);
  if (err != LIBXSMM_DNN_SUCCESS) exit(2);
  *words = libxsmm_dnn_get_tensor_size(lay, &err) / sizeof(float);
  if (!*at) *at = memset(room(*words * sizeof(float)), 0, *words * sizeof(float));
  libxsmm_dnn_tensor *t = libxsmm_dnn_link_tensor(lay, *at, &err);
  if (err != LIBXSMM_DNN_SUCCESS || libxsmm_dnn_bind_tensor(l, t, type) != LIBXSMM_DNN_SUCCESS)
    exit(2);
  return lay;
}

/* Images, with the rows and columns around that windows reach: libxsmm's border is alike on all
 * sides, so what is real of it is filled in. */
static void put_images(const layer *l, const float *src) {
  const unsigned *d = l->in_lay->dim_size; /* channels of a block, columns, rows, blocks, images */
  const window w = l->w;
  for (int i = 0; i < w.batch; i++)
    for (int c = 0; c < w.c; c++)
      for (int y = 0; y < (int)d[2] && y - w.pad < w.h; y++)
        for (int x = 0; x < (int)d[1] && x - w.pad < w.w; x++)
          if (y >= w.pad && x >= w.pad)
            l->in[((((size_t)i * d[3] + (size_t)c / d[0]) * d[2] + (size_t)y) * d[1] + (size_t)x) *
                      d[0] +
                  (size_t)c % d[0]] =
                src[(((size_t)i * (size_t)w.c + (size_t)c) * (size_t)w.h + (size_t)(y - w.pad)) *
                        (size_t)w.w +
                    (size_t)(x - w.pad)];
}

static void put_weights(const layer *l, const float *weights, float *to) {
  /* outputs of a block, inputs of a block, columns, rows, blocks of inputs, of outputs */
  const unsigned *d = l->by_lay->dim_size;
  const window w = l->w;
  for (int f = 0; f < w.f; f++)
    for (int c = 0; c < w.c; c++)
      for (int r = 0; r < w.r; r++)
        for (int s = 0; s < w.r; s++)
          to[(((((size_t)f / d[0] * d[4] + (size_t)c / d[1]) * d[3] + (size_t)r) * d[2] +
               (size_t)s) *
                  d[1] +
              (size_t)c % d[1]) *
                 d[0] +
             (size_t)f % d[0]] =
              weights[(((size_t)f * (size_t)w.c + (size_t)c) * (size_t)w.r + (size_t)r) *
                          (size_t)w.r +
                      (size_t)s];
}

/* border: what the next layer wants around the result.  before: the layer whose result this reads;
 * NULL: it reads src. false: libxsmm has no such layer. */
static bool layer_make(layer *l, window w, int border, const layer *before, const float *src,
                       const float *weights) {
  libxsmm_dnn_err_t err;
  libxsmm_dnn_conv_desc d = {.N = w.batch,
                             .C = w.c,
                             .H = (w.p - 1) * w.stride + w.r - 2 * w.pad,
                             .W = (w.q - 1) * w.stride + w.r - 2 * w.pad,
                             .K = w.f,
                             .R = w.r,
                             .S = w.r,
                             .u = w.stride,
                             .v = w.stride,
                             .pad_h = w.pad,
                             .pad_w = w.pad,
                             .pad_h_in = w.pad,
                             .pad_w_in = w.pad,
                             .pad_h_out = border,
                             .pad_w_out = border,
                             .threads = threads(),
                             .datatype_in = LIBXSMM_DNN_DATATYPE_F32,
                             .datatype_out = LIBXSMM_DNN_DATATYPE_F32,
                             .buffer_format = LIBXSMM_DNN_TENSOR_FORMAT_LIBXSMM,
                             .filter_format = LIBXSMM_DNN_TENSOR_FORMAT_LIBXSMM,
                             .algo = LIBXSMM_DNN_CONV_ALGO_DIRECT,
                             .options = LIBXSMM_DNN_CONV_OPTION_OVERWRITE,
                             .fuse_ops = LIBXSMM_DNN_CONV_FUSE_NONE};
  *l = (layer){.w = w,
               .border = border,
               .in = before ? before->out : NULL,
               .layer = libxsmm_dnn_create_conv_layer(d, &err)};
  if (!l->layer || err != LIBXSMM_DNN_SUCCESS) return false;
  size_t words, in_words;
  float *by = NULL;
  l->in_lay = bound(l->layer, LIBXSMM_DNN_REGULAR_INPUT, &l->in, &in_words);
  l->out_lay = bound(l->layer, LIBXSMM_DNN_REGULAR_OUTPUT, &l->out, &l->out_words);
  l->by_lay = bound(l->layer, LIBXSMM_DNN_REGULAR_FILTER, &by, &words);
  if (before &&
      (before->out_words != in_words || before->out_lay->dim_size[0] != l->in_lay->dim_size[0]))
    return false;
  put_weights(l, weights, by);
  if (!before) put_images(l, src);
  size_t scratch = libxsmm_dnn_get_scratch_size(l->layer, LIBXSMM_DNN_COMPUTE_KIND_FWD, &err);
  if (err != LIBXSMM_DNN_SUCCESS) return false;
  return libxsmm_dnn_bind_scratch(l->layer, LIBXSMM_DNN_COMPUTE_KIND_FWD, room(scratch + 64)) ==
         LIBXSMM_DNN_SUCCESS;
}

static void layer_run(layer *l, bool relu) {
#pragma omp parallel if (threads() > 1)
  {
    int mine = omp_get_thread_num(), all = omp_get_num_threads();
    libxsmm_dnn_execute_st(l->layer, LIBXSMM_DNN_COMPUTE_KIND_FWD, 0, mine);
    if (relu) {
#pragma omp barrier
      size_t from = l->out_words * (size_t)mine / (size_t)all,
             to = l->out_words * (size_t)(mine + 1) / (size_t)all;
      no_negatives(l->out + from, to - from);
    }
  }
}

/* The result as plain images. */
static void layer_result(const layer *l, float *dst) {
  const unsigned *d = l->out_lay->dim_size;
  const window w = l->w;
  for (int i = 0; i < w.batch; i++)
    for (int f = 0; f < w.f; f++)
      for (int p = 0; p < w.p; p++)
        for (int q = 0; q < w.q; q++)
          *dst++ =
              l->out[((((size_t)i * d[3] + (size_t)f / d[0]) * d[2] + (size_t)(p + l->border)) *
                          d[1] +
                      (size_t)(q + l->border)) *
                         d[0] +
                     (size_t)f % d[0]];
}

/* By hand.  A copy of an image has its border, and rows and columns sorted by their phase, so that
 * a window's word (r, s) of all outputs, row after row, is one run of words; the few between an
 * output's rows are computed in vain and not copied out. */
enum { OUTPUTS = 32, RUN = 256 }; /* of a block: outputs; words of a run, about */

typedef struct {
  window w;
  int rows, columns, row; /* of a phase; outputs' rows of a run */
  float *copy, *sums;     /* for each thread */
  size_t copy_words, sums_words;
  libxsmm_smmfunction_reducebatch_offs product[2][2]; /* [last run][last outputs] */
  unsigned long long *at, *by;                        /* bytes, of each (r, s) */
} by_hand;

static int phase_words(const by_hand *h) { return h->rows * h->columns; }
static int least(int a, int b) { return a < b ? a : b; }
static int rest(int all, int of) { return all % of ? all % of : of; }
static int outputs(window w) { return least(OUTPUTS, w.f); }

static bool hand_make(by_hand *h, window w) {
  const int stride = w.stride, phases = stride * stride;
  *h = (by_hand){.w = w, .rows = w.p + (w.r - 1) / stride, .columns = w.q + (w.r - 1) / stride};
  h->row = least(w.p, RUN / h->columns > 1 ? RUN / h->columns : 1);
  h->copy_words = (size_t)w.c * (size_t)phases * (size_t)phase_words(h) + 64;
  h->sums_words = (size_t)h->row * (size_t)h->columns * (size_t)outputs(w);
  h->copy = room((size_t)threads() * h->copy_words * sizeof(float)),
  h->sums = room((size_t)threads() * h->sums_words * sizeof(float));
  h->at = room((size_t)(w.r * w.r) * sizeof *h->at),
  h->by = room((size_t)(w.r * w.r) * sizeof *h->by);
  for (int r = 0; r < w.r; r++)
    for (int s = 0; s < w.r; s++) {
      h->at[r * w.r + s] = 4ull * (unsigned)((r % stride * stride + s % stride) * phase_words(h) +
                                             r / stride * h->columns + s / stride);
      h->by[r * w.r + s] = 4ull * (unsigned)(r * w.r + s) * (unsigned)(w.f * w.c);
    }
  const float one = 1, zero = 0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      int rows = i ? rest(w.p, h->row) : h->row, n = j ? rest(w.f, outputs(w)) : outputs(w),
          m = (rows - 1) * h->columns + w.q;
      int lda = phases * phase_words(h), ldc = h->row * h->columns;
      h->product[i][j] = libxsmm_smmdispatch_reducebatch_offs(m, n, w.c, &lda, &w.c, &ldc, &one,
                                                              &zero, NULL, NULL);
      if (!h->product[i][j]) return false;
    }
  return true;
}

/* [f][c][r][s] as [r][s][f][c]. */
static void hand_weights(window w, const float *from, float *to) {
#pragma omp parallel for if (threads() > 1)
  for (int f = 0; f < w.f; f++)
    for (int x = 0; x < w.r * w.r; x++)
      for (int c = 0; c < w.c; c++)
        to[((size_t)x * (size_t)w.f + (size_t)f) * (size_t)w.c + (size_t)c] =
            from[((size_t)f * (size_t)w.c + (size_t)c) * (size_t)(w.r * w.r) + (size_t)x];
}

static void hand_channel(const by_hand *h, const float *plane, float *to) {
  const window w = h->w;
  for (int a = 0; a < w.stride; a++)
    for (int b = 0; b < w.stride; b++)
      for (int y = 0; y < h->rows; y++, to += h->columns) {
        int from = y * w.stride + a - w.pad;
        if (from < 0 || from >= w.h)
          memset(to, 0, (size_t)h->columns * sizeof *to);
        else
          row_of(plane + (size_t)from * (size_t)w.w, w.w, b - w.pad, w.stride, to, h->columns);
      }
}

static int runs_of(const by_hand *h) { return (h->w.p + h->row - 1) / h->row; }

/* The block-th part of one image, which has runs_of(h) runs of rows: outputs f and on, rows p and
 * on. */
static void hand_block(const by_hand *h, const float *copy, const float *weights, float *dst,
                       int block, float *sums, bool relu) {
  const window w = h->w;
  const int runs = runs_of(h), f = block / runs * outputs(w), p = block % runs * h->row;
  const unsigned long long count = (unsigned long long)(w.r * w.r);
  const int last = w.p - p <= h->row, few = w.f - f <= outputs(w), rows = least(w.p - p, h->row),
            n = least(w.f - f, outputs(w));
  h->product[last][few](copy + p * h->columns, weights + (size_t)f * (size_t)w.c, sums, &count,
                        h->at, h->by);
  for (int j = 0; j < n; j++)
    for (int y = 0; y < rows; y++) {
      float *to = dst + ((size_t)(f + j) * (size_t)w.p + (size_t)(p + y)) * (size_t)w.q;
      memcpy(to, sums + (j * h->row + y) * h->columns, (size_t)w.q * sizeof *to);
      if (relu) no_negatives(to, (size_t)w.q);
    }
}

static void hand_image(const by_hand *h, const float *src, const float *weights, float *dst,
                       bool relu, int mine, bool alone) {
  const window w = h->w;
  const int each = w.stride * w.stride * phase_words(h), runs = runs_of(h);
  float *copy = h->copy + (size_t)mine * h->copy_words;
#pragma omp parallel if (alone && threads() > 1)
  {
    float *sums = h->sums + (size_t)(alone ? omp_get_thread_num() : mine) * h->sums_words;
#pragma omp for
    for (int c = 0; c < w.c; c++)
      hand_channel(h, src + (size_t)c * (size_t)(w.h * w.w), copy + (size_t)c * (size_t)each);
#pragma omp for
    for (int x = 0; x < (w.f + outputs(w) - 1) / outputs(w) * runs; x++)
      hand_block(h, copy, weights, dst, x, sums, relu);
  }
}

/* weights: as hand_weights lays them. */
static void hand_run(const by_hand *h, const float *src, const float *weights, float *dst,
                     bool relu) {
  const window w = h->w;
  bool whole = threads() > 1 && w.batch >= threads(); /* an image a thread */
#pragma omp parallel for if (whole)
  for (int i = 0; i < w.batch; i++)
    hand_image(h, src + (size_t)i * (words_in(w) / (size_t)w.batch), weights,
               dst + (size_t)i * (words_out(w) / (size_t)w.batch), relu,
               whole ? omp_get_thread_num() : 0, !whole);
}
#endif
