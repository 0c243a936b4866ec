/* What the products of a program lay out anew: counted as emitted kernels do it, while the interpreter runs. */
#ifndef CODEGEN_IR_COPIES_H
#define CODEGEN_IR_COPIES_H
#include "codegen/ir/ir.h"

/* What lasting scratch was filled from: where its box starts, and how long it is along n and k. */
enum { IR_MAX_RANK = 16 };
typedef struct {
  bool any;
  int64_t from[IR_MAX_RANK], n_n, n_k;
  int64_t to[IR_MAX_RANK]; /* of slabs */
} ir_kept;

typedef struct {
  const ir_program *p;
  const int64_t *var; /* values of the variables now */
  ir_count *count;    /* [buffer] */
  ir_kept *kept;      /* [slots of all buffers, one buffer behind the other] */
} ir_at;

/* Adds what is packed before the body runs. */
void ir_count_packs(const ir_program *p, ir_count *count);
/* Adds what the nest, a product that is not empty or is, copies when it is entered. */
void ir_count_copies(const ir_at *at, const ir_stmt *nest);
#endif
