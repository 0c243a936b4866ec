/* A chain of two batched products, C = A B and E = C D, by four contestants, for
 * bench/movement/beside.sh.  Rows stand an odd number of lines apart, at least one further than
 * they are long.  shape.h: BATCH, M, N, K, L.
 *
 *   beside check
 *       each contestant's E beside sums in double; status 1 if one is wrong
 *   beside WHO PARTS
 *       fills the caches with other data, then calls WHO: for PARTS 2 for both products, 1 for the
 * first, 0 not at all. What Cachegrind counts of two of these differs by the products between alone
 *
 * WHO: fused, parts (ours), openblas, onednn */
#define _GNU_SOURCE
#include <cblas.h>
#include <first.h>
#include <fused.h>
#include <math.h>
#include <second.h>
#include <stdio.h>
#include <string.h>

#include "bench/kernels/dnnl_help.h"
#include "bench/movement/whose.h"
#include <shape.h>

#define APART(n) (16 * (((n) / 16 + 1) | 1)) /* an odd number of lines */

enum { LK = APART(K), LL = APART(L), LN = APART(N), SWEPT = 3 << 17 };

static float *a, *b, *c, *d, *e;
static void *room;
static size_t bytes;

static float *pages(size_t n) {
  float *p = aligned_alloc(4096, (n * sizeof *p + 4095) / 4096 * 4096);
  if (!p) exit(2);
  for (size_t i = 0; i < n; i++)
    p[i] = (float)((int)(i & 127) - 60) / 256;
  return p;
}

static void stand(int64_t *stride, int rows, int line) {
  stride[0] = (int64_t)rows * line, stride[1] = line;
}

static void fused_ours(int parts) {
  fused_args x;
  fused_dense(&x);
  x.A = a, x.B = b, x.D = d, x.E = e;
  stand(x.A_stride, M, LK), stand(x.B_stride, K, LL), stand(x.D_stride, L, LN),
      stand(x.E_stride, M, LN);
  if (parts > 1 && fused(&x, room, bytes)) exit(2);
}

static void parts_ours(int parts) {
  first_args x;
  second_args y;
  first_dense(&x), second_dense(&y);
  x.A = a, x.B = b, x.C = c, y.C = c, y.D = d, y.E = e;
  stand(x.A_stride, M, LK), stand(x.B_stride, K, LL), stand(x.C_stride, M, LL);
  stand(y.C_stride, M, LL), stand(y.D_stride, L, LN), stand(y.E_stride, M, LN);
  if (parts > 0 && first(&x, room, bytes)) exit(2);
  if (parts > 1 && second(&y, room, bytes)) exit(2);
}

static void blas_of(int parts, int batches) {
  const CBLAS_TRANSPOSE as = CblasNoTrans;
  for (int i = 0; parts > 0 && i < batches; i++)
    cblas_sgemm(CblasRowMajor, as, as, M, L, K, 1, a + i * M * LK, LK, b + i * K * LL, LL, 0,
                c + i * M * LL, LL);
  for (int i = 0; parts > 1 && i < batches; i++)
    cblas_sgemm(CblasRowMajor, as, as, M, N, L, 1, c + i * M * LL, LL, d + i * L * LN, LN, 0,
                e + i * M * LN, LN);
}

static void openblas(int parts) { blas_of(parts, BATCH); }

static layout lined(int batches, int rows, int columns) {
  const dnnl_dims_t dims = {batches, rows, columns},
                    strides = {(dnnl_dim_t)rows * APART(columns), APART(columns), 1};
  return strided(3, dims, dnnl_f32, strides);
}

