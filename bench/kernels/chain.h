/* What chains of two products have in common, whatever their data: shapes (shape.h: BATCH, M, N, K,
 * L), what stands between the products, and how work is spread over threads. */
#ifndef BENCH_CHAIN_H
#define BENCH_CHAIN_H
#include <libxsmm.h>
#include <omp.h>

#include "dnnl_help.h"
#include "ours.h"
#include <parts.h>
#include <shape.h>

enum { ROWS = 64, LAST = M % ROWS ? M % ROWS : ROWS }; /* of a block, for libxsmm */

#if defined(SOFTMAX)
enum { WITH_SOFTMAX = 1 };
#else
enum { WITH_SOFTMAX = 0 };
#endif

#if defined(SOFTMAX) || defined(EXPONENT)
/* e^v, in place; `low`: of what is 0 or less. */
static vec exponent(float *x, vec v, bool low, int n) {
  v = low ? vec_exp_low(v) : vec_exp(v);
  vec_store_part(x, v, n);
  return n < LANES ? vec_keep(v, vec_splat(0), n) : v;
}
#endif

/* Between the products, rows of L: softmax or exp in the same vectors as ours, or nothing. */
static void between(float *all, int rows) {
#if defined(SOFTMAX)
  for (int m = 0; m < rows; m++) {
    float *x = all + (size_t)m * L;
    const vec top = vec_splat(row_max(x, L));
    vec sum[2] = {vec_splat(0), vec_splat(0)};
    int l = 0;
    for (; l + 2 * LANES <= L; l += 2 * LANES)
      for (int i = 0; i < 2; i++) {
        const vec e = vec_exp_low(vec_sub(vec_load(x + l + i * LANES), top));
        vec_store(x + l + i * LANES, e);
        sum[i] = vec_add(sum[i], e);
      }
    for (; l < L; l += LANES) {
      const int n = L - l < LANES ? L - l : LANES;
      sum[0] = vec_add(sum[0], exponent(x + l, vec_sub(vec_load_part(x + l, n), top), true, n));
    }
    const float by = 1 / vec_sum(vec_add(sum[0], sum[1]));
#pragma omp simd
    for (l = 0; l < L; l++)
      x[l] *= by;
  }
#elif defined(EXPONENT)
  const int64_t n = (int64_t)rows * L;
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
    vec_store(all + i, vec_exp(vec_load(all + i)));
  if (i < n) exponent(all + i, vec_load_part(all + i, (int)(n - i)), false, (int)(n - i));
#else
  (void)all, (void)rows;
#endif
}

/* Calls `lay` for each batch, which puts its weights as `rows` wants them into a slot, and `rows`
 * for each block of rows; mine: the thread's number.  lay NULL: it was done beforehand, batch i is
 * in slot i.  Batches are spread over threads where there are as many, else blocks of rows. */
static void by_rows(void (*lay)(int i, int slot), void (*rows)(int i, int m, int mine, int slot)) {
  bool whole = threads() > 1 && BATCH >= threads();
#pragma omp parallel for if (whole)
  for (int i = 0; i < BATCH; i++) {
    int mine = omp_get_thread_num(), slot = lay ? mine : i;
    if (lay) lay(i, slot);
#pragma omp parallel for if (!whole && threads() > 1)
    for (int m = 0; m < M; m += ROWS)
      rows(i, m, whole ? mine : omp_get_thread_num(), slot);
  }
}

/* oneDNN's primitives, one behind the other, of all batches or of one. */
enum { MOST_STEPS = 4 };
typedef struct {
  step s[MOST_STEPS];
  int n;
} steps;

/* Batches a thread takes in a row where each goes by itself: what stands between its products stays
 * in the cache. */
static int heads_each(void) { return (BATCH + threads() - 1) / threads(); }

static bool by_heads_too(void) { return BATCH > 1 && BATCH >= threads(); }

static void by_heads(steps *head) {
#pragma omp parallel for schedule(static, heads_each()) if (threads() > 1)
  for (int i = 0; i < BATCH; i++)
    take_all(head[i].s, head[i].n);
}

/* a[i,m,k] w[i,k,l], then c[i,m,l] d[i,l,n], as one writes it down; w_t: w stands as [i,l,k]. */
static void nest(const float *x, const float *w, bool w_t, const float *v, float *mid, float *out) {
  for (int i = 0; i < BATCH; i++) {
    for (int m = 0; m < M; m++)
      for (int l = 0; l < L; l++) {
        float sum = 0;
        if (w_t)
          for (int k = 0; k < K; k++)
            sum += x[(i * M + m) * K + k] * w[(i * L + l) * K + k];
        else
          for (int k = 0; k < K; k++)
            sum += x[(i * M + m) * K + k] * w[(i * K + k) * L + l];
        mid[m * L + l] = sum;
      }
    between(mid, M);
    for (int m = 0; m < M; m++)
      for (int n = 0; n < N; n++) {
        float sum = 0;
        for (int l = 0; l < L; l++)
          sum += mid[m * L + l] * v[(i * L + l) * N + n];
        out[(i * M + m) * N + n] = sum;
      }
  }
}
#endif
