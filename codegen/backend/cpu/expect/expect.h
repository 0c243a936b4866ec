/* What a kernel is expected to take on a core: steps that masks leave, and bytes that it moves. */
#ifndef CODEGEN_BACKEND_CPU_EXPECT_H
#define CODEGEN_BACKEND_CPU_EXPECT_H
#include "codegen/intrin/micro.h"
#include "codegen/ir/ir.h"
#include "tileflow/model.h"

/* What stands around a statement, outermost first: loops, and values that are computed before it.
 */
typedef struct {
  const ir_program *p;
  int64_t *var; /* [n_vars] room */
  int n;
  const ir_stmt **s; /* [n] IR_FOR and IR_LET */
} cpu_path;

/* The share of the settings of the loops around in which one of the ranges is not empty. */
double cpu_share_of_guard(const cpu_path *at, const ir_stmt *guard);
/* The mean length of a range over them, as a share of its `most`. */
double cpu_share_of_range(const cpu_path *at, const ir_range *r);

/* The parts of a call's time (tf_cost_part), then what each memory outside the first cache takes,
 * outermost first: names and cycles or counts. */
enum { CPU_EXPECT_MEMORIES = 3, CPU_EXPECT_PARTS = 24 + CPU_EXPECT_MEMORIES };
extern const char *const cpu_expect_names[CPU_EXPECT_PARTS];
/* False: out of memory. */
bool cpu_expect_parts(const ir_program *p, const tf_micro_isa *isa, const tf_result *r,
                      double *part);

/* Cycles of a call, of a kernel with these counts: what its nests take, beside what the busiest
 * memory delivers, in bytes of the tensors' types.  Negative: out of memory. */
double cpu_expected(const ir_program *p, const tf_micro_isa *isa, const tf_result *r);

#endif
