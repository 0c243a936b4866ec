/* What both enumerations need to know of an op and an instruction. */
#ifndef MODEL_INSTR_MATCH_H
#define MODEL_INSTR_MATCH_H
#include "tileflow/instr.h"

enum { TF_INSTR_TRIES = 1 << 23 }; /* most choices tried */

typedef struct {
  const tf_workload *wl;
  const tf_op *op;
  const tf_instr *in;
  uint64_t fits[TF_INSTR_LOOPS]; /* loops of the op that occur in the same operands as that of the
                                    instruction */
  int64_t tried;                 /* choices so far */
} tf_instr_match;

/* False where operators or element expressions differ. */
bool tf_instr_match_of(const tf_workload *wl, int op, const tf_instr *in, tf_instr_match *m);

/* Index x of operand o (the last one is what is made); NULL: it has no more. */
const tf_index *tf_instr_index(const tf_workload *wl, const tf_op *op, int o, int x, tf_index *own,
                               tf_term *term);
/* By which the loop moves the index. */
int64_t tf_instr_coef(const tf_op *op, const tf_index *x, int loop);

/* Whether calls compute what the op does, of a mapping whose loops lie in m->fits. */
bool tf_instr_correct(const tf_instr_match *m, const uint64_t set[]);

enum { TF_INSTR_MOST = 1 << 14 }; /* most mappings */

/* The thesis's count; false without memory, or past the limits. */
bool tf_instr_paper(tf_instr_match *m, tf_instr_maps *out);
/* Appends; false without memory, or past the limit. */
bool tf_instr_keep(tf_instr_maps *out, const tf_instr_match *m, const uint64_t set[]);
#endif
