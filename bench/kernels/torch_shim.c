/* Our kernel and the peak for torch_peer.py: in one shared library, so that both are called from the process that runs
 * PyTorch. */
#define _GNU_SOURCE
#include "peak.h"
#include <kernel.h>

static kernel_args args;

/* The addresses of the inputs, in the workload's order, and of the output. */
void shim_bind(void **at) {
  kernel_dense(&args);
#if defined(SOFTMAX)
  args.Q = at[0], args.K = at[1], args.V = at[2], args.O = at[3];
#else
  args.A = at[0], args.B = at[1], args.D = at[2], args.E = at[3];
#endif
}

int64_t shim_workspace(void) { return (int64_t)kernel_workspace(); }

/* Not 0: it failed. */
int shim_run(void *workspace, int64_t bytes, int64_t calls) {
  for (int64_t i = 0; i < calls; i++) {
    int status = kernel(&args, workspace, (size_t)bytes);
    if (status) return status;
  }
  return 0;
}

/* Operations done, 0: nothing known; the caller takes the time. */
double shim_peak(int k) { return multiply_on_registers((kind)k); }
