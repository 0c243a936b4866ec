/* kernel.c: what runs on the host.  The text of the kernels is in it; a device's compiler makes
 * them when they are first called. */
#include <inttypes.h>
#include <stdlib.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/opencl/opencl.h"

static const char head[] =
    "/* Written by tileflow; README.md says how. */\n"
    "#define CL_TARGET_OPENCL_VERSION 120\n"
    "#if defined(__APPLE__)\n#include <OpenCL/opencl.h>\n#else\n#include <CL/cl.h>\n#endif\n"
    "#include <stdatomic.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <stdio.h>\n\n"
    "#include \"kernel.h\"\n#include \"kernel_device.h\"\n\n"
    "/* kernel.cl, line by line. */\nstatic const char *const source[] = {\n";

static const char programs[] =
    "};\nenum { LINES = sizeof source / sizeof *source, MOST_PLATFORMS = 32 };\n\n"
    "/* What calls have in common: the program that was built last, and for what; the queue that "
    "was made here. */\n"
    "static atomic_flag busy = ATOMIC_FLAG_INIT;\n"
    "static struct {\n  cl_context context; /* which lives as long as the program */\n"
    "  cl_device_id device;\n"
    "  cl_program program;\n} built;\nstatic cl_command_queue own_queue;\n\n"
    "static void lock(void) {\n  while (atomic_flag_test_and_set(&busy)) continue;\n}\n\n"
    "static void unlock(void) { atomic_flag_clear(&busy); }\n\n"
    "static bool find_context(cl_command_queue queue, cl_context *context, cl_device_id *device) "
    "{\n"
    "  return clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof *context, context, NULL) == "
    "CL_SUCCESS &&\n"
    "         clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof *device, device, NULL) == "
    "CL_SUCCESS;\n"
    "}\n\n"
    "/* The program, built or not (*ok); NULL: no memory. */\n"
    "static cl_program build(cl_context context, cl_device_id device, bool *ok) {\n"
    "  cl_program new = clCreateProgramWithSource(context, LINES, (const char "
    "**)(uintptr_t)source, NULL, NULL);\n"
    "  *ok = new && clBuildProgram(new, 1, &device, \"-cl-std=CL1.2\", NULL, NULL) == CL_SUCCESS;\n"
    "  return new;\n}\n\n"
    "/* To be released; NULL: it cannot be built. */\n"
    "static cl_program program_of(cl_context context, cl_device_id device) {\n"
    "  lock();\n"
    "  cl_program old = NULL, new = context == built.context && device == built.device ? "
    "built.program : NULL;\n"
    "  if (new) clRetainProgram(new);\n  unlock();\n  if (new) return new;\n"
    "  bool ok = false;\n  new = build(context, device, &ok);\n"
    "  if (!ok) {\n    if (new) clReleaseProgram(new);\n    return NULL;\n  }\n"
    "  clRetainProgram(new);\n  lock();\n  old = built.program;\n"
    "  built.context = context, built.device = device, built.program = new;\n"
    "  unlock();\n"
    "  if (old) clReleaseProgram(old);\n  return new;\n}\n\n";

static const char queues[] =
    "void " C_NAME "_device_log(void *queue, char *text, size_t size) {\n"
    "  cl_context context;\n  cl_device_id device;\n  bool ok = false;\n"
    "  if (!size) return;\n"
    "  if (!queue || !find_context((cl_command_queue)queue, &context, &device)) {\n"
    "    snprintf(text, size, \"no OpenCL device\");\n    return;\n  }\n"
    "  cl_program new = build(context, device, &ok);\n  size_t there = 0;\n"
    "  if (!new) {\n    snprintf(text, size, \"no memory\");\n    return;\n  }\n"
    "  snprintf(text, size, ok ? \"built, without a word; it could not be started\" : \"not "
    "built\");\n"
    "  if (clGetProgramBuildInfo(new, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &there) == CL_SUCCESS "
    "&& there > 1) {\n"
    "    char *all = malloc(there + 1);\n"
    "    if (all && clGetProgramBuildInfo(new, device, CL_PROGRAM_BUILD_LOG, there, all, NULL) == "
    "CL_SUCCESS)\n"
    "      all[there] = 0, snprintf(text, size, \"%s\", all);\n    free(all);\n  }\n"
    "  clReleaseProgram(new);\n}\n\n"
    "/* A queue of the first such device of any platform; NULL: there is none. */\n"
    "static cl_command_queue queue_of(cl_device_type type) {\n"
    "  cl_platform_id platform[MOST_PLATFORMS];\n  cl_uint n = 0;\n  cl_device_id device;\n"
    "  if (clGetPlatformIDs(MOST_PLATFORMS, platform, &n) != CL_SUCCESS) return NULL;\n"
    "  for (cl_uint i = 0; i < n && i < MOST_PLATFORMS; i++) {\n"
    "    if (clGetDeviceIDs(platform[i], type, 1, &device, NULL) != CL_SUCCESS) continue;\n"
    "    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);\n"
    "    cl_command_queue queue = context ? clCreateCommandQueue(context, device, 0, NULL) : "
    "NULL;\n"
    "    if (context) clReleaseContext(context); /* the queue keeps it */\n"
    "    if (queue) return queue;\n  }\n  return NULL;\n}\n\n"
    "void *" C_NAME
    "_device_queue(void) {\n  lock();\n  cl_command_queue queue = own_queue;\n  unlock();\n"
    "  if (queue) return queue;\n"
    "  cl_command_queue new = queue_of(CL_DEVICE_TYPE_GPU);\n"
    "  if (!new) new = queue_of(CL_DEVICE_TYPE_ALL);\n"
    "  lock();\n  queue = own_queue ? own_queue : new;\n  own_queue = queue;\n  unlock();\n"
    "  if (new && new != queue) clReleaseCommandQueue(new);\n  return queue;\n}\n\n";

