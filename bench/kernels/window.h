/* A convolution with square windows and strides: dst[batch, f, p, q] += src[batch, c, st p + r -
 * pad, st q + s - pad] weights[f, c, r, s]. */
#ifndef BENCH_WINDOW_H
#define BENCH_WINDOW_H
#include <stddef.h>
#include <string.h>

typedef struct {
  int batch, c, h, w, f, p, q, r, stride, pad;
} window;

static size_t words_in(window w) {
  return (size_t)w.batch * (size_t)w.c * (size_t)w.h * (size_t)w.w;
}
static size_t words_out(window w) {
  return (size_t)w.batch * (size_t)w.f * (size_t)w.p * (size_t)w.q;
}
static size_t words_of_weights(window w) {
  return (size_t)w.f * (size_t)w.c * (size_t)w.r * (size_t)w.r;
}

/* n words of a row from x on, every stride-th; 0 beyond its w. */
static inline void row_of(const float *row, int w, int x, int stride, float *to, int n) {
  int i = 0;
  for (; i < n && x + i * stride < 0; i++)
    to[i] = 0;
  int end = w - x <= 0 ? 0 : (w - x + stride - 1) / stride;
  if (end > n) end = n;
  if (stride == 1 && end > i) {
    memcpy(to + i, row + x + i, (size_t)(end - i) * sizeof *to);
    i = end;
  }
  for (; i < end; i++)
    to[i] = row[x + i * stride];
  for (; i < n; i++)
    to[i] = 0;
}

static inline void no_negatives(float *x, size_t n) {
#pragma omp simd
  for (size_t i = 0; i < n; i++)
    x[i] = x[i] > 0 ? x[i] : 0;
}
#endif
