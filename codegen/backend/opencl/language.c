/* kernel.cl: OpenCL C 1.2, which needs no extensions. */
#include <inttypes.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/opencl/opencl.h"

static const char operations[] =
    "typedef long int64_t;\ntypedef int int32_t;\ntypedef ushort uint16_t;\n"
    "#define INT64_C(x) x##L\n#define DEVICE static inline\n#define POINTER(T) T *\n"
    "#define LANE ((int)get_local_id(0))\n"
    "#define lane_here() LANE\n#define row_here() ((int)get_local_id(1))\n"
    "#define thread_here() THREAD\n"
    "#define expf(x) exp(x)\n#define logf(x) log(x)\n#define tanhf(x) tanh(x)\n"
    "#define erff(x) erf(x)\n"
    "#define sqrtf(x) sqrt(x)\n#define fabsf(x) fabs(x)\n#define fmaxf(x, y) fmax(x, y)\n"
    "#define fminf(x, y) fmin(x, y)\n"
    "#define floorf(x) floor(x)\n#define ceilf(x) ceil(x)\n#define rintf(x) rint(x)\n"
    "#define truncf(x) trunc(x)\n"
    "#define sinf(x) sin(x)\n#define cosf(x) cos(x)\n#define fmodf(x, y) fmod(x, y)\n"
    "#define exp_near(x) exp(x)\n"
    "#define exp_below(x, top) exp((x) - (top))\n"
    "/* A copy is done when it is asked for; what others need of it is behind a barrier. */\n"
    "#define copy_async(to, from) (void)(*(to) = *(from))\n#define copy_end() (void)0\n";

/* Halves are read and rounded without cl_khr_fp16. */
static const char bf16[] = "DEVICE float wide(uint16_t h) { return as_float((uint)h << 16); }\n"
                           "DEVICE uint16_t narrow(float x) {\n  const uint u = as_uint(x);\n"
                           "  return isnan(x) ? (uint16_t)(u >> 16 | 64) : (uint16_t)((u + 0x7fff "
                           "+ (u >> 16 & 1)) >> 16);\n"
                           "}\n";
static const char f16[] =
    "DEVICE float wide(uint16_t h) { return vload_half(0, (const half *)&h); }\n"
    "DEVICE uint16_t narrow(float x) {\n  uint16_t h;\n"
    "  vstore_half_rte(x, 0, (half *)&h);\n  return h;\n}\n";

/* Four bytes, at a step; the products of two such, added up, by an extension where the device's
 * compiler has one: else they are multiplied one by one, which vectors of work-items do faster than
 * four bytes of each (PoCL: twice to five times).  DOT_BY_HAND: for tests of the former where there
 * is no such extension. */
static const char int8[] =
    "typedef char int8_t;\n"
    "#define FOUR(p, s) ((s) == 1 ? vload4(0, p) : (char4)((p)[0], (p)[s], (p)[2 * (s)], (p)[3 * "
    "(s)]))\n"
    "#if defined(cl_arm_integer_dot_product_int8)\n"
    "#pragma OPENCL EXTENSION cl_arm_integer_dot_product_int8 : enable\n"
    "#define DOT(a, b) arm_dot(a, b)\n"
    "#elif defined(__opencl_c_integer_dot_product_input_4x8bit) /* cl_khr_integer_dot_product */\n"
    "#define DOT(a, b) dot(a, b)\n#elif defined(DOT_BY_HAND)\n#define DOT(a, b) dot_by_hand(a, b)\n"
    "DEVICE int32_t dot_by_hand(char4 a, char4 b) {\n"
    "  const int4 x = convert_int4(a) * convert_int4(b);\n"
    "  return x.s0 + x.s1 + x.s2 + x.s3;\n}\n#endif\n";

static void head(c_printer *c) {
  const ir_type data = c->p->machine.data;
  fprintf(c->out,
          "/* Written by tileflow; README.md says how.  A work-group is %d x %d work-items. */\n"
          "#define THREADS %d\n#define THREAD ((int)(get_local_id(1) * %d + get_local_id(0)))\n%s",
          CU_LANES, CU_WARPS, CU_WARPS * CU_LANES, CU_LANES, operations);
  if (ir_is_half(data)) fputs(data == IR_F16 ? f16 : bf16, c->out);
  if (data == IR_I8) fputs(int8, c->out);
  cu_functions(c->out, c->wl, data);
}

