/* Sums and maxima over small windows (depthwise convolution, pooling) and maps of shifted reads:
 * how the reads of such a nest move with its lanes, its rows and the positions of its window. */
#ifndef CODEGEN_BACKEND_CPU_NOTE_WINDOW_H
#define CODEGEN_BACKEND_CPU_NOTE_WINDOW_H
#include "codegen/backend/cpu/note/note.h"

/* Limits: window positions, each of which is printed; rows of a tile. */
enum { CPU_WINDOW_TAPS = 81, CPU_WINDOW_ROWS = 4 };

typedef enum {
  CPU_STEADY, /* the same for all lanes */
  CPU_LANES,  /* lanes run along its last rank */
  CPU_ACROSS  /* lanes run along another rank */
} cpu_window_read;

/* A row of a tile and a position of the window (tap): settings of the reduced dims are numbered
 * with the last dim innermost. */
typedef struct {
  int row, tap;
} cpu_at;

/* The element of the op's expression that is summed: the root; or, of an op that selects the
 * identity of its reduction exactly where the one tensor that it reads ends, the element read.
 * *fills: whether it is the latter. */
int cpu_window_value(const tf_workload *wl, const tf_op *op, bool *fills);

/* How read i moves with the lanes. Next: whether it moves with the op's k-th dim (-1: false). */
cpu_window_read cpu_window_kind(const tf_workload *wl, const ir_stmt *s, int i);
bool cpu_read_moves(const tf_workload *wl, const tf_op *op, int i, int k);
/* The distance from lane to lane along the last rank. */
int64_t cpu_window_step(const tf_workload *wl, const ir_stmt *s, int i);
/* The offset in rank r of read i at that place, relative to the first. */
int64_t cpu_window_offset(const tf_workload *wl, const ir_stmt *s, int i, int r, cpu_at at);
/* The first place, row by row, at which the same element is read. */
cpu_at cpu_window_first(const tf_workload *wl, const ir_stmt *s, int i, cpu_at at);
/* Vector loads that so many rows of a tile (at most CPU_WINDOW_ROWS) need of read i, without
 * reloads. */
int cpu_window_loads(const tf_workload *wl, const ir_stmt *s, int i, int rows);
/* Positions along rank r of read i that the window covers in one row. */
int cpu_window_places(const tf_workload *wl, const ir_stmt *s, int i, int r);
/* Rows of a tile: CPU_WINDOW_ROWS, whose windows share elements; where none is shared, so few that
 * a tile loads no more vectors than there are registers, as compilers hoist all loads above the
 * sums. */
int cpu_window_rows(const tf_workload *wl, const ir_stmt *s, int registers);
/* The dim of a map along which its innermost loop runs, of those from `open` on: the last of its
 * output, as elements along it are neighbours. But if that is shorter than half a vector and leads
 * into a read's padding, which would be tested at each element, the longest dim that leads into
 * none, if it is longer. */
int cpu_map_row(const tf_workload *wl, const ir_stmt *s, int open, int lanes);
#endif
