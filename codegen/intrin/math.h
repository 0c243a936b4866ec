/* Functions of one float32 for emitted kernels, as C text that gcc and clang vectorise in any loop: no branches, no
 * tables, no calls, no need of -ffast-math.  Polynomials: least maximum error over the reduced range (Lawson's
 * iteration on Chebyshev nodes; bench/fit_math.py finds them again).  Errors: tests/unit/test_math.c holds what math.c
 * states. */
#ifndef CODEGEN_INTRIN_MATH_H
#define CODEGEN_INTRIN_MATH_H
#include <stdint.h>
#include <stdio.h>

/* Prints the functions of those kinds (bits 1u << tf_kind) and what they stand on, each once; others are passed over.
 */
void tf_micro_math(FILE *out, uint32_t kinds);

/* `float wide(uint16_t)` and `uint16_t narrow(float)`: bfloat16, the upper half of a float32, to nearest even; behind
 * tf_micro_math. */
void tf_micro_bf16(FILE *out);

/* The name in the text of the function of kind `kind` (a tf_kind), and its stated error against the true value:
 * relative (below the normal range: in units of 1.2e-38) where `relative`, else in units of the greater of 1 and the
 * value.  NULL where it is an operator or not of one argument. */
typedef struct {
  const char *name;
  double error;
  int relative;
} tf_micro_fn;
const tf_micro_fn *tf_micro_math_find(int kind);

/* The function of parts.h that says kind `kind` in vectors; NULL: none.  NEG and RELU: of two, the first -0, the second
 * 0; comparisons and
 * SELECT: of a truth, below. */
const char *tf_micro_vector_name(int kind);
#endif
