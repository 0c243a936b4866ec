/* The CPU's row and what stands in it. */
#ifndef CODEGEN_TARGET_CPU_CPU_H
#define CODEGEN_TARGET_CPU_CPU_H
#include "codegen/target/target.h"

/* emit.c */
tf_emitted *tf_cpu_print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o, tf_diags *d);
#endif