/* The printed kernels as strings of C, a line each. */
static void lines(FILE *out, const char *text) {
  for (const char *at = text; *at; at++) {
    if (at == text || at[-1] == '\n') fputs("    \"", out);
    if (*at == '\n')
      fputs("\\n\",\n", out);
    else
      fprintf(out, *at == '"' || *at == '\\' || *at == '?' ? "\\%c" : "%c", *at);
  }
}

/* Sets the arguments of a part, and starts it behind those before it; MOST_BLOCKS work-groups at a
 * time have room in the workspace. */
static void start(FILE *out, const tf_workload *wl) {
  fprintf(out,
          "static bool start(cl_program program, const char *name, cl_long blocks, const " C_NAME
          "_args *args, cl_mem workspace, cl_command_queue queue) {\n"
          "  enum { MOST_BLOCKS = %d };\n  const size_t each[2] = {%d, %d};\n  cl_uint n = 0;\n"
          "  cl_kernel part = clCreateKernel(program, name, NULL);\n  bool ok = part != NULL;\n",
          CU_MOST_BLOCKS, CU_LANES, CU_WARPS);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (!c_is_argument(t)) continue;
    fputs("  ok = ok && clSetKernelArg(part, n++, sizeof(cl_mem), &args->", out),
        c_field(out, t->name);
    fputs(") == CL_SUCCESS;\n", out);
    for (int r = 0; r + 1 < t->rank; r++)
      fputs("  ok = ok && clSetKernelArg(part, n++, sizeof(cl_long), &args->", out),
          c_stride_field(out, t->name), fprintf(out, "[%d]) == CL_SUCCESS;\n", r);
  }
  fputs("  ok = ok && clSetKernelArg(part, n++, sizeof workspace, &workspace) == CL_SUCCESS;\n"
        "  for (cl_long first = 0; first < blocks && ok; first += MOST_BLOCKS) {\n"
        "    const cl_long left = blocks - first;\n"
        "    const size_t all[2] = {each[0] * (size_t)(left < MOST_BLOCKS ? left : MOST_BLOCKS), "
        "each[1]};\n"
        "    ok = clSetKernelArg(part, n, sizeof first, &first) == CL_SUCCESS &&\n"
        "         clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL) == CL_SUCCESS &&\n"
        "         clEnqueueNDRangeKernel(queue, part, 2, NULL, all, each, 0, NULL, NULL) == "
        "CL_SUCCESS;\n"
        "  }\n"
        "  if (part) clReleaseKernel(part);\n  return ok;\n}\n\n",
        out);
}

static void start_all(FILE *out, const ir_program *p) {
  fputs("static int start_all(const " C_NAME
        "_args *args, cl_mem workspace, cl_command_queue queue) {\n"
        "  cl_context context;\n  cl_device_id device;\n"
        "  if (!find_context(queue, &context, &device)) return " C_NAME "_bad_argument;\n"
        "  cl_program program = program_of(context, device);\n  bool ok = program != NULL;\n",
        out);
  for (int i = 0, n = 0; i < p->body.n; i++)
    if (p->body.s[i]->kind == IR_FOR)
      fprintf(out,
              "  ok = ok && start(program, \"part%d\", %" PRId64 ", args, workspace, queue);\n",
              n++, p->body.s[i]->loop.trip);
  fputs("  if (program) clReleaseProgram(program);\n  return ok ? " C_NAME "_done : " C_NAME
        "_no_isa;\n}\n",
        out);
}

bool cl_host(FILE *out, cu_package *p) {
  char *text = NULL;
  size_t n = 0;
  FILE *kernels = open_memstream(&text, &n);
  bool ok = kernels && cu_parts(kernels, p, &cl_language) && !ferror(kernels);
  ok = kernels && fclose(kernels) == 0 && ok;
  if (ok) {
    fputs(head, out);
    lines(out, text);
    fputs(programs, out), fputs(queues, out);
    start(out, p->k.p->tree->workload);
    start_all(out, p->k.p);
    cu_entries(out, &p->k, &cl_language, &p->room);
  }
  free(text);
  return ok;
}
