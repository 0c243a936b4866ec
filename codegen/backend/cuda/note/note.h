/* Notes of CUDA's passes on statements, read by its printer. */
#ifndef CODEGEN_BACKEND_CUDA_NOTE_NOTE_H
#define CODEGEN_BACKEND_CUDA_NOTE_NOTE_H
#include "codegen/backend/cuda/box/box.h"
#include "codegen/ir/ir.h"

/* A nest that multiplies a matrix of rows m by one of columns n, in fragments that are distributed
 * across a warp's lanes as the instruction wants; all other dims have one setting. Positions among
 * the op's dims and reads. */
typedef struct {
  int m, n, k, a, b;
} cu_matrices;

/* A nest of a depthwise convolution: a lane sums two neighbouring channels for some pixels in
 * registers; the input is a tile in shared memory, whose rows are pixels. */
typedef struct {
  cu_depthwise depthwise;
  int tile;     /* the buffer with the input's tile */
  int sums;     /* the buffer, of 16-bit floats, that receives the sums; -1: the op's own */
  bool partial; /* the lanes' pixels are a part of the tile's: the last part may be shorter */
  bool pairs;   /* each lane has two channels, the first of them even */
} cu_window_nest;

typedef struct {
  ir_note note;
  const cu_window_nest *window; /* NEST: a depthwise convolution from a tile; NULL: none */
  bool fused;                   /* SAVE: the nest before it stores from registers */
  const cu_matrices *fragments; /* NEST: a product in fragments; NULL: none */
  bool by_boxes;    /* SAVE: by boxes of the tensor (sm_90a), which are cut at its end alone: all of
                    the block's rows ... */
  ir_atom row;      /* ... from this one on */
  bool skips_steps; /* FOR: steps in which a mask leaves nothing, for as many rows from `row` on,
                 may be skipped ... */
  int64_t rows;
  int first, end; /* ... variables of the steps that are left, first to end: a printer that skips
                     steps sets them to other values than 0 and the trip count */
  int since;      /* ... and a variable that is 0 in the first step that runs, only */
  int64_t warps;  /* IF: it holds in at most so many warps of a block; 0: in any number */
} cu_note;
extern const cu_note cu_no_note; /* empty; its address marks CUDA's notes */

/* CUDA's note of the statement, or cu_no_note. */
static inline const cu_note *cu_of(const ir_stmt *s) {
  return s->note && s->note->owner == &cu_no_note ? (const cu_note *)s->note : &cu_no_note;
}
/* A copy of the statement's note that may be written; copies of the statement keep the old one.
 * NULL: out of memory, which the arena remembers. */
cu_note *cu_edit(const ir_program *p, ir_stmt *s);

/* The layout of a buffer that is a matrix for tensor cores: rows and columns along two of its
 * ranks; all other extents are 1. */
typedef struct {
  ir_note note;
  int rows, columns; /* their ranks; columns -1: a column vector */
  const ir_stack
      *stack; /* the ranks along which rows go, of which `rows` is the last; NULL: `rows` alone */
  const ir_stack *across; /* likewise for columns; NULL: `columns` alone */
  bool plain;             /* rows follow one another without a swizzle */
} cu_layout;
extern const cu_layout cu_no_layout; /* of no matrix; its address marks CUDA's layouts */

static inline bool cu_is_matrix(const ir_buffer *b) {
  return b->note && b->note->owner == &cu_no_layout;
}
static inline const cu_layout *cu_layout_of(const ir_buffer *b) {
  return cu_is_matrix(b) ? (const cu_layout *)b->note : &cu_no_layout;
}
static inline int cu_row_rank(const ir_buffer *b) { return cu_layout_of(b)->rows; }
static inline int cu_column_rank(const ir_buffer *b) { return cu_layout_of(b)->columns; }
static inline const ir_stack *cu_stack(const ir_buffer *b) { return cu_layout_of(b)->stack; }
static inline const ir_stack *cu_across(const ir_buffer *b) { return cu_layout_of(b)->across; }
static inline bool cu_is_plain(const ir_buffer *b) { return cu_layout_of(b)->plain; }
/* The number of rows of a matrix; next: of columns. */
static inline int64_t cu_matrix_rows(const ir_buffer *b) {
  return cu_stack(b) ? cu_stack(b)->count : b->extent[cu_row_rank(b)];
}
static inline int64_t cu_matrix_columns(const ir_buffer *b) {
  return cu_across(b) ? cu_across(b)->count : b->extent[cu_column_rank(b)];
}
/* Sets the buffer's layout. Out of memory: the arena remembers. */
void cu_set_layout(const ir_program *p, ir_buffer *b, cu_layout layout);

/* Of ir_notes. */
void cu_check(ir_checker *c, const ir_stmt *s);
#endif
