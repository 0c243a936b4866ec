/* Passes of CUDA: what a mapping leaves as loops becomes blocks of a grid, tiles in shared memory, and threads. */
#ifndef CODEGEN_TARGET_CUDA_PASS_PASS_H
#define CODEGEN_TARGET_CUDA_PASS_PASS_H
#include "codegen/lower/lower.h"

/* platform.c: the spaces, by their place in it. */
enum { CU_GLOBAL, CU_SHARED, CU_SCRATCH };
/* A block's threads (threadIdx.y is mapped to IR_WARP, threadIdx.x to IR_LANE), points of an output that a thread sums
 * along a dim, and words of shared memory that a block may have. */
enum { CU_ROWS = 16, CU_LANES = 16, CU_POINTS = 4, CU_SHARED_WORDS = 24 * 1024 };
extern const ir_platform low_cuda_platform;

/* shape.c: whether one nest may take the rest of op's own loops: what it makes is a few tiles. */
bool low_cuda_close_by(const lowering *w, int op);
/* Positions of the output's dims that go along lanes and rows; -1: there is none. */
typedef struct {
  int lanes, rows;
} cu_sides;
cu_sides cu_sides_of(const ir_program *p, const ir_stmt *s);
/* How long a piece of the output's k-th dim is that a block works on at a time. */
int64_t cu_piece(const ir_program *p, const ir_stmt *s, int k);
/* Appends a loop, and opens its body: the step. */
ir_atom cu_open_for(lowering *w, ir_map map, int dim, int64_t trip, low_mark *mark);
/* Appends the statement with other ranges (NULL: its own). */
ir_stmt *cu_again(lowering *w, const ir_stmt *s, const ir_range *range);
ir_range *cu_ranges(lowering *w, const ir_stmt *s);
/* Puts in place of each statement of the body that computes at points, wherever it stands, what `make` appends. */
void cu_replace(lowering *w, ir_body *b, void (*make)(lowering *w, const ir_stmt *s));

/* grid.c: every statement of the program becomes a loop over blocks: those that write nothing in common, or pieces of
 * an output. */
void low_cuda_grid(lowering *w);
/* tile.c: what a block does at a time is a piece of the output. */
void low_cuda_tile(lowering *w);
/* stage.c: arguments that sums read again and again come to shared memory, a piece of the sum after the other, the next
 * one while one is worked on. */
void low_cuda_stage(lowering *w);
/* thread.c: points go to threads. */
void low_cuda_threads(lowering *w);
/* space.c: what a block alone touches moves to its shared memory, as far as there is room. */
void low_cuda_spaces(lowering *w);
#endif
