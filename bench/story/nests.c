/* F = exp(A B) E as the seed mlc-introduction rewrites it, step by step.  STEP: 1 naive, 2 loops
 * reordered, 3 tiled, 4 fused, 5 fused with packed tiles. */
#include "nests.h"

#define a(m, k) A[(m)*K + (k)]
#define b(k, l) B[(k)*L + (l)]
#define c(m, l) C[(m)*L + (l)]
#define e(l, n) E[(l)*N + (n)]
#define f(m, n) F[(m)*N + (n)]

#if STEP == 1
void nests(const float *restrict A, const float *restrict B, const float *restrict E,
           float *restrict C, float *restrict F) {
  for (int m = 0; m < M; m++)
    for (int l = 0; l < L; l++) {
      float sum = 0;
      for (int k = 0; k < K; k++)
        sum += a(m, k) * b(k, l);
      c(m, l) = sum;
    }
  for (int i = 0; i < M * L; i++)
    C[i] = fast_exp(C[i]);
  for (int m = 0; m < M; m++)
    for (int n = 0; n < N; n++) {
      float sum = 0;
      for (int l = 0; l < L; l++)
        sum += c(m, l) * e(l, n);
      f(m, n) = sum;
    }
}
#elif STEP == 2
void nests(const float *restrict A, const float *restrict B, const float *restrict E,
           float *restrict C, float *restrict F) {
  for (int m = 0; m < M; m++) {
    for (int l = 0; l < L; l++)
      c(m, l) = 0;
    for (int k = 0; k < K; k++)
      for (int l = 0; l < L; l++)
        c(m, l) += a(m, k) * b(k, l);
  }
  for (int i = 0; i < M * L; i++)
    C[i] = fast_exp(C[i]);
  for (int m = 0; m < M; m++) {
    for (int n = 0; n < N; n++)
      f(m, n) = 0;
    for (int l = 0; l < L; l++)
      for (int n = 0; n < N; n++)
        f(m, n) += c(m, l) * e(l, n);
  }
}
#else
#if STEP == 5
/* The tile side by side: rows that stand 4 KiB apart would share few sets of a cache. */
static void pack(const float *from, int step, float *restrict to) {
  for (int i = 0; i < TILE; i++)
    memcpy(to + i * TILE, from + i * step, TILE * sizeof *to);
}
#define TILE_OF(from, step)                                                                        \
  float tile[TILE * TILE];                                                                         \
  pack(from, step, tile);
#define in_tile(matrix, row, row0, col, col0) tile[((row) - (row0)) * TILE + (col) - (col0)]
#else
#define TILE_OF(from, step)
#define in_tile(matrix, row, row0, col, col0) matrix(row, col)
#endif

/* A tile of B (TILE x TILE, 16 KiB) stays in the first cache while ROWS rows of the others pass. */
static void clear(float *matrix, int step, int row0, int col0) {
  for (int i = row0; i < row0 + ROWS; i++)
    memset(matrix + i * step + col0, 0, TILE * sizeof *matrix);
}

static void first(const float *restrict A, const float *restrict B, float *restrict C, int m0) {
  for (int l0 = 0; l0 < L; l0 += TILE)
    for (int k0 = 0; k0 < K; k0 += TILE) {
      TILE_OF(&b(k0, l0), L)
      if (k0 == 0) clear(C, L, m0, l0);
      for (int m = m0; m < m0 + ROWS; m++)
        for (int k = k0; k < k0 + TILE; k++)
          for (int l = l0; l < l0 + TILE; l++)
            c(m, l) += a(m, k) * in_tile(b, k, k0, l, l0);
    }
}

static void second(const float *restrict C, const float *restrict E, float *restrict F, int m0) {
  for (int n0 = 0; n0 < N; n0 += TILE)
    for (int l0 = 0; l0 < L; l0 += TILE) {
      TILE_OF(&e(l0, n0), N)
      if (l0 == 0) clear(F, N, m0, n0);
      for (int m = m0; m < m0 + ROWS; m++)
        for (int l = l0; l < l0 + TILE; l++)
          for (int n = n0; n < n0 + TILE; n++)
            f(m, n) += c(m, l) * in_tile(e, l, l0, n, n0);
    }
}

static void between(float *C, int m0) {
  for (int i = m0 * L; i < (m0 + ROWS) * L; i++)
    C[i] = fast_exp(C[i]);
}

void nests(const float *restrict A, const float *restrict B, const float *restrict E,
           float *restrict C, float *restrict F) {
#if STEP == 3
  for (int m = 0; m < M; m += ROWS)
    first(A, B, C, m);
  for (int m = 0; m < M; m += ROWS)
    between(C, m);
  for (int m = 0; m < M; m += ROWS)
    second(C, E, F, m);
#else /* C of ROWS rows stays in the second cache until it is used up */
  for (int m = 0; m < M; m += ROWS) {
    first(A, B, C, m);
    between(C, m);
    second(C, E, F, m);
  }
#endif
}
#endif
