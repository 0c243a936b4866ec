/* Maps that only exchange ranks: rows of the output run across rows of what they read. */
#ifndef CODEGEN_BACKEND_CPU_NOTE_TRANSPOSITION_H
#define CODEGEN_BACKEND_CPU_NOTE_TRANSPOSITION_H
#include "codegen/backend/cpu/note/note.h"

enum { CPU_LINE_WORDS = 16, CPU_LEAST_ROW = 4 };

/* Positions among the op's dims: `row` moves the output's last rank, and one of the others of what
 * is read; `word` moves the last rank of what is read. */
typedef struct {
  int row, word;
  bool by_line; /* rows of the output are shorter than a line, and `word` does not move the rank
                   before the last: lines of what is read go outside of all other dims, so that
                   what is written of these fills lines */
} cpu_transposition;

/* Whether the op is one: it copies its only read, without borders, each rank of which one dim moves
 * alone.  Where rows are shorter than CPU_LEAST_ROW, or than a line and follow one another along
 * `word`, plain loops are as fast. */
bool cpu_is_transposition(const tf_workload *wl, const tf_op *op, cpu_transposition *t);
/* Whether it copies words of 32 bits between buffers without blocked layouts, too, so that
 * registers transpose squares of them (codegen/intrin/transpose.c). */
bool cpu_transposes_words(const ir_program *p, const tf_op *op, cpu_transposition *t);
#endif
