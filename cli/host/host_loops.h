/* The timed loops for one width of vectors; no guard: host_kernels.c includes it once a width, with
 *   OF(name)  the name for this width        TARGET   what the processor must have
 *   LANES     float32 a vector               FUSE(a, x, y)   a = a * x + y */
typedef float OF(vec) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t OF(ivec) __attribute__((vector_size(4 * LANES)));
typedef uint64_t OF(words) __attribute__((vector_size(4 * LANES), aligned(8), may_alias));

/* The sums are single variables, as an array would be kept in memory. */
TARGET static float OF(multiply_adds)(int64_t n, float x) {
  const OF(vec) one = (OF(vec)){0} + x, zero = one - one;
  OF(vec)
  a = one, b = one, c = one, d = one, e = one, f = one, g = one, h = one, i = one, j = one, k = one,
  l = one;
  for (int64_t r = 0; r < n; r++) {
    FUSE(a, one, zero);
    FUSE(b, one, zero);
    FUSE(c, one, zero);
    FUSE(d, one, zero);
    FUSE(e, one, zero);
    FUSE(f, one, zero);
    FUSE(g, one, zero);
    FUSE(h, one, zero);
    FUSE(i, one, zero);
    FUSE(j, one, zero);
    FUSE(k, one, zero);
    FUSE(l, one, zero);
  }
  return (a + b + c + d + e + f + g + h + i + j + k + l)[0];
}

/* Each depends on the one before. */
TARGET static float OF(multiply_add_chain)(int64_t n, float x) {
  const OF(vec) one = (OF(vec)){0} + x, zero = one - one;
  OF(vec) a = one;
  for (int64_t r = 0; r < n; r++) {
    FUSE(a, one, zero);
    FUSE(a, one, zero);
    FUSE(a, one, zero);
    FUSE(a, one, zero);
  }
  return a[0];
}

TARGET static uint64_t OF(read)(const uint64_t *p, int64_t n) {
  enum { STEP = LANES / 2 };
  OF(words) a = {0}, b = a, c = a, d = a;
  const OF(words) *at = (const OF(words) *)p, *end = (const OF(words) *)(p + n);
  for (; at < end; at += 4) {
    a += at[0];
    b += at[1];
    c += at[2];
    d += at[3];
  }
  uint64_t sum = 0;
  a += b + c + d;
  for (int l = 0; l < STEP; l++)
    sum += a[l];
  return sum;
}

TARGET static void OF(write)(uint64_t *p, int64_t n, uint64_t v) {
  enum { STEP = LANES / 2 };
  const OF(words) all = (OF(words)){0} + v;
  for (int64_t i = 0; i < n; i += STEP) {
    *(OF(words) *)(p + i) = all;
    __asm__ volatile("" ::: "memory"); /* prevents replacement by a call of memset */
  }
}

/* 2^whole through the exponent's bits, times a polynomial of the fraction, |f| <= log(2) / 2. */
TARGET static void OF(exp)(const float *from, float *to, int64_t n) {
  const OF(vec) zero = {0},
                magic = zero + 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
  for (int64_t i = 0; i < n; i += LANES) {
    const OF(vec) t = *(const OF(vec) *)(from + i) * 1.44269504f, whole = (t + magic) - magic,
                  f = (t - whole) * 0.693147181f;
    OF(vec) p = zero + 1.0f / 720;
    FUSE(p, f, zero + 1.0f / 120);
    FUSE(p, f, zero + 1.0f / 24);
    FUSE(p, f, zero + 1.0f / 6);
    FUSE(p, f, zero + 0.5f);
    FUSE(p, f, zero + 1);
    FUSE(p, f, zero + 1);
    const OF(ivec) bits = (__builtin_convertvector(whole, OF(ivec)) + 127) << 23;
    *(OF(vec) *)(to + i) = p * (OF(vec))bits;
  }
}
