/* Rows as vectors, in pieces: n ops that go over one row together, the first `open` of their dims
 * being set. */
#ifndef CODEGEN_BACKEND_CPU_PRINT_ROWS_H
#define CODEGEN_BACKEND_CPU_PRINT_ROWS_H
#include "codegen/backend/cpu/print/print.h"

/* The code before the loop over the row's dim, for each vector (part: for its first `rest` lanes),
 * and after the loop. */
void c_rows_open(c_printer *c, const ir_stmt *const *all, int n, int dim);
void c_rows_vector(c_printer *c, const ir_stmt *const *all, int n, int dim, bool part);
void c_rows_close(c_printer *c, const ir_stmt *const *all, int n);
/* n ops of one row, maps or one sum down columns, element by element. Values that the row does not
 * move are hoisted: if a condition selects them, compilers would not vectorise the row. */
void c_row_maps(c_printer *c, const ir_stmt *const *all, int n, int open);
/* How many of the n ops, from the first on, are printed as one row; 0: the first is no map of a
 * row. Next: prints them, as vectors where that is faster. */
int c_joined(const c_printer *c, const ir_stmt *const *all, int n, int open);
void c_row(c_printer *c, const ir_stmt *const *all, int n, int open);
/* Values that the row does not move, before its loop; next: the value of a vector; and the sum in
 * `all` combined with the output. */
void c_hoist_steady(c_printer *c, const tf_op *op, const ir_stmt *s, int dim, bool vectors);
void c_rows_value(c_printer *c, const ir_stmt *s, int dim, bool part);
void c_store_sum(c_printer *c, const tf_op *op, const ir_stmt *s);
/* Whether vectors of float32 can be stored as the type. */
bool c_takes_vectors(const c_printer *c, ir_type t);
/* Whether the reference moves with dim. */
bool c_moves_with(const c_printer *c, const tf_ref *ref, int dim);
/* Whether the map is a deferred quotient that is stored in place of its operand. */
bool c_is_deferred_quotient(const c_printer *c, const ir_stmt *s);
#endif
