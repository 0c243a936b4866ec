/* The kernel `fused` (run.sh) with buffers of the device: in a queue of its own making and in that
 * of another context, by turns, the outputs the same bits; then what it refuses. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_device.h"

enum { Q = 2 * 19 * 11, K = 2 * 36 * 11, V = 2 * 36 * 13, O = 2 * 19 * 13 };

static float q[Q], k[K], v[V], o[2][O];

static cl_mem buffer(cl_context context, const float *from, size_t n) {
  return clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, n * sizeof *from,
                        (void *)(size_t)from, NULL);
}

/* One call; false: it fails. */
static int call(cl_command_queue queue, float *to, size_t short_of, int want) {
  cl_context context;
  fused_args args;
  if (clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL) != CL_SUCCESS)
    return 0;
  const size_t bytes = fused_device_workspace();
  cl_mem on[] = {buffer(context, q, Q), buffer(context, k, K), buffer(context, v, V),
                 buffer(context, to, O)};
  cl_mem room = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
  fused_dense(&args);
  args.Q = (void *)on[0], args.K = (void *)on[1], args.V = (void *)on[2], args.O = (void *)on[3];
  const int got = fused_device(&args, room, bytes - short_of, queue);
  clFinish(queue); /* in which there may be no order */
  int ok = got == want && clEnqueueReadBuffer(queue, on[3], CL_TRUE, 0, O * sizeof *to, to, 0, NULL,
                                              NULL) == CL_SUCCESS;
  for (int i = 0; i < 4; i++)
    clReleaseMemObject(on[i]);
  clReleaseMemObject(room);
  return ok;
}

int main(void) {
  cl_command_queue own = fused_device_queue(), other;
  cl_device_id device;
  fused_args none = {0};
  char said[8];
  if (!own || own != fused_device_queue()) return puts("no queue, or another at each call"), 1;
  if (clGetCommandQueueInfo(own, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS)
    return 1;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  other = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
  for (int i = 0; i < Q; i++)
    q[i] = (float)(i * 37 % 101 - 50) / 64;
  for (int i = 0; i < K; i++)
    k[i] = (float)(i * 41 % 103 - 50) / 64;
  for (int i = 0; i < V; i++)
    v[i] = (float)(i * 43 % 107 - 50) / 64;
  for (int i = 0; i < 4; i++) {
    memset(o[i % 2], 0xff, sizeof o[i % 2]);
    if (!call(i % 2 ? other : own, o[i % 2], 0, fused_done)) return printf("call %d\n", i), 1;
    if (i && memcmp(o[0], o[1], sizeof o[0])) return printf("call %d differs\n", i), 1;
  }
  if (!call(own, o[0], 1, fused_small_workspace)) return puts("a small workspace"), 1;
  if (fused_device(&none, own, 1u << 30, own) != fused_bad_argument) return puts("no arrays"), 1;
  if (fused_device(NULL, own, 1u << 30, own) != fused_bad_argument) return puts("no arguments"), 1;
  fused_device_log(NULL, said, sizeof said);
  if (strcmp(said, "no Open")) return puts(said), 1;
  clReleaseCommandQueue(other), clReleaseContext(context);
  return 0;
}
