/* The row of CUDA and its functions. */
#ifndef CODEGEN_BACKEND_CUDA_CUDA_H
#define CODEGEN_BACKEND_CUDA_CUDA_H
#include "codegen/backend/target.h"

/* The passes of the row, shared with targets that describe its kernels. */
extern const lower_pass tf_cuda_passes[];
#define CU_LOWER                                                                                   \
  {                                                                                                \
    .platform = &lower_cuda_platform, .depth = 1, .narrow = lower_cuda_narrow,                     \
    .close_by = lower_cuda_close_by, .passes = tf_cuda_passes                                      \
  }
/* cuda.c: `unused` of the row. */
const char *tf_cuda_unused(const char *isa, const char *dtype);
/* emit.c */
tf_emitted *tf_cuda_print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                          tf_diags *d);
/* emulate/emulate.hpp as text (CMakeLists.txt generates it). */
extern const char tf_cuda_emulate[];
/* emulate/hopper.hpp: additions of sm_90a. */
extern const char tf_cuda_hopper[];
#endif