/* z[batches,m,n] = x[.,m,k] y[.,k,n] */
static step times(int batches, int m, int n, int k, float *x, float *y, float *z) {
  layout lx = lined(batches, m, k), ly = lined(batches, k, n), lz = lined(batches, m, n);
  step s = {.n = 3};
  CHECK(dnnl_primitive_create(&s.p, product_of(lx, ly, lz, NULL)));
  s.args[0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, memory(lx, x)};
  s.args[1] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, memory(ly, y)};
  s.args[2] = (dnnl_exec_arg_t){DNNL_ARG_DST, memory(lz, z)};
  return s;
}

static step whole[2], one[2];

static void onednn(int parts) { take_all(whole, parts); }

/* What a library does at its first call only, its buffers and its code, on one batch. */
static void warm(const char *who) {
  if (!strcmp(who, "openblas")) blas_of(2, 1);
  if (strcmp(who, "onednn")) return;
  start();
  whole[0] = times(BATCH, M, L, K, a, b, c), whole[1] = times(BATCH, M, N, L, c, d, e);
  one[0] = times(1, M, L, K, a, b, c), one[1] = times(1, M, N, L, c, d, e);
  take_all(one, 2);
}

static const struct {
  const char *name;
  void (*run)(int parts);
} whos[] = {
    {"fused", fused_ours}, {"parts", parts_ours}, {"openblas", openblas}, {"onednn", onednn}};

enum { WHOS = sizeof whos / sizeof *whos };

/* The largest difference between e and sums in double, over the largest sum. */
static double off(void) {
  static double mid[L];
  double most = 0, worst = 0;
  for (int r = 0; r < BATCH * M; r += 7) { /* some rows of all batches: 7 divides no M */
    const int i = r / M;
    for (int l = 0; l < L; l++) {
      mid[l] = 0;
      for (int k = 0; k < K; k++)
        mid[l] += (double)a[r * LK + k] * b[(i * K + k) * LL + l];
    }
    for (int n = 0; n < N; n++) {
      double sum = 0;
      for (int l = 0; l < L; l++)
        sum += mid[l] * d[(i * L + l) * LN + n];
      most = fmax(most, fabs(sum)), worst = fmax(worst, fabs(sum - e[r * LN + n]));
    }
  }
  return worst / most;
}

static int check(void) {
  for (int w = 0; w < WHOS; w++) {
    memset(e, 0, sizeof *e * BATCH * M * LN), memset(c, 0, sizeof *c * BATCH * M * LL);
    warm(whos[w].name);
    whos[w].run(2);
    const double by = off();
    if (by <= 1e-5) continue;
    fprintf(stderr, "beside: %s is off by %g of the largest\n", whos[w].name, by);
    return 1;
  }
  return 0;
}

static void say_where(void) {
  const size_t word = sizeof(float);
  whose_place("A", a, word * BATCH * M * LK), whose_place("B", b, word * BATCH * K * LL);
  whose_place("C", c, word * BATCH * M * LL), whose_place("D", d, word * BATCH * L * LN);
  whose_place("E", e, word * BATCH * M * LN), whose_place("kept", room, bytes);
}

int main(int argc, char **argv) {
  a = pages((size_t)BATCH * M * LK), b = pages((size_t)BATCH * K * LL),
  c = pages((size_t)BATCH * M * LL);
  d = pages((size_t)BATCH * L * LN), e = pages((size_t)BATCH * M * LN);
  const size_t needs[] = {fused_workspace(), first_workspace(), second_workspace()};
  for (int i = 0; i < 3; i++)
    bytes = needs[i] > bytes ? needs[i] : bytes;
  room = pages(bytes / sizeof(float) + 1);
  if (argc == 2 && !strcmp(argv[1], "check")) return check();
  for (int w = 0; argc == 3 && w < WHOS; w++) {
    if (strcmp(argv[1], whos[w].name)) continue;
    warm(whos[w].name);
    volatile float *other = pages(SWEPT);
    for (size_t i = 0; i < SWEPT; i += 16)
      (void)other[i];
    say_where();
    whos[w].run(argv[2][0] - '0');
    whose_print();
    return 0;
  }
  return 2;
}
