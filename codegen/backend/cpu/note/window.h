/* Sums and maxima over small windows (depthwise convolution, pooling) and maps of shifted reads:
 * how the reads of such a nest move with its lanes, its rows and its window. */
#ifndef CODEGEN_BACKEND_CPU_NOTE_WINDOW_H
#define CODEGEN_BACKEND_CPU_NOTE_WINDOW_H
#include "codegen/backend/cpu/note/note.h"

/* Limits: window elements, as each is printed; rows of a tile. */
enum { CPU_WINDOW_TAPS = 81, CPU_WINDOW_ROWS = 4 };

typedef enum {
  CPU_STEADY, /* the same for all lanes */
  CPU_LANES,  /* lanes run along its last rank */
  CPU_ACROSS  /* lanes run along another rank */
} cpu_window_read;

/* A row, and a window position (tap), which numbers the settings of the reduced dims, the last dim
 * innermost. */
typedef struct {
  int row, tap;
} cpu_at;

/* Of the op's expression, what is summed: the root; or of an op that reads one tensor, and chooses
 * the identity of its reduction just where this is beyond its borders, the element read.  *fills:
 * whether it is that. */
int cpu_window_value(const tf_workload *wl, const tf_op *op, bool *fills);

/* How read i moves with the lanes.  Next: whether it moves with the op's k-th dim (-1: it does
 * not). */
cpu_window_read cpu_window_kind(const tf_workload *wl, const ir_stmt *s, int i);
bool cpu_read_moves(const tf_workload *wl, const tf_op *op, int i, int k);
/* The distance from lane to lane along the last rank. */
int64_t cpu_window_step(const tf_workload *wl, const ir_stmt *s, int i);
/* The offset in rank r of read i at that place, relative to the first. */
int64_t cpu_window_offset(const tf_workload *wl, const ir_stmt *s, int i, int r, cpu_at at);
/* The first place, row by row, at which the same element is read. */
cpu_at cpu_window_first(const tf_workload *wl, const ir_stmt *s, int i, cpu_at at);
/* Vectors that so many rows of a tile (at most CPU_WINDOW_ROWS) take of read i, each element once.
 */
int cpu_window_loads(const tf_workload *wl, const ir_stmt *s, int i, int rows);
/* Places along rank r of read i that the window has in one row. */
int cpu_window_places(const tf_workload *wl, const ir_stmt *s, int i, int r);
/* Rows of a tile: CPU_WINDOW_ROWS, of which windows share what they read; where each element is
 * read once, fewer, so that a tile reads no more vectors than there are registers, as compilers
 * load all of them before they add up. */
int cpu_window_rows(const tf_workload *wl, const ir_stmt *s, int registers);
/* The dim of a map that its innermost loop goes over, of those from `open` on: the last of its
 * output, as elements along it are neighbours; but where that is less than half a vector and leads
 * into a read's padding, which each element has to ask about, the longest that leads into none, if
 * it is longer. */
int cpu_map_row(const tf_workload *wl, const ir_stmt *s, int open, int lanes);
#endif
