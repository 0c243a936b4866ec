/* Nests that are sums over small windows: what the loops around a tile and the tile itself share.
 */
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

/* What is the same for all rows is taken before them. */
bool c_window_before(const c_printer *c, const c_window *w, int i);

/* window_tile.c: the sums of w->rows rows from `o_ROW` on, and the maps of them. */
void c_window_tile(c_printer *c, const c_window *w);
/* "{ const int64_t d_ROW = o_ROW + .row, d_REDUCED = ...;", to be closed; row < 0: no row is set.
 */
void c_window_open_at(c_printer *c, const c_window *w, cpu_at at);
/* "load_lanes(place" or the like of read i, what it is given but for which lanes. */
void c_window_load(c_printer *c, const c_window *w, int i);
/* Which lanes of read i are there at the tap. */
void c_window_lanes(c_printer *c, const c_window *w, int i, int tap);
/* Which bytes of the read in fours are there along the last rank; the four of read i from the tap
 * on, if one begins there. */
void c_window_bytes(c_printer *c, const c_window *w);
void c_window_four(c_printer *c, const c_window *w, int i, int tap);
/* What is read at the tap, to the end of the statement; ask: whether its ranks but the last may be
 * beyond a border. */
void c_window_take(c_printer *c, const c_window *w, int i, int tap, bool ask);
/* "PLACE is there" for the ranks but the last; false: always. */
bool c_window_there(c_printer *c, const c_window *w, int i);
/* prefetch.c: where a tile of w->rows rows from `o_ROW` on prefetches those of the next image. */
void c_prefetch_rows(c_printer *c, const c_window *w);
#endif