static void begin_kernel(c_printer *c, const ir_stmt *part, int number, const cu_room *room) {
  (void)part;
  fprintf(c->out, "\n__kernel __attribute__((reqd_work_group_size(%d, %d, 1)))\nvoid part%d(",
          CU_LANES, CU_WARPS, number);
  for (int z = 0; z < c->wl->n_tensors; z++) {
    const tf_tensor *t = &c->wl->tensors[z];
    if (!c_is_argument(t)) continue;
    const char *id = c->p->tensor_id[z];
    fprintf(c->out, "__global %s%s *const %s, ", c_is_input(t) ? "const " : "",
            c_type(c_argument_type(c->p, z)), id);
    for (int r = 0; r + 1 < t->rank; r++)
      fprintf(c->out, "const int64_t %s_s%d, ", id, r);
  }
  fprintf(c->out,
          "__global unsigned char *const workspace, const int64_t first) {\n"
          "  __local unsigned char shared[%" PRId64 "] __attribute__((aligned(128)));\n",
          room->shared ? room->shared : 128);
}

/* The host starts as many work-groups as there are steps: of a loop over a group's steps PoCL 3.1
 * makes wrong code where barriers are in it. */
static void blocks(c_printer *c, const char *var, int64_t trip) {
  fprintf(c->out, "{ /* of %" PRId64 " */\n%*sconst int64_t %s = first + get_group_id(0);\n", trip,
          2 * c->depth + 2, "", var);
}

static void end(c_printer *c, int64_t shared) { (void)c, (void)shared; /* the host starts them */ }

static const char starting[] =
    "  return start_all(args, (cl_mem)workspace, (cl_command_queue)queue);\n}\n";

static const char arrays[] =
    "#define NO_DEVICE " C_NAME "_no_isa\n#define FAILED " C_NAME "_no_isa\n\n"
    "static bool find_device(void **queue) { return (*queue = " C_NAME
    "_device_queue()) != NULL; }\n\n"
    "static bool finish(void *queue) { return clFinish((cl_command_queue)queue) == CL_SUCCESS; }\n"
    "\n"
    "/* A buffer with what stands in the host's array, if there is one. */\n"
    "static void *bring(bool *ok, void *queue, const void *here, size_t bytes) {\n"
    "  cl_context context = NULL;\n  cl_mem there = NULL;\n"
    "  *ok = *ok && clGetCommandQueueInfo((cl_command_queue)queue, CL_QUEUE_CONTEXT, sizeof "
    "context, &context, NULL) == CL_SUCCESS;\n"
    "  if (*ok) there = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, NULL);\n"
    "  *ok = *ok && there;\n"
    "  if (here)\n"
    "    *ok = *ok && clEnqueueWriteBuffer((cl_command_queue)queue, there, CL_TRUE, 0, bytes, "
    "here, 0, NULL, NULL) == CL_SUCCESS;\n"
    "  return there;\n}\n\n"
    "static bool take(void *queue, void *here, const void *there, size_t bytes) {\n"
    "  return clEnqueueReadBuffer((cl_command_queue)queue, (cl_mem)(uintptr_t)there, CL_TRUE, 0, "
    "bytes, here, 0, NULL, NULL) == CL_SUCCESS;\n"
    "}\n\n"
    "static void leave(const void *there) {\n"
    "  if (there) clReleaseMemObject((cl_mem)(uintptr_t)there);\n}\n";

const cu_language cl_language = {
    .row = "get_local_id(1)",
    .lane = "get_local_id(0)",
    .block = "get_group_id(0)",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n",
    .space = {[CU_GLOBAL] = "__global ", [CU_SHARED] = "__local ", [CU_SCRATCH] = "__global "},
    .head = head,
    .begin = begin_kernel,
    .blocks = blocks,
    .end = end,
    .flags = true, /* PoCL 3.1 takes them apart wrongly */
    .queue = "queue",
    .starting = starting,
    .arrays = arrays};
