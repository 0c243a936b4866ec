/* What staged buffers hold, while the interpreter runs. */
#ifndef CODEGEN_IR_STAGE_H
#define CODEGEN_IR_STAGE_H
#include "codegen/ir/keep.h"

/* Both halves, and which one is worked on. */
typedef struct {
  int64_t half;
  int node;   /* Tile that filled it last */
  bool ahead; /* the other one has been fetched for the next tile */
  ir_held held[2];
} ir_staged;

/* Where tiles are taken from: an element of it; NULL: it is not there. */
typedef struct {
  double *(*element)(void *ctx, const int64_t *at);
  void *ctx;
} ir_source;

/* Carries out IR_STAGE: lo .. hi - 1 is needed now, then[0], then[1] likewise in the next step (NULL: there is none).
 * data: the halves one after the other.  False: the source lacks something, or memory ran out. */
bool ir_stage(const ir_buffer *b, ir_staged *s, double *data, const ir_held *now, const ir_held *then, ir_source source,
              ir_count *count);
#endif
