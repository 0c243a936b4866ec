/* Sums and maxima over small windows (depthwise convolution, pooling) and maps of shifted reads: how the reads of such
 * a nest move with its lanes, its rows and its window. */
#ifndef CODEGEN_IR_WINDOW_H
#define CODEGEN_IR_WINDOW_H
#include "codegen/ir/ir.h"

/* Limits: window elements, as each is printed; rows of a tile. */
enum { IR_WINDOW_TAPS = 81, IR_WINDOW_ROWS = 4 };

typedef enum {
  IR_STEADY, /* the same for all lanes */
  IR_LANES,  /* lanes run along its last rank */
  IR_ACROSS  /* lanes run along another rank */
} ir_window_read;

/* A row, and a window position (tap), which numbers the settings of the reduced dims, the last dim innermost. */
typedef struct {
  int row, tap;
} ir_at;

/* How read i moves with the lanes.  Next: whether it moves with the op's k-th dim (-1: it does not). */
ir_window_read ir_window_kind(const tf_workload *wl, const ir_stmt *s, int i);
bool ir_read_moves(const tf_workload *wl, const tf_op *op, int i, int k);
/* The distance from lane to lane along the last rank. */
int64_t ir_window_step(const tf_workload *wl, const ir_stmt *s, int i);
/* The offset in rank r of read i at that place, relative to the first. */
int64_t ir_window_offset(const tf_workload *wl, const ir_stmt *s, int i, int r, ir_at at);
/* The first place, row by row, at which the same element is read. */
ir_at ir_window_first(const tf_workload *wl, const ir_stmt *s, int i, ir_at at);
/* Vectors that so many rows of a tile (at most IR_WINDOW_ROWS) take of read i, each element once. */
int ir_window_loads(const tf_workload *wl, const ir_stmt *s, int i, int rows);
/* Places along rank r of read i that the window has in one row. */
int ir_window_places(const tf_workload *wl, const ir_stmt *s, int i, int r);
/* Rows of a tile: IR_WINDOW_ROWS, of which windows share what they read; where each element is read once, fewer, so
 * that a tile reads no more vectors than there are registers, as compilers load all of them before they add up. */
int ir_window_rows(const tf_workload *wl, const ir_stmt *s, int registers);
/* The dim of a map that its innermost loop goes over, of those from `open` on: the last of its output, as elements
 * along it are neighbours; but where that is less than half a vector and leads into a read's padding, which each
 * element has to ask about, the longest that leads into none, if it is longer. */
int ir_map_row(const tf_workload *wl, const ir_stmt *s, int open, int lanes);
#endif
