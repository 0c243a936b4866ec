/* What retained buffers hold, while the interpreter runs. */
#ifndef CODEGEN_IR_KEEP_H
#define CODEGEN_IR_KEEP_H
#include "codegen/ir/ir.h"

/* One slot of a buffer. */
typedef struct {
  bool nonempty;
  int64_t lo[16], hi[16];
} ir_held;

/* The box that is needed, and the part of it left to compute: lo .. hi - 1 along each rank. */
typedef struct {
  int64_t lo[16], hi[16], new_lo[16], new_hi[16];
} ir_need;

/* Executes IR_KEEP on one slot; elements that are not kept become NaN.  made: the lengths that may
 * be left to compute. False: out of memory. */
bool ir_keep(const ir_buffer *b, const ir_range *made, ir_held *held, double *data, ir_need *need,
             ir_count *count);
#endif
