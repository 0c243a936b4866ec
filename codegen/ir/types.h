/* Element types, and what micro-kernels require: the interface between lowering, which asks, and
 * the registry of kernels, which answers. */
#ifndef CODEGEN_IR_TYPES_H
#define CODEGEN_IR_TYPES_H
#include <stdbool.h>

#include "tileflow/emit.h"

/* Type of an element. */
typedef enum {
  IR_F32,
  IR_BF16, /* the upper half of a float32 */
  IR_F16,  /* IEEE's binary16 */
  IR_F8,   /* e4m3: four bits of exponent, three behind the point; no infinity */
  IR_I8,
  IR_U8,
  IR_I16,
  IR_I32,
  IR_I64 /* offsets */
} ir_type;

/* Bytes of an element. */
static inline int ir_bytes(ir_type t) {
  return t == IR_I64                                  ? 8
         : t == IR_F32 || t == IR_I32                 ? 4
         : t == IR_BF16 || t == IR_F16 || t == IR_I16 ? 2
                                                      : 1;
}

static inline bool ir_is_byte(ir_type t) { return t == IR_I8 || t == IR_U8; }
/* 16-bit floating-point types, stored as uint16_t. */
static inline bool ir_is_half(ir_type t) { return t == IR_BF16 || t == IR_F16; }
/* Floating-point types that C does not have, stored as unsigned integers. */
static inline bool ir_is_coded(ir_type t) { return ir_is_half(t) || t == IR_F8; }

/* How a micro-kernel wants the operands of a product; codegen/intrin/micro.h has the kernels.  a:
 * rows along k; b: groups of `group` elements along k, interleaved along n.  Lengths are padded
 * with zeros to multiples. */
typedef struct {
  const char *name;
  ir_type a, b, c;
  int group; /* 1: b is rows along n, and rows of a may be strided */
  int m_round, n_round, k_round;
  ir_type leaves; /* type to which its sums can be rounded as they are stored; c: no other */
  bool lifts; /* it multiplies elements of a plus 128, without sign (their top bit inverted: as it
                 reads them, or, of a slab, where they stand): `excess`, -128 times the sums of b's
                 columns, is added to its sums */
} ir_kernel;

/* How windows meet the borders of a rank: position w of the i-th window is element start + i *
 * stride + w * dilation, which exists if it is in 0 .. size - 1. size 0: all exist, or are stored
 * (as zeros beyond the border). */
typedef struct {
  int64_t start, stride, dilation, size;
} ir_border;

static inline bool ir_is_inside(const ir_border *b, int64_t i, int64_t w) {
  const int64_t x = b->start + i * b->stride + w * b->dilation;
  return b->size == 0 || (x >= 0 && x < b->size);
}

/* An operand of a product: its type, and between which numbers its elements are, or the zeros that
 * stand in for what is not there. */
typedef struct {
  ir_type type;
  int64_t least, most;
} ir_operand;

/* What the instruction set offers. */
typedef struct {
  ir_type data;          /* of the inputs: IR_F32, IR_BF16, IR_F16 (outputs, too), IR_F8 or IR_I8 */
  const ir_kernel *real; /* for products in float32 or of narrower floats; NULL: plain float32 */
  const ir_kernel *whole; /* for products of IR_I8 by IR_I8 */
  int fours; /* kernels of fours of bytes that there may be (tf_micro_fours_way); 0: none */
  const ir_kernel *plain; /* for products in float32, whatever the data; NULL: none beside `real` */
  /* For products whose lanes run along channels: float32 a vector, number of vectors; 0: it has
   * none. */
  int lanes, registers;
  tf_choices choices; /* made for the generator */
  const bool
      *changes; /* [n_tensors] inputs that differ from call to call (tf_emit_options); NULL: none */
  unsigned target_bits; /* bits that the target's passes alone give a meaning */
  bool separate_sums;   /* sums of outputs use a separate buffer until they are complete, even where
                   it has the same type */
} ir_machine;
#endif
