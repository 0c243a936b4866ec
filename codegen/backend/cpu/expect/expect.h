/* The expected time of a kernel on a core, from its operations and the bytes that it moves. */
#ifndef CODEGEN_BACKEND_CPU_EXPECT_H
#define CODEGEN_BACKEND_CPU_EXPECT_H
#include "codegen/intrin/micro.h"
#include "codegen/ir/ir.h"
#include "tileflow/emit.h"
#include "tileflow/model.h"

/* The parts of a call's time: tf_cost_part, then the time of each memory outside the first cache,
 * outermost first. Next: their names, and their cycles or counts. */
enum { CPU_EXPECT_MEMORIES = 3, CPU_EXPECT_PARTS = 24 + CPU_EXPECT_MEMORIES };
extern const char *const cpu_expect_names[CPU_EXPECT_PARTS];
/* False: out of memory. */
bool cpu_expect_parts(const ir_program *p, const tf_micro_isa *isa, const tf_result *r,
                      double *part);

/* As tf_emit_expected, of a kernel with these counts: the time of its nests, and that of the
 * memories, in bytes of the tensors' types. False: out of memory. */
bool cpu_expected(const ir_program *p, const tf_micro_isa *isa, const tf_result *r, tf_expected *e);

/* The kind of an op for which the estimate is rarely within 25 %; NULL: there is none. */
const char *cpu_expect_unsure(const tf_workload *wl);

#endif
