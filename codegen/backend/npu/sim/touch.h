/* The elements that an instruction of a program without loops accesses. */
#ifndef CODEGEN_BACKEND_NPU_SIM_TOUCH_H
#define CODEGEN_BACKEND_NPU_SIM_TOUCH_H
#include "codegen/backend/npu/sim/program.h"

/* Calls `each` for every element: operand 0 is written, 1 .. are read. byte: its offset in its
 * memory. */
typedef void (*npu_each)(void *ctx, const npu_instr *i, int operand, int64_t byte);
void npu_touch(const tf_npu *p, const npu_instr *i, npu_each each, void *ctx);

/* The layout of a product's operand. In blocks of rows x columns: these follow one another along a
 * line of blocks, and lines are `ld` elements apart. Flat: rows are `ld` apart. Rows of the right
 * operand are those of n. */
typedef struct {
  int64_t rows, columns, ld;
  bool flat, rows_are_k; /* rows_are_k: flat, and its rows are those of k */
} npu_layout;
npu_layout npu_layout_of(const npu_cube *c, const npu_instr *i, int operand);
int64_t npu_element(const npu_layout *l, int64_t row, int64_t column);
/* Rows and columns of the operand. */
void npu_sides(const npu_instr *i, int operand, int64_t *rows, int64_t *columns);

/* A position in the dims: offsets of the operands, in elements, and the window's. */
typedef struct {
  int64_t at[NPU_DIMS], off[4], high, wide;
} npu_cursor;
bool npu_cursor_next(const npu_instr *i, npu_cursor *c);
#endif
