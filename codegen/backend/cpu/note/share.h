/* How many of a statement's points masks leave. */
#ifndef CODEGEN_BACKEND_CPU_NOTE_SHARE_H
#define CODEGEN_BACKEND_CPU_NOTE_SHARE_H
#include "codegen/ir/ir.h"

/* What surrounds a statement, outermost first: loops, and values (IR_LET) before it. */
typedef struct {
  const ir_program *p;
  int64_t *var; /* [n_vars] room */
  int n;
  const ir_stmt **s; /* [n] IR_FOR and IR_LET */
} cpu_path;

/* The share of the settings of the surrounding loops in which at least one of the guard's ranges is
 * not empty. */
double cpu_share_of_guard(const cpu_path *at, const ir_stmt *guard);
/* The mean length of a range over these settings, as a share of its `most`. */
double cpu_share_of_range(const cpu_path *at, const ir_range *r);

#endif
