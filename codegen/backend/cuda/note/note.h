/* What CUDA's passes note of statements, for its printer. */
#ifndef CODEGEN_BACKEND_CUDA_NOTE_NOTE_H
#define CODEGEN_BACKEND_CUDA_NOTE_NOTE_H
#include "codegen/backend/cuda/box/box.h"
#include "codegen/ir/ir.h"

/* A nest that multiplies a matrix of rows m by one of columns n, held in fragments across a warp's
 * lanes as the target has them; all other dims have one setting.  Positions among the op's dims and
 * reads. */
typedef struct {
  int m, n, k, a, b;
} cu_matrices;

/* A nest of a depthwise convolution: a lane sums two neighbours of the channels for some pixels in
 * registers, and reads the input from a tile, whose rows are pixels. */
typedef struct {
  cu_depthwise of;
  int tile;   /* the buffer that has the input */
  int to;     /* that of halves to which sums go; -1: the op's own */
  bool cut;   /* the pixels that lanes have are some of the tile's: the last may have fewer */
  bool pairs; /* the channels of each lane begin with an even one, and are two */
} cu_window_nest;

typedef struct {
  ir_note note;
  const cu_window_nest *window; /* NEST: so; NULL: no */
  bool taken;                   /* SAVE: a nest before it does so from registers */
  const cu_matrices *fragments; /* NEST: a product of fragments; NULL: no */
  bool boxed;  /* SAVE: by boxes of the tensor (sm_90a), which stop at its end alone: all of the
                  block's rows ... */
  ir_atom row; /* ... from this one on */
  bool skips;  /* FOR: steps that a mask leaves nothing of, of as many rows from that one on, need
                  not be run ... */
  int64_t rows;
  int first, end; /* ... variables that say which are: whoever runs fewer sets them to others than 0
                     and all */
  int since;      /* ... and one that is 0 in the first of them alone */
  int64_t warps;  /* IF: it is so in no more of a block's warps than these; 0: in any */
} cu_note;
extern const cu_note cu_no_note; /* nothing; and whose notes are CUDA's */

/* What is noted of the statement, if by a pass of CUDA; else nothing. */
static inline const cu_note *cu_of(const ir_stmt *s) {
  return s->note && s->note->of == &cu_no_note ? (const cu_note *)s->note : &cu_no_note;
}
/* The same to be written: a copy, so that statements that were copied keep theirs.  NULL: no
 * memory, which the arena remembers. */
cu_note *cu_edit(const ir_program *p, ir_stmt *s);

/* A buffer that is a matrix, as tensor cores have them: rows and columns along two of its ranks;
 * all other extents are 1. */
typedef struct {
  ir_note note;
  int rows, columns; /* these ranks; columns -1: a column vector */
  const ir_stack
      *stack; /* its rows go along several ranks, of which `rows` is the last; NULL: they do not */
  const ir_stack *across; /* the same of its columns; NULL: they go along `columns` alone */
  bool plain; /* its rows stand one behind the other, not as tensor cores like them best */
} cu_layout;
extern const cu_layout cu_no_layout; /* of no matrix; and whose notes are CUDA's */

static inline bool cu_is_matrix(const ir_buffer *b) {
  return b->note && b->note->of == &cu_no_layout;
}
static inline const cu_layout *cu_layout_of(const ir_buffer *b) {
  return cu_is_matrix(b) ? (const cu_layout *)b->note : &cu_no_layout;
}
static inline int cu_row_rank(const ir_buffer *b) { return cu_layout_of(b)->rows; }
static inline int cu_column_rank(const ir_buffer *b) { return cu_layout_of(b)->columns; }
static inline const ir_stack *cu_stack(const ir_buffer *b) { return cu_layout_of(b)->stack; }
static inline const ir_stack *cu_across(const ir_buffer *b) { return cu_layout_of(b)->across; }
static inline bool cu_is_plain(const ir_buffer *b) { return cu_layout_of(b)->plain; }
/* Rows of a matrix, and its columns. */
static inline int64_t cu_matrix_rows(const ir_buffer *b) {
  return cu_stack(b) ? cu_stack(b)->count : b->extent[cu_row_rank(b)];
}
static inline int64_t cu_matrix_columns(const ir_buffer *b) {
  return cu_across(b) ? cu_across(b)->count : b->extent[cu_column_rank(b)];
}
/* Makes the buffer a matrix, or another one.  No memory: the arena remembers. */
void cu_set_layout(const ir_program *p, ir_buffer *b, cu_layout layout);

/* Of ir_notes. */
void cu_check(ir_checker *c, const ir_stmt *s);
#endif
