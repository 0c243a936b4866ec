/* Types of elements, and what micro-kernels want: between lowering, which asks, and the registry, which answers. */
#ifndef CODEGEN_IR_TYPES_H
#define CODEGEN_IR_TYPES_H
#include <stdbool.h>

/* What an element is. */
typedef enum {
  IR_F32,
  IR_BF16, /* the upper half of a float32 */
  IR_F16,  /* IEEE's binary16 */
  IR_I8,
  IR_U8, /* an IR_I8 with 128 added */
  IR_I16,
  IR_I32,
  IR_I64 /* places */
} ir_type;

/* Bytes of an element. */
static inline int ir_bytes(ir_type t) {
  return t == IR_I64 ? 8 : t == IR_F32 || t == IR_I32 ? 4 : t == IR_BF16 || t == IR_F16 || t == IR_I16 ? 2 : 1;
}

/* Numbers of two bytes, which C has as uint16_t. */
static inline bool ir_is_half(ir_type t) { return t == IR_BF16 || t == IR_F16; }

/* How a micro-kernel wants the operands of a product; codegen/intrin/micro.h has them.  a: rows of k; b: groups of
 * `group` neighbours along k, side by side along n.  Lengths are filled up with zeros to multiples. */
typedef struct {
  const char *name;
  ir_type a, b, c;
  int group; /* 1: b is rows of n, and rows of a may stride */
  int m_round, n_round, k_round;
  ir_type leaves; /* what its sums may leave the registers as; c: nothing else */
} ir_kernel;

/* What the instruction set offers. */
typedef struct {
  ir_type data;           /* of the inputs; IR_F32, IR_BF16 or IR_F16 (of the outputs, too) or IR_I8 */
  const ir_kernel *real;  /* for products in float32 or of halves; NULL: float32 as it stands */
  const ir_kernel *whole; /* for products of IR_I8 by IR_I8 */
  int lanes, registers; /* float32 a vector, and vectors, of products whose lanes run along channels; 0: it has none */
  bool apart; /* sums of outputs have a buffer of their own until they are complete, even where that is no wider */
} ir_machine;
#endif
