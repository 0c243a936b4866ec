/* Counts, while the interpreter runs, the elements that products pack: operands copied into another layout, with the
 * same reuse as in emitted kernels. */
#ifndef CODEGEN_IR_COPIES_H
#define CODEGEN_IR_COPIES_H
#include "codegen/ir/ir.h"

/* What a slot of lasting scratch holds: the start of its box, and its length along n and k. */
enum { IR_MAX_RANK = 16 };
typedef struct {
  bool any;
  int64_t from[IR_MAX_RANK], n_n, n_k;
  int64_t to[IR_MAX_RANK]; /* of slabs: the ends of the box */
} ir_kept;

typedef struct {
  const ir_program *p;
  const int64_t *var; /* current values of the variables */
  ir_count *count;    /* [buffer] */
  ir_kept *kept;      /* [slots of all buffers, buffer by buffer] */
} ir_at;

/* Adds what is packed before the body runs (ir_program.packs). */
void ir_count_packs(const ir_program *p, ir_count *count);
/* Adds what a nest packs when it is entered.  The nest must be a product; empty ones pack nothing. */
void ir_count_copies(const ir_at *at, const ir_stmt *nest);
#endif
