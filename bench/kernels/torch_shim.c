/* Our kernel and the peak for peer.py: in one shared library, so that both are called from the
 * process that runs PyTorch.  bind.h: BIND of each field of kernel.h's arguments, in its order.
 * PACKED: weights can be packed. */
#define _GNU_SOURCE
#include "peak.h"
#include <kernel.h>

static kernel_args at_addresses(void *const *at) {
  kernel_args args = {0};
  kernel_dense(&args);
#define BIND(NAME) args.NAME = *at++;
#include <bind.h>
  return args;
}

int64_t shim_workspace(void) { return (int64_t)kernel_workspace(); }

/* Bytes of the weights packed; 0: they are not. */
int64_t shim_packed(void) {
#if defined(PACKED)
  return (int64_t)kernel_packed();
#else
  return 0;
#endif
}

/* Not 0: it failed. */
int shim_pack(void *const *at, void *packed) {
#if defined(PACKED)
  kernel_args args = at_addresses(at);
  return kernel_pack(&args, packed, kernel_packed());
#else
  (void)at, (void)packed;
  return -1;
#endif
}

/* at: the addresses of all tensors.  packed: what shim_pack wrote, or NULL.  Not 0: it failed. */
int shim_run(void *const *at, void *packed, void *workspace, int64_t bytes) {
  kernel_args args = at_addresses(at);
#if defined(PACKED)
  args.packed = packed;
#else
  (void)packed;
#endif
  return kernel(&args, workspace, (size_t)bytes);
}

/* Operations done, 0: nothing known; the caller takes the time. */
double shim_peak(int k) { return multiply_on_registers((kind)k); }
