/* A convolution as a product of OpenBLAS: windows laid out as columns first. */
#ifndef BENCH_OPENBLAS_CONV_H
#define BENCH_OPENBLAS_CONV_H
#include <cblas.h>
#undef I /* complex.h has it, and convolutions call their input so */
#include <omp.h>

#include "rounds.h"
#include "window.h"

typedef struct {
  window w;
  float *columns; /* of a part, for each thread: [c, r, s, p, q] */
  int cuts;       /* parts of an image's rows */
  int rows;       /* of a part */
} by_columns;

static by_columns columns_of(window w) {
  by_columns c = {.w = w, .cuts = w.batch >= threads() ? 1 : threads()};
  c.rows = (w.p + c.cuts - 1) / c.cuts;
  c.columns = room((size_t)threads() * (size_t)w.c * (size_t)(w.r * w.r) * (size_t)c.rows *
                   (size_t)w.q * sizeof(float));
  return c;
}

static void lay_columns(window w, const float *image, int from, int rows, float *to) {
  for (int c = 0; c < w.c; c++)
    for (int r = 0; r < w.r; r++)
      for (int s = 0; s < w.r; s++)
        for (int p = from; p < from + rows; p++, to += w.q) {
          int y = p * w.stride + r - w.pad;
          if (y < 0 || y >= w.h)
            memset(to, 0, (size_t)w.q * sizeof *to);
          else
            row_of(image + ((size_t)c * (size_t)w.h + (size_t)y) * (size_t)w.w, w.w, s - w.pad,
                   w.stride, to, w.q);
        }
}

static void by_openblas(const by_columns *b, const float *src, const float *weights, float *dst,
                        bool relu) {
  const window w = b->w;
  const int k = w.c * w.r * w.r, all = w.p * w.q;
#pragma omp parallel for if (threads() > 1)
  for (int part = 0; part < w.batch * b->cuts; part++) {
    int i = part / b->cuts, p = part % b->cuts * b->rows,
        rows = w.p - p < b->rows ? w.p - p : b->rows, n = rows * w.q;
    const float *image = src + (size_t)i * (size_t)(w.c * w.h) * (size_t)w.w;
    float *to = dst + (size_t)i * (size_t)w.f * (size_t)all + p * w.q,
          *columns =
              b->columns + (size_t)omp_get_thread_num() * (size_t)k * (size_t)(b->rows * w.q);
    bool as_it_is = w.r == 1 && w.stride == 1; /* the image has the columns already */
    if (!as_it_is) lay_columns(w, image, p, rows, columns);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, w.f, n, k, 1, weights, k,
                as_it_is ? image + p * w.q : columns, as_it_is ? w.h * w.w : n, 0, to, all);
    for (int f = 0; relu && f < w.f; f++)
      no_negatives(to + (size_t)f * (size_t)all, (size_t)n);
  }
}
#endif
