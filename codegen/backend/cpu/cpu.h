/* The CPU's row and what stands in it. */
#ifndef CODEGEN_BACKEND_CPU_CPU_H
#define CODEGEN_BACKEND_CPU_CPU_H
#include "codegen/backend/target.h"
#include "codegen/intrin/micro.h"

/* machine.c: the machine for kernels of the workload, whose bytes may be unsigned or ranged. */
ir_machine tf_cpu_machine(const tf_micro_isa *isa, ir_type data, const tf_workload *wl);
/* emit.c */
tf_emitted *tf_cpu_print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                         tf_diags *d);
#endif
