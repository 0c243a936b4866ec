/* What staged buffers hold, while the interpreter runs. */
#ifndef CODEGEN_IR_STAGE_H
#define CODEGEN_IR_STAGE_H
#include "codegen/ir/keep.h"

/* Both halves, and which one is current. */
typedef struct {
  int64_t half;
  int node;   /* the Tile that filled it last */
  bool ahead; /* the other half has been fetched for the next tile */
  ir_held held[2];
} ir_staged;

/* An element of the outer memory; NULL: it does not hold it. */
typedef struct {
  double *(*element)(void *ctx, const int64_t *at);
  void *ctx;
} ir_source;

/* Executes IR_STAGE: now[] is the box needed in this step, then[] in the next (NULL: there is
 * none).  data: the halves one after the other.  False: the outer memory lacks something, or memory
 * ran out. */
bool ir_stage(const ir_buffer *b, ir_staged *s, double *data, const ir_held *now,
              const ir_held *then, ir_source source, ir_count *count);
#endif
