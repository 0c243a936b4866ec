/* A chain of two batched products, with softmax between them where SOFTMAX is defined, exp where EXPONENT is: our kernel against what
 * users have.
 * shape.h has BATCH, M, N, K, L; kernel.h is what `tileflow emit` wrote for it. */
#define _POSIX_C_SOURCE 200809L
#include <cblas.h>
#include <libxsmm.h>
#include <omp.h>
#include <stdbool.h>

#include "dnnl_help.h"
#include <kernel.h>
#include <parts.h>
#include "rounds.h"
#include <shape.h>

enum { ROWS = 64 }; /* of a block, for libxsmm */

static float *a, *b, *d, *e, *c, *want, *turned, *block;
static kernel_args args;
static void *workspace;
static size_t bytes;

static void ours(void) {
  if (kernel(&args, workspace, bytes)) exit(2);
}

#if defined(SOFTMAX)
/* The same fast exp as ours. */
static void soften(float *all, int rows) {
#pragma omp parallel for if (threads() > 1)
  for (int m = 0; m < rows; m++) {
    float top = -INFINITY, sum = 0, *x = all + (size_t)m * L;
#pragma omp simd reduction(max : top)
    for (int l = 0; l < L; l++) top = x[l] > top ? x[l] : top;
#pragma omp simd reduction(+ : sum)
    for (int l = 0; l < L; l++) {
      x[l] = fast_exp(x[l] - top);
      sum += x[l];
    }
    sum = 1 / sum;
#pragma omp simd
    for (int l = 0; l < L; l++) x[l] *= sum;
  }
}
#endif

static void between(float *x, int rows) {
#if defined(SOFTMAX)
  soften(x, rows);
#elif defined(EXPONENT) /* the same fast exp as ours */
#pragma omp parallel for simd if (threads() > 1)
  for (int64_t i = 0; i < (int64_t)rows * L; i++) x[i] = fast_exp(x[i]);
#else
  (void)x, (void)rows;
#endif
}

static void openblas(void) {
  for (int i = 0; i < BATCH; i++) {
#if defined(SOFTMAX)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, M, L, K, 1, a + i * M * K, K, b + i * K * L, K, 0, c, L);
#else
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, L, K, 1, a + i * M * K, K, b + i * K * L, L, 0, c, L);
#endif
    between(c, M);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, L, 1, c, L, d + i * L * N, N, 0, e + i * M * N, N);
  }
}

static libxsmm_smmfunction small(int m, int n, int k) {
  float one = 1, zero = 0;
  return libxsmm_smmdispatch(n, m, k, &n, &k, &n, &one, &zero, NULL, NULL); /* row-major: the operands change places */
}

/* What a user writes by hand: blocks of rows, both products of a block while it is in the cache. */
static void xsmm(void) {
  static libxsmm_smmfunction f[2], g[2];
  if (!f[0]) {
    f[0] = small(ROWS, L, K), g[0] = small(ROWS, N, L);
    f[1] = small(M % ROWS ? M % ROWS : ROWS, L, K), g[1] = small(M % ROWS ? M % ROWS : ROWS, N, L);
  }
  for (int i = 0; i < BATCH; i++) {
    const float *w = b + i * K * L;
#if defined(SOFTMAX)
    for (int l = 0; l < L; l++)
      for (int k = 0; k < K; k++) turned[k * L + l] = w[l * K + k];
    w = turned;
#endif
#pragma omp parallel for if (threads() > 1)
    for (int m = 0; m < M; m += ROWS) {
      int last = M - m < ROWS;
      float *mine = block + (size_t)omp_get_thread_num() * ROWS * L;
      f[last](w, a + (i * M + m) * K, mine);
      between(mine, last ? M - m : ROWS);
      g[last](d + i * L * N, mine, e + (i * M + m) * N);
    }
  }
}

static step plain[3], packed[3];

static void chain(step *s) {
  take(&s[0]);
#if defined(SOFTMAX)
  take(&s[1]);
#endif
  take(&s[2]);
  finish();
}
static void dnnl(void) { chain(plain); }
static void dnnl_packed(void) { chain(packed); }

/* gcc -O3 of the nest as one writes it down. */
static void naive(void) {
  for (int i = 0; i < BATCH; i++) {
    for (int m = 0; m < M; m++)
      for (int l = 0; l < L; l++) {
        float sum = 0;
        for (int k = 0; k < K; k++)
#if defined(SOFTMAX)
          sum += a[(i * M + m) * K + k] * b[(i * L + l) * K + k];
#else
          sum += a[(i * M + m) * K + k] * b[(i * K + k) * L + l];
#endif
        c[m * L + l] = sum;
      }
    between(c, M);
    for (int m = 0; m < M; m++)
      for (int n = 0; n < N; n++) {
        float sum = 0;
        for (int l = 0; l < L; l++) sum += c[m * L + l] * d[(i * L + l) * N + n];
        e[(i * M + m) * N + n] = sum;
      }
  }
}

int main(int argc, char **argv) {
  const size_t out = (size_t)BATCH * M * N;
  a = numbers((size_t)BATCH * M * K), b = numbers((size_t)BATCH * K * L), d = numbers((size_t)BATCH * L * N);
  e = numbers(out), c = numbers((size_t)BATCH * M * L), want = numbers(out), turned = numbers((size_t)K * L);
  block = numbers((size_t)ROWS * L * (size_t)threads());
  kernel_dense(&args);
#if defined(SOFTMAX)
  args.Q = a, args.K = b, args.V = d, args.O = e;
#elif defined(EXPONENT)
  args.A = a, args.B = b, args.E = d, args.F = e;
#else
  args.A = a, args.B = b, args.D = d, args.E = e;
#endif
  bytes = kernel_workspace();
  workspace = malloc(bytes);
  start();
  for (int blocked = 0; blocked < 2; blocked++) {
    step *s = blocked ? packed : plain;
#if defined(SOFTMAX)
    s[0] = product(BATCH, M, L, K, a, b, true, c, blocked);
    s[1] = softmax(BATCH, M, L, c);
#elif defined(EXPONENT)
    s[0] = product_then(BATCH, M, L, K, a, b, false, c, blocked, exp_after());
#else
    s[0] = product(BATCH, M, L, K, a, b, false, c, blocked);
#endif
    s[2] = product(BATCH, M, N, L, c, d, false, e, blocked);
  }
  contestant all[] = {{"tileflow", ours, {0}},       {"openblas", openblas, {0}}, {"libxsmm rows", xsmm, {0}},
                      {"oneDNN", dnnl, {0}},         {"oneDNN packed", dnnl_packed, {0}}, {"gcc -O3", naive, {0}}};
  enum { N_ALL = sizeof all / sizeof all[0] };
  naive();
  memcpy(want, e, out * sizeof *e);
  for (int i = 0; i < N_ALL - 1; i++) {
    memset(e, 0, out * sizeof *e);
    all[i].run();
    if (!(error_of(e, want, out) < 1e-5)) {
      fprintf(stderr, "%s: %s is wrong by %g\n", argv[0], all[i].name, error_of(e, want, out));
      return 1;
    }
  }
  /* the nest is for one core */
  rounds(argc > 1 ? argv[1] : "chain", 2.0 * BATCH * M * (double)L * (K + N), all, threads() > 1 ? N_ALL - 1 : N_ALL);
  return 0;
}
