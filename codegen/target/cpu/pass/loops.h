/* Walks the statements with the loops around them. */
#ifndef CODEGEN_TARGET_CPU_PASS_LOOPS_H
#define CODEGEN_TARGET_CPU_PASS_LOOPS_H
#include "codegen/target/cpu/pass/pass.h"

enum { AROUND_MOST = 64 }; /* loops in each other; what stands deeper is left as it is */

typedef struct low_loops_around {
  lowering *w;
  void (*product)(struct low_loops_around *at, ir_stmt *s); /* called for each product */
  bool together;                                            /* for those in IR_TOGETHER, too */
  const void *what;                                         /* of whoever walks */
  int depth;
  const ir_stmt *loop[AROUND_MOST];
  uint64_t *moves; /* [variable] loops on which it hangs, bit by depth */
} low_loops_around;

/* Loops on which the value, or the range, hangs. */
uint64_t low_hangs_on(const low_loops_around *at, ir_atom a);
uint64_t low_range_hangs_on(const low_loops_around *at, const ir_range *r);
/* Walks all of the program; at's w, product, together, what are set. */
void low_walk_loops(low_loops_around *at);
#endif
