/* The NPU as a target (docs/NPU.md). */
#ifndef CODEGEN_BACKEND_NPU_NPU_H
#define CODEGEN_BACKEND_NPU_NPU_H
#include "codegen/backend/target.h"

/* pass/npu_template.c: as tf_emit_form. */
tf_tree *npu_form(const tf_arch *arch, const tf_workload *wl, int k);
/* emit.c: as tf_emit. */
tf_emitted *tf_npu_print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                         tf_diags *d);
#endif
