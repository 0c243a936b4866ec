/* What an instruction of a program without loops touches. */
#ifndef CODEGEN_BACKEND_NPU_SIM_TOUCH_H
#define CODEGEN_BACKEND_NPU_SIM_TOUCH_H
#include "codegen/backend/npu/sim/program.h"

/* Calls `each` for every element: operand 0 is written, 1 .. are read.  byte: of its memory. */
typedef void (*npu_each)(void *ctx, const npu_instr *i, int operand, int64_t byte);
void npu_touch(const tf_npu *p, const npu_instr *i, npu_each each, void *ctx);

/* Where element (row, column) of a product's operand is.  In blocks of rows x columns: these follow
 * each other along a line of blocks, and a line begins `ld` elements after the one before.  Flat:
 * row after row, `ld` apart.  Rows of the right operand are those of n. */
typedef struct {
  int64_t rows, columns, ld;
  bool flat, turned; /* turned: flat, and rows of it are those of k */
} npu_layout;
npu_layout npu_layout_of(const npu_cube *c, const npu_instr *i, int operand);
int64_t npu_element(const npu_layout *l, int64_t row, int64_t column);
/* Rows and columns of the operand. */
void npu_sides(const npu_instr *i, int operand, int64_t *rows, int64_t *columns);

/* One element of its dims after the other: how far operands have moved, in elements, and the
 * window. */
typedef struct {
  int64_t at[NPU_DIMS], off[4], high, wide;
} npu_cursor;
bool npu_cursor_next(const npu_instr *i, npu_cursor *c);
#endif
