/* Visits the statements with the loops around them. */
#ifndef CODEGEN_BACKEND_CPU_PASS_LOOPS_H
#define CODEGEN_BACKEND_CPU_PASS_LOOPS_H
#include "codegen/backend/cpu/pass/pass.h"

enum { AROUND_MOST = 64 }; /* nested loops; deeper statements are not visited */

typedef struct lower_loops_around {
  lowering *w;
  void (*product)(struct lower_loops_around *at, ir_stmt *s); /* called for each product */
  bool together;                                              /* for those in IR_TOGETHER, too */
  const void *data;                                           /* the visitor's data */
  int depth;
  const ir_stmt *loop[AROUND_MOST];
  uint64_t *moves; /* [variable] loops on which it depends, bit by depth */
} lower_loops_around;

/* The loops on which a value, or a range, depends; moves: [variable] its loops. */
uint64_t lower_depends_on(const uint64_t *moves, ir_atom a);
uint64_t lower_range_depends_on(const uint64_t *moves, const ir_range *r);
/* Sets moves[] of the variable that the IR_LET defines. */
void lower_let_moves(uint64_t *moves, const ir_stmt *let);
/* Visits the whole program; w, product, together and what of `at` must be set. */
void lower_walk_loops(lower_loops_around *at);
#endif
