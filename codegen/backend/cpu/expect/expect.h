/* What a kernel is expected to take on a core, by what it does and the bytes that it moves. */
#ifndef CODEGEN_BACKEND_CPU_EXPECT_H
#define CODEGEN_BACKEND_CPU_EXPECT_H
#include "codegen/intrin/micro.h"
#include "codegen/ir/ir.h"
#include "tileflow/emit.h"
#include "tileflow/model.h"

/* The parts of a call's time (tf_cost_part), then what each memory outside the first cache takes,
 * outermost first: names and cycles or counts. */
enum { CPU_EXPECT_MEMORIES = 3, CPU_EXPECT_PARTS = 24 + CPU_EXPECT_MEMORIES };
extern const char *const cpu_expect_names[CPU_EXPECT_PARTS];
/* False: out of memory. */
bool cpu_expect_parts(const ir_program *p, const tf_micro_isa *isa, const tf_result *r,
                      double *part);

/* As tf_emit_expected, of a kernel with these counts: what its nests take, beside what memories
 * deliver, in bytes of the tensors' types.  False: out of memory. */
bool cpu_expected(const ir_program *p, const tf_micro_isa *isa, const tf_result *r, tf_expected *e);

/* The kind of an op for which kernels rarely take what is expected; NULL: it has none. */
const char *cpu_expect_unsure(const tf_workload *wl);

#endif
