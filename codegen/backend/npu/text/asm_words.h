/* The assembler's text: lines of words.  `#` begins a comment. */
#ifndef CODEGEN_BACKEND_NPU_TEXT_ASM_WORDS_H
#define CODEGEN_BACKEND_NPU_TEXT_ASM_WORDS_H
#include "codegen/backend/npu/sim/program.h"

typedef struct {
  const char *s;
  size_t n; /* 0: the line has ended */
} npu_word;

typedef struct {
  tf_npu *p;
  tf_diags *d;
  uint16_t file;
  uint32_t line;
  const char *begin, *next, *end; /* of the line */
  int depth;                      /* open loops */
  size_t open[NPU_DEPTH];
} npu_reader;

/* No number of a program is larger, so that no sum of products exceeds 2^63. */
enum { NPU_MOST_BITS = 30 };

npu_word npu_next(npu_reader *r);
bool npu_is(npu_word w, const char *text);
tf_loc npu_loc(const npu_reader *r, npu_word w);
bool npu_fail(npu_reader *r, npu_word w, tf_code code, const char *fmt, ...) TF_PRINTF(4, 5);
/* In the arena; NULL: out of memory, which is reported. */
char *npu_keep(npu_reader *r, npu_word w);

/* The whole word as a number of at least `least`; false: it is none, which is reported. */
bool npu_integer(npu_reader *r, npu_word w, const char *what, int64_t least, int64_t *v);
bool npu_real(npu_reader *r, npu_word w, const char *what, double *v);
/* The same of the next word. */
bool npu_next_integer(npu_reader *r, const char *what, int64_t least, int64_t *v);
bool npu_next_real(npu_reader *r, const char *what, double *v);
/* The next word, which must be an unused name. */
char *npu_next_name(npu_reader *r, const char *what);
/* Whether nothing follows on the line; otherwise that is reported. */
bool npu_ends(npu_reader *r);
/* The memory, or queue, of that name: -1 with the reason reported. */
int npu_memory_of(npu_reader *r, npu_word w);
int npu_queue_of(npu_reader *r, npu_word w);

/* asm_machine.c: a line of the machine's description, or a tensor; false: it is neither. */
bool npu_read_machine(npu_reader *r, npu_word first);
/* asm_instr.c */
void npu_read_instr(npu_reader *r, npu_word first);
/* operand.c */
bool npu_read_operand(npu_reader *r, npu_word w, npu_operand *o, bool number);
/* A sum of numbers, and of loop variables times numbers, which is added to the base and
 * step[depth]. */
bool npu_read_place(npu_reader *r, npu_word w, const char *what, int64_t *at, int64_t *step);
bool npu_read_dim(npu_reader *r, npu_word w, npu_instr *i);
#endif
