/* A chain of two batched products of float32, with softmax between them where SOFTMAX is defined, exp where EXPONENT
 * is: our kernel against what users have.  kernel.h is what `tileflow emit` wrote for it. */
#define _GNU_SOURCE
#include <cblas.h>

#include "chain.h"

static float *a, *b, *d, *e, *c, *want, *turned, *laid, *block;

/* A part of a batch's rows, as many parts as keep all threads busy; each is OpenBLAS's on one thread. */
static void openblas(void) {
  int cuts = BATCH >= threads() ? 1 : threads(), rows = (M + cuts - 1) / cuts;
#pragma omp parallel for if (threads() > 1)
  for (int part = 0; part < BATCH * cuts; part++) {
    int i = part / cuts, m = part % cuts * rows, some = M - m < rows ? M - m : rows;
    float *mid = c + (size_t)omp_get_thread_num() * M * L, *out = e + (i * M + m) * N;
    const float *x = a + (i * M + m) * K, *w = b + i * K * L;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, WITH_SOFTMAX ? CblasTrans : CblasNoTrans, some, L, K, 1, x, K, w,
                WITH_SOFTMAX ? K : L, 0, mid, L);
    between(mid, some);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, some, N, L, 1, mid, L, d + i * L * N, N, 0, out, N);
  }
}

/* What a user writes by hand: blocks of rows, both products of a block while it is in the cache. */
static libxsmm_smmfunction first[2], second[2];

static libxsmm_smmfunction small(int m, int n, int k) {
  float one = 1, zero = 0;
  return libxsmm_smmdispatch(n, m, k, &n, &k, &n, &one, &zero, NULL, NULL); /* row-major: the operands change places */
}

static void xsmm_make(void) {
  for (int last = 0; last < 2; last++) {
    int rows = last ? LAST : ROWS;
    first[last] = small(rows, L, K), second[last] = small(rows, N, L);
    if (!first[last] || !second[last]) exit(2);
  }
}

/* K of attention with its keys side by side. */
static void xsmm_lay(int i, int slot) {
  if (WITH_SOFTMAX) libxsmm_otrans(turned + (size_t)slot * K * L, b + i * K * L, sizeof(float), K, L, K, L);
}

static void on_rows(const float *w, int i, int m, int mine) {
  int last = M - m <= ROWS;
  float *mid = block + (size_t)mine * ROWS * L;
  first[last](w, a + (i * M + m) * K, mid);
  between(mid, last ? LAST : ROWS);
  second[last](d + i * L * N, mid, e + (i * M + m) * N);
}

static void xsmm_rows(int i, int m, int mine, int slot) {
  on_rows(WITH_SOFTMAX ? turned + (size_t)slot * K * L : b + i * K * L, i, m, mine);
}
static void laid_rows(int i, int m, int mine, int slot) { on_rows(laid + (size_t)slot * K * L, i, m, mine); }
static void xsmm(void) { by_rows(xsmm_lay, xsmm_rows); }
static void xsmm_packed(void) { by_rows(NULL, laid_rows); }

enum { STEPS = WITH_SOFTMAX ? 3 : 2 };
static step plain[STEPS], packed[STEPS];
static void dnnl(void) { take_all(plain, STEPS); }
static void dnnl_packed(void) { take_all(packed, STEPS); }

static void dnnl_make(step *s, bool blocked) {
  const types f32 = {dnnl_f32, dnnl_f32, dnnl_f32};
#if defined(EXPONENT)
  dnnl_primitive_attr_t attr = after(dnnl_eltwise_exp);
#else
  dnnl_primitive_attr_t attr = NULL;
#endif
  s[0] = product(f32, BATCH, M, L, K, a, b, WITH_SOFTMAX, c, blocked, attr);
  if (WITH_SOFTMAX) s[1] = softmax(dnnl_f32, BATCH, M, L, c);
  s[STEPS - 1] = product(f32, BATCH, M, N, L, c, d, false, e, blocked, NULL);
}

/* gcc -O3 of the nest as one writes it down. */
static void naive(void) { nest(a, b, WITH_SOFTMAX, d, c, e); }

static void prepare(void) {
  const size_t out = (size_t)BATCH * M * N;
  a = numbers((size_t)BATCH * M * K), b = numbers((size_t)BATCH * K * L), d = numbers((size_t)BATCH * L * N);
  const size_t most = (size_t)(BATCH > threads() ? BATCH : threads());
  e = numbers(out), c = numbers(most * M * L), want = numbers(out);
  turned = numbers((size_t)threads() * K * L), laid = numbers((size_t)BATCH * K * L),
  block = numbers((size_t)threads() * ROWS * L);
  kernel_dense(&args);
#if defined(SOFTMAX)
  args.Q = a, args.K = b, args.V = d, args.O = e;
#elif defined(EXPONENT)
  args.A = a, args.B = b, args.E = d, args.F = e;
#else
  args.A = a, args.B = b, args.D = d, args.E = e;
#endif
  ready_ours();
  start();
  xsmm_make();
  for (int i = 0; i < BATCH; i++)
    libxsmm_otrans(laid + (size_t)i * K * L, b + i * K * L, sizeof(float), K, L, K, L);
  dnnl_make(plain, false);
  dnnl_make(packed, true);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "chain";
  const size_t out = (size_t)BATCH * M * N;
  party p = of_ours();
  joins(&p, "oneDNN", dnnl, 0);
  joins(&p, "oneDNN packed", dnnl_packed, p.packed);
  joins(&p, "libxsmm rows", xsmm, 0);
  if (WITH_SOFTMAX) joins(&p, "libxsmm rows packed", xsmm_packed, p.packed);
  joins(&p, "openblas", openblas, 0);
  prepare();
  naive();
  memcpy(want, e, out * sizeof *e);
  if (!all_right(name, p.who, p.n,
                 &(result){.raw = e, .bytes = out * sizeof *e, .got = e, .want = want, .n = out, .limit = 1e-5}))
    return 1;
  if (threads() == 1) joins(&p, "gcc -O3", naive, 0); /* the nest is for one core */
  rounds(name, (work){{[F32] = 2.0 * BATCH * M * (double)L * (K + N)}}, p.who, p.n);
  return 0;
}
