/* Functions of one float32 for emitted kernels, as C text that gcc and clang vectorise in any loop:
 * no branches, tables or calls, and no need of -ffast-math.  Polynomials minimise the greatest
 * error over the reduced range (Lawson's iteration on Chebyshev nodes; bench/fit_math.py finds them
 * again).  tests/unit/test_math.c checks the errors that math.c states. */
#ifndef CODEGEN_INTRIN_MATH_H
#define CODEGEN_INTRIN_MATH_H
#include <stdint.h>
#include <stdio.h>

/* Prints the functions of those kinds (bits 1u << tf_kind) and what they need, each once; kinds
 * without one are ignored. */
void tf_micro_math(FILE *out, uint32_t kinds);

/* `float wide(uint16_t)` and `uint16_t narrow(float)`: bfloat16, the upper half of a float32,
 * rounded to nearest even. To be printed after tf_micro_math. */
void tf_micro_bf16(FILE *out);

/* The function of kind `kind` (a tf_kind) in the text, and its stated error against the true value.
 * `relative`: a relative error (below the normal range: in units of 1.2e-38); else in units of the
 * larger of 1 and the value.  NULL for operators and kinds of more than one argument. */
typedef struct {
  const char *name;
  double error;
  int relative;
} tf_micro_fn;
const tf_micro_fn *tf_micro_math_find(int kind);

/* The vector function of parts.h for kind `kind`; NULL: none.  NEG and RELU take two operands, the
 * first being -0 and 0; comparisons and SELECT work on a vec_truth, below. */
const char *tf_micro_vector_name(int kind);
#endif
