/* The verifier at work, for what targets note of statements (ir_notes). */
#ifndef CODEGEN_IR_CHECK_H
#define CODEGEN_IR_CHECK_H
#include "codegen/ir/ir.h"

struct ir_checker {
  const ir_program *p;
  const tf_workload *wl;
  bool *set;             /* [variable] defined and in scope */
  bool *defined;         /* [variable] defined by some statement */
  const ir_expr **value; /* [variable] the value a let gave it; NULL: none */
  bool *written;         /* [buffer] written before */
  const ir_stmt *parent; /* the statement whose body is visited; NULL: none */
  unsigned maps;         /* mappings of the loops around, bit by ir_map */
  int *sent;  /* [buffer] 1 + the queue of a copy into it that has not been waited for; 0: none */
  bool *open; /* [queue] its last copy does not end a group */
  char *why;
  size_t size;
  bool ok;
};

/* Unless the fact holds, the program is faulty, for this reason; the first one is kept.  Whether
 * all has been sound so far. */
bool ir_must(ir_checker *c, bool fact, const char *fmt, ...) TF_PRINTF(3, 4);
/* The value is a number, or of a variable that is set here; the ranges are of such values. */
void ir_must_be_set(ir_checker *c, const char *what, ir_atom a);
void ir_must_be_ranges(ir_checker *c, const char *what, const ir_range *r, int n);
/* Whether there is such a buffer, and it is the tensor's (-1: scratch). */
bool ir_is_of(const ir_checker *c, int buffer, int tensor);
#endif
