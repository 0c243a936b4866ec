/* A chain of two batched products of float32, with softmax between them where SOFTMAX is defined,
 * exp where EXPONENT is: our kernel against what users have.  kernel.h is what `tileflow emit`
 * wrote for it. */
#define _GNU_SOURCE
#include <cblas.h>
#include <dlfcn.h>

#include "chain.h"

static float *a, *b, *d, *e, *c, *want, *turned, *laid, *block;

typedef void (*sgemm)(CBLAS_LAYOUT, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, int, int, int, float,
                      const float *, int, const float *, int, float, float *, int);

/* A part of a batch's rows, as many parts as keep all threads busy; each is the library's on one
 * thread. */
static void by_blas(sgemm multiply) {
  int cuts = BATCH >= threads() ? 1 : threads(), rows = (M + cuts - 1) / cuts;
#pragma omp parallel for if (threads() > 1)
  for (int part = 0; part < BATCH * cuts; part++) {
    int i = part / cuts, m = part % cuts * rows, some = M - m < rows ? M - m : rows;
    float *mid = c + (size_t)omp_get_thread_num() * M * L, *out = e + (i * M + m) * N;
    const float *x = a + (i * M + m) * K, *w = b + i * K * L;
    multiply(CblasRowMajor, CblasNoTrans, WITH_SOFTMAX ? CblasTrans : CblasNoTrans, some, L, K, 1,
             x, K, w, WITH_SOFTMAX ? K : L, 0, mid, L);
    between(mid, some);
    multiply(CblasRowMajor, CblasNoTrans, CblasNoTrans, some, N, L, 1, mid, L, d + i * L * N, N, 0,
             out, N);
  }
}

static void openblas(void) { by_blas(cblas_sgemm); }

/* MKL's, from the folder that MKL_ROOT names: beside OpenBLAS, whose names are the same. */
static sgemm mkl_sgemm;
static void mkl(void) { by_blas(mkl_sgemm); }

static bool mkl_opened(void) {
  const char *root = getenv("MKL_ROOT");
  char path[4096];
  if (!root || !*root) return false;
  snprintf(path, sizeof path, "%s/lib/libmkl_rt.so", root);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    snprintf(path, sizeof path, "%s/lib/libmkl_rt.so.3", root),
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library) *(void **)&mkl_sgemm = dlsym(library, "cblas_sgemm");
  if (!mkl_sgemm) fprintf(stderr, "no MKL at %s: %s\n", root, dlerror());
  return mkl_sgemm;
}

/* What a user writes by hand: blocks of rows, both products of a block while it is in the cache. */
static libxsmm_smmfunction first[2], second[2];

static libxsmm_smmfunction small(int m, int n, int k) {
  float one = 1, zero = 0;
  return libxsmm_smmdispatch(n, m, k, &n, &k, &n, &one, &zero, NULL,
                             NULL); /* row-major: the operands change places */
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
  if (WITH_SOFTMAX)
    libxsmm_otrans(turned + (size_t)slot * K * L, b + i * K * L, sizeof(float), K, L, K, L);
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
static void laid_rows(int i, int m, int mine, int slot) {
  on_rows(laid + (size_t)slot * K * L, i, m, mine);
}
static void xsmm(void) { by_rows(xsmm_lay, xsmm_rows); }
static void xsmm_packed(void) { by_rows(NULL, laid_rows); }

static steps plain, packed, heads[BATCH], heads_packed[BATCH];
static void onednn(void) { take_all(plain.s, plain.n); }
static void onednn_packed(void) { take_all(packed.s, packed.n); }
static void onednn_heads(void) { by_heads(heads); }
static void onednn_heads_packed(void) { by_heads(heads_packed); }

/* Of all batches, or of batch i alone: what is between its products then stands in the thread's own
 * place. */
static steps onednn_make(bool blocked, int i, int n) {
  const types f32 = {dnnl_f32, dnnl_f32, dnnl_f32};
  const size_t at = (size_t)i;
  float *mid = c + (n == BATCH ? 0 : at / (size_t)heads_each() * M * L);
  steps s = {.n = 0};
#if defined(EXPONENT)
  dnnl_primitive_attr_t attr = after(dnnl_eltwise_exp);
#else
  dnnl_primitive_attr_t attr = NULL;
#endif
  s.s[s.n++] = product(
      (matmul){f32, n, M, L, K, a + at * M * K, b + at * K * L, mid, WITH_SOFTMAX, blocked}, attr);
  if (WITH_SOFTMAX) s.s[s.n++] = softmax(dnnl_f32, n, M, L, mid);
  s.s[s.n++] =
      product((matmul){f32, n, M, N, L, mid, d + at * L * N, e + at * M * N, false, blocked}, NULL);
  return s;
}

/* gcc -O3 of the nest as one writes it down. */
static void naive(void) { nest(a, b, WITH_SOFTMAX, d, c, e); }

static void prepare(void) {
  const size_t out = (size_t)BATCH * M * N;
  a = numbers((size_t)BATCH * M * K), b = numbers((size_t)BATCH * K * L),
  d = numbers((size_t)BATCH * L * N);
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
  plain = onednn_make(false, 0, BATCH), packed = onednn_make(true, 0, BATCH);
  for (int i = 0; by_heads_too() && i < BATCH; i++)
    heads[i] = onednn_make(false, i, 1), heads_packed[i] = onednn_make(true, i, 1);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "chain";
  const size_t out = (size_t)BATCH * M * N;
  party p = of_ours();
  joins(&p, "oneDNN", onednn, 0);
  joins(&p, "oneDNN packed", onednn_packed, p.packed);
  if (by_heads_too()) {
    joins(&p, "oneDNN heads", onednn_heads, 0);
    joins(&p, "oneDNN heads packed", onednn_heads_packed, p.packed);
  }
  joins(&p, "libxsmm rows", xsmm, 0);
  if (WITH_SOFTMAX) joins(&p, "libxsmm rows packed", xsmm_packed, p.packed);
  joins(&p, "openblas", openblas, 0);
  if (mkl_opened()) joins(&p, "mkl", mkl, 0);
  prepare();
  naive();
  memcpy(want, e, out * sizeof *e);
  if (!all_right(
          name, p.who, p.n,
          &(result){
              .raw = e, .bytes = out * sizeof *e, .got = e, .want = want, .n = out, .limit = 1e-5}))
    return 1;
  if (threads() == 1) joins(&p, "gcc -O3", naive, 0); /* the nest is for one core */
  rounds(name, (work){{[F32] = 2.0 * BATCH * M * (double)L * (K + N)}}, p.who, p.n);
  return 0;
}
