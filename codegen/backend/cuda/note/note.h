/* What CUDA's passes note of statements, for its printer. */
#ifndef CODEGEN_BACKEND_CUDA_NOTE_NOTE_H
#define CODEGEN_BACKEND_CUDA_NOTE_NOTE_H
#include "codegen/ir/ir.h"

/* A nest that multiplies a matrix of rows m by one of columns n, held in fragments across a warp's lanes as the target
 * has them; all other dims have one setting.  Positions among the op's dims and reads. */
typedef struct {
  int m, n, k, a, b;
} cu_matrices;

typedef struct {
  ir_note note;
  const cu_matrices *fragments; /* NEST: a product of fragments; NULL: no */
  bool boxed;  /* SAVE: by boxes of the tensor (sm_90a), which stop at its end alone: all of the block's rows ... */
  ir_atom row; /* ... from this one on */
  bool skips;  /* FOR: steps that a mask leaves nothing of, of as many rows from that one on, need not be run ... */
  int64_t rows;
  int first, end; /* ... variables that say which are: whoever runs fewer sets them to others than 0 and all */
  int since;      /* ... and one that is 0 in the first of them alone */
} cu_note;
extern const cu_note cu_no_note; /* nothing; and whose notes are CUDA's */

/* What is noted of the statement, if by a pass of CUDA; else nothing. */
static inline const cu_note *cu_of(const ir_stmt *s) {
  return s->note && s->note->of == &cu_no_note ? (const cu_note *)s->note : &cu_no_note;
}
/* The same to be written: a copy, so that statements that were copied keep theirs.  NULL: no memory, which the arena
 * remembers. */
cu_note *cu_edit(const ir_program *p, ir_stmt *s);
/* Of ir_notes. */
void cu_check(ir_checker *c, const ir_stmt *s);
#endif
