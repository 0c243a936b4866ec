/* A chain of two batched products of bfloat16 (TYPE_BF16) or int8 (TYPE_INT8), with softmax between
 * them where SOFTMAX is defined; PRODUCT: only the first product, of int8 to int32.  Our kernel
 * against oneDNN, and libxsmm on row blocks. kernel.h is what `tileflow emit` wrote. The first
 * operand has no negative numbers, so that libraries may take it as uint8. */
#define _GNU_SOURCE
#include "chain.h"

#if defined(TYPE_BF16)
typedef uint16_t datum;
typedef libxsmm_bmmfunction small_product;
enum { SIDE_BY_SIDE = 2 }; /* along k, for the dot products of an instruction */
#else
typedef int8_t datum;
typedef libxsmm_subimmfunction small_product;
enum { SIDE_BY_SIDE = 4 };
#endif
#if defined(PRODUCT)
enum { WHOLE = 0, OUT = BATCH * M * L };
#else
enum { WHOLE = 1, OUT = BATCH * M * N };
#endif

static datum *a, *b, *d;
static void *e, *c; /* e: bfloat16, or float32, or int32 (PRODUCT) */
static float *fa, *fb, *fd, *mid, *got, *want;
static size_t size_of_e;

static float widened(uint16_t x) {
  uint32_t bits = (uint32_t)x << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static uint16_t narrowed(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Numbers that both types hold without error, and as float32. */
static datum *drawn(size_t n, bool sign, float **same) {
  datum *p = room(n * sizeof *p);
  *same = room(n * sizeof **same);
  for (size_t i = 0; i < n; i++) {
    long v = (long)(i * 37 % 101) - (sign ? 50 : 0);
    if (WITH_SOFTMAX && SIDE_BY_SIDE == 4) v /= 25; /* else one key has it all */
#if defined(TYPE_BF16)
    (*same)[i] = (float)v / 256;
    p[i] = narrowed((*same)[i]);
#else
    (*same)[i] = (float)v;
    p[i] = (datum)v;
#endif
  }
  return p;
}

static void fetch(const contestant *who) {
  (void)who;
  for (size_t i = 0; i < OUT; i++)
#if defined(TYPE_BF16)
    got[i] = widened(((uint16_t *)e)[i]);
#elif defined(PRODUCT)
    got[i] = (float)((int32_t *)e)[i];
#else
    got[i] = ((float *)e)[i];
#endif
}

/* oneDNN.  What lies between is bfloat16, or float32: what int32 holds of a product, no int8 does.
 */
static steps plain, packed, unsigned_packed, heads[BATCH], heads_packed[BATCH];

static void onednn(void) { take_all(plain.s, plain.n); }
static void onednn_packed(void) { take_all(packed.s, packed.n); }
static void onednn_unsigned(void) { take_all(unsigned_packed.s, unsigned_packed.n); }
static void onednn_heads(void) { by_heads(heads); }
static void onednn_heads_packed(void) { by_heads(heads_packed); }

/* Of all batches, or of batch i alone: what is between its products then stands in the thread's own
 * place. */
static steps onednn_make(bool blocked, dnnl_data_type_t rows, int i, int n) {
#if defined(TYPE_BF16)
  const dnnl_data_type_t weights = dnnl_bf16, between_them = dnnl_bf16, last = dnnl_bf16;
#else
  const dnnl_data_type_t weights = dnnl_s8, between_them = WHOLE ? dnnl_f32 : dnnl_s32,
                         last = dnnl_f32;
#endif
  const size_t at = (size_t)i, mid = n == BATCH ? 0 : at / (size_t)heads_each() * M * L;
  datum *x = a + at * M * K, *y = b + at * K * L, *z = d + at * L * N;
  void *between_at = (char *)c + mid * 4, *out = (char *)e + at * (size_of_e / BATCH), *v = z;
  steps s = {.n = 0};
  s.s[s.n++] = product((matmul){{rows, weights, between_them},
                                n,
                                M,
                                L,
                                K,
                                x,
                                y,
                                WHOLE ? between_at : out,
                                WITH_SOFTMAX,
                                blocked},
                       NULL);
  if (WITH_SOFTMAX) s.s[s.n++] = softmax(between_them, n, M, L, between_at);
  if (!WHOLE) return s;
  if (last == dnnl_f32) {
    v = blocked ? fd + at * L * N : room((size_t)n * L * N * sizeof(float));
    if (!blocked) s.s[s.n++] = converted(dnnl_s8, z, dnnl_f32, v, n, L, N);
  }
  s.s[s.n++] = product(
      (matmul){{between_them, last, last}, n, M, N, L, between_at, v, out, false, blocked}, NULL);
  return s;
}

/* libxsmm: weights with what an instruction sums side by side, both products of a block of rows
 * while it is in the cache. */
static small_product first[2];
static struct {
  datum *b;
  void *d;
} turned, laid; /* a slot for each thread; for each batch, made beforehand */
static void *block;

/* [k][n] as [k / SIDE_BY_SIDE][n][SIDE_BY_SIDE]. */
static void grouped(datum *to, const datum *from, int k, int n) {
  for (int g = 0; g < k / SIDE_BY_SIDE; g++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < SIDE_BY_SIDE; i++)
        to[(g * n + j) * SIDE_BY_SIDE + i] = from[(g * SIDE_BY_SIDE + i) * n + j];
}

static void lay_in(datum *to_b, void *to_d, int i) {
  if (WITH_SOFTMAX)
    libxsmm_otrans(to_b, b + (size_t)i * K * L, 4, K / SIDE_BY_SIDE, L, K / SIDE_BY_SIDE, L);
  else
    grouped(to_b, b + (size_t)i * K * L, K, L);
  if (!WHOLE) return;
#if defined(TYPE_BF16)
  grouped(to_d, d + (size_t)i * L * N, L, N);
#else
  for (int j = 0; j < L * N; j++)
    ((float *)to_d)[j] = d[(size_t)i * L * N + (size_t)j];
#endif
}

#if defined(TYPE_BF16)
static libxsmm_bsmmfunction first_wide[2];
static libxsmm_bmmfunction second[2];

static void make_small(int last, int rows) {
  const int n = N, l = L, k = K;
  const float one = 1, zero = 0;
  first[last] = libxsmm_bmmdispatch(l, rows, k, &l, &k, &l, &one, &zero, NULL, NULL);
  first_wide[last] = libxsmm_bsmmdispatch(l, rows, k, &l, &k, &l, &one, &zero, NULL, NULL);
  second[last] = libxsmm_bmmdispatch(n, rows, l, &n, &l, &n, &one, &zero, NULL, NULL);
  if (!first_wide[last] || !second[last]) first[last] = NULL;
}

static void on_rows(const datum *w, const void *v, int i, int m, int mine) {
  int last = M - m <= ROWS, rows = last ? LAST : ROWS;
  uint16_t *narrow = (uint16_t *)block + (size_t)mine * ROWS * L * 3;
  float *wide = (float *)(narrow + ROWS * L);
  if (WITH_SOFTMAX) {
    first_wide[last](w, a + (i * M + m) * K, wide);
    between(wide, rows);
#pragma omp simd
    for (int j = 0; j < rows * L; j++)
      narrow[j] = narrowed(wide[j]);
  } else {
    first[last](w, a + (i * M + m) * K, narrow);
  }
  second[last](v, narrow, (uint16_t *)e + (i * M + m) * N);
}
#else
static libxsmm_smmfunction second[2];

static void make_small(int last, int rows) {
  const int n = N, l = L, k = K, one = 1, zero = 0;
  const float fone = 1, fzero = 0;
  first[last] = libxsmm_subimmdispatch(l, rows, k, &l, &k, &l, &one, &zero, NULL, NULL);
  second[last] = libxsmm_smmdispatch(n, rows, l, &n, &l, &n, &fone, &fzero, NULL, NULL);
}

static void on_rows(const datum *w, const void *v, int i, int m, int mine) {
  int last = M - m <= ROWS, rows = last ? LAST : ROWS;
  const uint8_t *x = (const uint8_t *)a + (i * M + m) * K;
  if (!WHOLE) {
    first[last]((const char *)w, x, (int32_t *)e + (i * M + m) * L);
    return;
  }
  float *wide = (float *)block + (size_t)mine * ROWS * L;
  int32_t *sums = (int32_t *)(void *)wide;
  first[last]((const char *)w, x, sums);
  for (int j = 0; j < rows * L; j++) {
    int32_t sum;
    memcpy(&sum, &sums[j], sizeof sum);
    wide[j] = (float)sum;
  }
  between(wide, rows);
  second[last](v, wide, (float *)e + (i * M + m) * N);
}
#endif

enum { WORD = SIDE_BY_SIDE == 2 ? 2 : 4 }; /* of the second product's weights */
static void *d_slot(void *all, int slot) { return (char *)all + (size_t)slot * L * N * WORD; }
static void xsmm_lay(int i, int slot) {
  lay_in(turned.b + (size_t)slot * K * L, d_slot(turned.d, slot), i);
}
static void xsmm_rows(int i, int m, int mine, int slot) {
  on_rows(turned.b + (size_t)slot * K * L, d_slot(turned.d, slot), i, m, mine);
}
static void laid_rows(int i, int m, int mine, int slot) {
  on_rows(laid.b + (size_t)slot * K * L, d_slot(laid.d, slot), i, m, mine);
}
static void xsmm(void) { by_rows(xsmm_lay, xsmm_rows); }
static void xsmm_packed(void) { by_rows(NULL, laid_rows); }

/* Whether it has kernels for this type and computer. */
static bool xsmm_make(void) {
  const size_t t = (size_t)threads();
  make_small(0, ROWS), make_small(1, LAST);
  if (!first[0] || !first[1] || !second[0] || !second[1] || K % SIDE_BY_SIDE || L % SIDE_BY_SIDE)
    return false;
  turned.b = room(t * K * L * sizeof(datum)), turned.d = room(t * L * N * WORD),
  block = room(t * ROWS * L * 6);
  laid.b = room((size_t)BATCH * K * L * sizeof(datum)), laid.d = room((size_t)BATCH * L * N * WORD);
  for (int i = 0; i < BATCH; i++)
    lay_in(laid.b + (size_t)i * K * L, d_slot(laid.d, i), i);
  return true;
}

static void prepare(void) {
  a = drawn((size_t)BATCH * M * K, false, &fa), b = drawn((size_t)BATCH * K * L, true, &fb),
  d = drawn((size_t)BATCH * L * N, true, &fd);
  size_of_e = (size_t)OUT * (SIDE_BY_SIDE == 2 ? 2 : 4);
  e = room(size_of_e), c = room((size_t)BATCH * M * L * 4), mid = room((size_t)M * L * 4);
  got = room((size_t)OUT * 4), want = room((size_t)BATCH * M * (N > L ? N : L) * 4);
  kernel_dense(&args);
#if defined(SOFTMAX)
  args.Q = a, args.K = b, args.V = d, args.O = e;
#elif defined(PRODUCT)
  args.A = a, args.B = b, args.C = e;
#else
  args.A = a, args.B = b, args.D = d, args.E = e;
#endif
  ready_ours();
  start();
}

/* What is to come out, of the widened numbers. */
static void wanted(void) {
  if (WHOLE) {
    nest(fa, fb, WITH_SOFTMAX, fd, mid, want);
    return;
  }
  memset(want, 0, (size_t)OUT * sizeof *want);
  for (int i = 0; i < BATCH; i++)
    for (int m = 0; m < M; m++)
      for (int k = 0; k < K; k++)
        for (int l = 0; l < L; l++)
          want[(i * M + m) * L + l] += fa[(i * M + m) * K + k] * fb[(i * K + k) * L + l];
}

static work counted(void) {
  const double one = 2.0 * BATCH * M * (double)L * K,
               two = WHOLE ? 2.0 * BATCH * M * (double)L * N : 0;
  if (SIDE_BY_SIDE == 2) return (work){{[BF16] = one + two}};
  return (work){{[INT8] = one, [F32] = two}};
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "chain";
  party p = of_ours();
  prepare();
  joins(&p, "oneDNN", onednn, 0);
  joins(&p, "oneDNN packed", onednn_packed, p.packed);
#if defined(TYPE_BF16)
  const dnnl_data_type_t rows = dnnl_bf16;
  (void)onednn_unsigned;
#else
  const dnnl_data_type_t rows = dnnl_s8;
  unsigned_packed = onednn_make(true, dnnl_u8, 0, BATCH);
  joins(&p, "oneDNN uint8 packed", onednn_unsigned, p.packed);
#endif
  plain = onednn_make(false, rows, 0, BATCH), packed = onednn_make(true, rows, 0, BATCH);
  if (by_heads_too()) {
    for (int i = 0; i < BATCH; i++)
      heads[i] = onednn_make(false, rows, i, 1), heads_packed[i] = onednn_make(true, rows, i, 1);
    joins(&p, "oneDNN heads", onednn_heads, 0);
    joins(&p, "oneDNN heads packed", onednn_heads_packed, p.packed);
  }
  if (xsmm_make()) {
    joins(&p, "libxsmm rows", xsmm, 0);
    joins(&p, "libxsmm rows packed", xsmm_packed, p.packed);
  }
  wanted();
  const result r = {.raw = e,
                    .bytes = size_of_e,
                    .got = got,
                    .want = want,
                    .n = OUT,
                    .limit = SIDE_BY_SIDE == 2 ? 1e-2 : 1e-5,
                    .fetch = fetch};
  if (!all_right(name, p.who, p.n, &r)) return 1;
  rounds(name, counted(), p.who, p.n);
  return 0;
}
