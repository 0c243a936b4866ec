/* kernel: attention-g11, fused.  Written by tileflow; README.md says how.
 *
 * Arrays hold float32, row-major: neighbours along the last rank are neighbours in memory, and NAME_stride[r] is
 * the step of rank r in elements (fill them with kernel_dense where there are no gaps).  No alignment is asked
 * for.  Outputs may not overlap inputs.
 *
 * Re-entrant: no state outlives a call, and calls with their own outputs and workspaces may run at once.
 * Compiled with OpenMP it spreads its outermost independent loops over omp_get_max_threads() threads.
 * Accuracy: sums in float32; within 1e-5 of the norm of the outputs (test.c holds it against double). */
#ifndef TILEFLOW_kernel_H
#define TILEFLOW_kernel_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const float *Q; /* 1 x 1 x 768 x 64 */
  int64_t Q_stride[3];
  const float *K; /* 1 x 1 x 384 x 64 */
  int64_t K_stride[3];
  const float *V; /* 1 x 1 x 384 x 64 */
  int64_t V_stride[3];
  float *O; /* 1 x 1 x 768 x 64, written */
  int64_t O_stride[3];
} kernel_args;

/* Strides of arrays without gaps. */
static inline void kernel_dense(kernel_args *args) {
  (void)args;
  args->Q_stride[2] = 64;
  args->Q_stride[1] = 49152;
  args->Q_stride[0] = 49152;
  args->K_stride[2] = 64;
  args->K_stride[1] = 24576;
  args->K_stride[0] = 24576;
  args->O_stride[2] = 64;
  args->O_stride[1] = 49152;
  args->O_stride[0] = 49152;
  args->V_stride[2] = 64;
  args->V_stride[1] = 24576;
  args->V_stride[0] = 24576;
}

enum {
  kernel_done = 0,
  kernel_bad_argument = -1,    /* a pointer is NULL */
  kernel_small_workspace = -2, /* bytes < kernel_workspace() */
  kernel_no_memory = -3
};

/* Bytes of workspace a call needs now (with OpenMP: for the threads it may use). */
size_t kernel_workspace(void);

/* Computes the outputs.  workspace: that many bytes, any alignment, nothing in it before or after; NULL: the call
 * allocates and frees them. */
int kernel(const kernel_args *args, void *workspace, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
