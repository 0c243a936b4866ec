/* Micro-kernels of matrix products as C text: Algorithm 2 and Eq. 3.4 of the thesis. */
#ifndef CODEGEN_MICRO_GEMM_H
#define CODEGEN_MICRO_GEMM_H
#include <stdbool.h>
#include <stdio.h>

typedef struct {
  const char *name;
  int lanes, registers; /* float32 a register; 1 lane: portable C */
} tf_micro_isa;

typedef struct {
  int mi, ni, mii; /* rows, registers across, registers that hold A */
} tf_micro_shape;

/* The row of "portable", "avx2" or "avx512"; NULL where there is none. */
const tf_micro_isa *tf_micro_isa_find(const char *name);

/* Eq. 3.4 for long KI with two registers for A and MI a multiple of two: the most FMA a load.
 * Of equals, the one with the fewest registers of B. */
tf_micro_shape tf_micro_best(int registers);

/* Prints `static void NAME(int64_t k, const float *a, const float *b, float *c, int64_t ldc)`,
 * which adds to c[m][n] (row stride ldc) the product of a[k][m] and b[k][n], both packed
 * without gaps.  Touches nothing beyond n.  False where m or n is outside the ISA's block. */
bool tf_micro_gemm(FILE *out, const tf_micro_isa *isa, const char *name, int m, int n);
#endif
