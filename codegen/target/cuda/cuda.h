/* CUDA's row and what stands in it. */
#ifndef CODEGEN_TARGET_CUDA_CUDA_H
#define CODEGEN_TARGET_CUDA_CUDA_H
#include "codegen/target/target.h"

/* emit.c */
tf_emitted *tf_cuda_print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o, tf_diags *d);
/* emulate/emulate.hpp, as text (CMakeLists.txt makes it). */
extern const char tf_cuda_emulate[];
/* emulate/hopper.hpp: what sm_90a has besides. */
extern const char tf_cuda_hopper[];
#endif
