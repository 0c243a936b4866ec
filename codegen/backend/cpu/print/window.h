/* Nests that are sums over small windows: shared by the loops around a tile and the tile itself. */
#ifndef CODEGEN_BACKEND_CPU_PRINT_WINDOW_H
#define CODEGEN_BACKEND_CPU_PRINT_WINDOW_H
#include "codegen/backend/cpu/note/window.h"
#include "codegen/backend/cpu/print/print.h"

typedef struct {
  const tf_op *op;
  const ir_stmt *s;
  int lane, row; /* positions in the op's dims: the output's last, and the one before (-1: none) */
  int taps;
  int fours;   /* cpu_window.fours */
  int rows;    /* of the tile at hand */
  bool inside; /* no row of the tile at hand is in the padding */
} c_window;

/* Whether read i is the same for all rows, so that it is hoisted out of them. */
bool c_window_before(const c_printer *c, const c_window *w, int i);

/* window_tile.c: the sums of w->rows rows from `o_ROW` on, and the maps of them. */
void c_window_tile(c_printer *c, const c_window *w);
/* "{ const int64_t d_ROW = o_ROW + .row, d_REDUCED = ...;", to be closed; row < 0: no row is set.
 */
void c_window_open_at(c_printer *c, const c_window *w, cpu_at at);
/* "load_lanes(place" or similar of read i, without the argument of selected lanes. */
void c_window_load(c_printer *c, const c_window *w, int i);
/* Which lanes of read i are inside at the tap. */
void c_window_lanes(c_printer *c, const c_window *w, int i, int tap);
/* The bytes inside along the last rank, of the read that is multiplied in groups of four; and the
 * group of read i that begins at the tap, if one does. */
void c_window_bytes(c_printer *c, const c_window *w);
void c_window_four(c_printer *c, const c_window *w, int i, int tap);
/* The value at the tap, to the end of the statement; ask: whether ranks other than the last are
 * tested for borders. */
void c_window_take(c_printer *c, const c_window *w, int i, int tap, bool ask);
/* "PLACE is inside" for the ranks but the last; false: it always is. */
bool c_window_there(c_printer *c, const c_window *w, int i);
/* prefetch.c: where a tile of w->rows rows from `o_ROW` on prefetches the same rows of the next
 * image. */
void c_prefetch_rows(c_printer *c, const c_window *w);
#endif
