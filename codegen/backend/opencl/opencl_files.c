/* The files of an OpenCL kernel. */
#include "codegen/backend/opencl/opencl.h"

#include <inttypes.h>

static bool kernel_cl(FILE *out, cu_package *p) { return cu_parts(out, p, &cl_language); }
static bool kernel_h(FILE *out, cu_package *p) { return c_kernel_h(out, &p->k), true; }

static bool device_h(FILE *out, cu_package *p) {
  (void)p;
  fputs("/* The kernel for buffers that are on a device already.  kernel.h says what the arguments "
        "are; there " C_NAME "\n"
        " * takes the host's arrays and copies them there and back, and needs no workspace worth "
        "the name. */\n"
        "#ifndef TILEFLOW_" C_NAME "_DEVICE_H\n#define TILEFLOW_" C_NAME
        "_DEVICE_H\n#include \"kernel.h\"\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
        "/* Bytes of the buffer that a call needs beside its arguments. */\nsize_t " C_NAME
        "_device_workspace(void);\n"
        "/* Starts the kernel in the queue (a cl_command_queue), behind what is in it, and returns "
        "at once; pointers of args, and workspace, are\n"
        " * buffers (cl_mem) of the queue's context, cast to what the field is.  The first call "
        "for a context and device compiles the kernel.\n"
        " * " C_NAME "_no_isa: it could not be compiled, or not started. */\n"
        "int " C_NAME "_device(const " C_NAME
        "_args *args, void *workspace, size_t bytes, void *queue);\n"
        "/* A queue on the first GPU, or where there is none on the first device; made by the "
        "first call and kept.  NULL: there is no device. */\n"
        "void *" C_NAME "_device_queue(void);\n"
        "/* Why " C_NAME "_no_isa: no device (queue NULL), or what its compiler says, as text of "
        "at most `size` bytes. */\n"
        "void " C_NAME "_device_log(void *queue, char *text, size_t size);\n\n"
        "#ifdef __cplusplus\n}\n#endif\n#endif\n",
        out);
  return true;
}

#define ABSENT(name)                                                                               \
  "    char said[4096];\n    " name "_device_log(" name "_device_queue(), said, sizeof said);\n"   \
  "    printf(\"not run: %s\\n\", said);\n    return 2;\n"

static bool test_c(FILE *out, cu_package *p) {
  p->k.absent = p->k.blocked ? ABSENT(C_NAME "_rows") : ABSENT(C_NAME);
  return c_test_c(out, &p->k), true;
}

static const char bench_head[] =
    "#define _POSIX_C_SOURCE 200809L\n#define CL_TARGET_OPENCL_VERSION 120\n"
    "#if defined(__APPLE__)\n#include <OpenCL/opencl.h>\n#else\n#include <CL/cl.h>\n#endif\n"
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n\n"
    "#include \"kernel_device.h\"\n\nenum { ROUNDS = 31 };\n\n"
    "static double now(void) {\n  struct timespec t;\n  clock_gettime(CLOCK_MONOTONIC, &t);\n"
    "  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;\n}\n\n"
    "static int later(const void *a, const void *b) {\n"
    "  const double x = *(const double *)a, y = *(const double *)b;\n"
    "  return (x > y) - (x < y);\n}\n\n"
    "static void *numbers(cl_context context, size_t n, size_t size) {\n"
    "  unsigned char *here = calloc(n, size);\n"
    "  if (!here) exit(2);\n";

static bool bench_c(FILE *out, cu_package *p) {
  const tf_workload *wl = p->k.p->tree->workload;
  const ir_type data = p->k.p->machine.data;
  fputs("/* Times ", out), c_plain_text(out, wl->name),
      fputs(" on the device: the median of the rounds. */\n", out);
  fputs(bench_head, out);
  fprintf(out,
          "  for (size_t i = 0; i < n; i++) ((%s *)here)[i] = (%s)(%s);\n"
          "  cl_mem there = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, n * "
          "size, here, NULL);\n"
          "  free(here);\n  if (!there) exit(2);\n  return there;\n}\n\n",
          c_type(data), c_type(data),
          data == IR_F32 ? "(float)(i * 37 % 101 + 1) / 64" : "0x3c00 + i * 37 % 101");
  fputs("int main(void) {\n  " C_NAME "_args args;\n  double took[ROUNDS];\n  char said[4096];\n"
        "  cl_context context;\n  cl_command_queue queue = " C_NAME "_device_queue();\n"
        "  memset(&args, 0, sizeof args);\n  " C_NAME "_dense(&args);\n"
        "  if (!queue || clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, "
        "NULL) != CL_SUCCESS)\n"
        "    return puts(\"not run: no OpenCL device\"), 2;\n"
        "  const size_t bytes = " C_NAME "_device_workspace();\n"
        "  cl_mem room = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, NULL);\n"
        "  if (!room) return 2;\n",
        out);
  for (int z = 0; z < wl->n_tensors; z++) {
    if (!c_is_argument(&wl->tensors[z])) continue;
    fputs("  args.", out), c_field(out, wl->tensors[z].name);
    fprintf(out, " = numbers(context, %" PRId64 ", sizeof *args.",
            tf_tensor_words(&wl->tensors[z]));
    c_field(out, wl->tensors[z].name), fputs(");\n", out);
  }
  fprintf(out,
          "  for (int r = -1; r < ROUNDS; r++) { /* the first compiles */\n"
          "    const double from = now();\n"
          "    if (" C_NAME "_device(&args, room, bytes, queue) != " C_NAME
          "_done || clFinish(queue) != CL_SUCCESS) {\n"
          "      " C_NAME "_device_log(queue, said, sizeof said);\n"
          "      printf(\"not run: %%s\\n\", said);\n      return 2;\n    }\n"
          "    if (r >= 0) took[r] = now() - from;\n  }\n"
          "  qsort(took, ROUNDS, sizeof *took, later);\n"
          "  printf(\"" C_NAME
          " %%.6g s, %%.4g GFLOP/s\\n\", took[ROUNDS / 2], %.9g / took[ROUNDS / 2] / 1e9);\n"
          "  return 0;\n}\n",
          cu_flops(wl));
  return true;
}

static bool makefile(FILE *out, cu_package *p) {
  const bool laid = p->k.blocked;
  const char *objects = laid ? "kernel.o laid.o" : "kernel.o";
  fprintf(
      out,
      "# make, make test, make bench.  CC, CFLAGS and OPENCL (how to link with it) may be set.\n"
      "CFLAGS ?= -O2\nOPENCL ?= -lOpenCL\nALL = -std=c17 $(CFLAGS)\n\n"
      "all: libkernel.a test bench\n"
      "libkernel.a: %s\n\t$(AR) rcs $@ %s\n"
      "kernel.o: kernel.c %s kernel_device.h\n\t$(CC) $(ALL) -c -o $@ kernel.c\n%s"
      "test: test.c %s\n\t$(CC) $(ALL) -o $@ test.c %s $(OPENCL) -lm\n\t./test\n"
      "bench: bench.c kernel.o\n\t$(CC) $(ALL) -o $@ bench.c kernel.o $(OPENCL)\n"
      "clean:\n\trm -f %s libkernel.a test bench\n.PHONY: all clean\n",
      objects, objects, laid ? "rows.h" : "kernel.h",
      laid ? "laid.o: laid.c kernel.h rows.h\n\t$(CC) $(ALL) -c -o $@ laid.c\n" : "", objects,
      objects, objects);
  return true;
}

static bool cmake(FILE *out, cu_package *p) {
  fprintf(out,
          "cmake_minimum_required(VERSION 3.16)\nproject(" C_NAME " LANGUAGES C)\n"
          "if(NOT CMAKE_BUILD_TYPE)\n  set(CMAKE_BUILD_TYPE Release)\nendif()\n"
          "find_package(OpenCL REQUIRED)\n"
          "add_library(" C_NAME " STATIC kernel.c%s)\ntarget_compile_features(" C_NAME
          " PUBLIC c_std_17)\n"
          "target_include_directories(" C_NAME " PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\n"
          "target_link_libraries(" C_NAME " PUBLIC OpenCL::OpenCL)\n"
          "add_executable(" C_NAME "_test test.c)\ntarget_link_libraries(" C_NAME
          "_test PRIVATE " C_NAME " m)\n"
          "add_executable(" C_NAME "_bench bench.c)\ntarget_link_libraries(" C_NAME
          "_bench PRIVATE " C_NAME ")\n"
          "enable_testing()\nadd_test(NAME " C_NAME " COMMAND " C_NAME "_test)\n",
          p->k.blocked ? " laid.c" : "");
  return true;
}

static bool readme(FILE *out, cu_package *p) {
  cu_readme_of(out, p, "OpenCL C 1.2, without extensions",
               "    make test     compiles the host's side, runs, compares with a plain evaluation "
               "in double\n"
               "    make bench    compiles; ./bench times it\n\n"
               "`kernel.h`: arrays of the host.  `kernel_device.h`: buffers that are on a device "
               "already, and a queue.\n"
               "`kernel.cl` is for reading: `kernel.c` holds its text, which the device's compiler "
               "makes a kernel of at the first call.");
  return true;
}

static bool manifest(FILE *out, cu_package *p) { return cu_manifest(out, p, "opencl"), true; }

/* The kernel comes first, as it determines how much memory is needed. */
static const cu_file files[] = {
    {"kernel.cl", kernel_cl, false, true, NULL},
    {"kernel.c", cl_host, true, true, NULL},
    {"kernel.h", kernel_h, false, false, NULL},
    {"kernel_device.h", device_h, true, true, NULL},
    {"test.c", test_c, true, false, NULL},
    {"bench.c", bench_c, true, true, NULL},
    {"Makefile", makefile, false, false, NULL},
    {"CMakeLists.txt", cmake, false, false, NULL},
    {"README.md", readme, false, false, NULL},
    {"manifest.json", manifest, false, false, NULL},
    {"rows.h", kernel_h, false, true, c_has_blocked},
    {"laid.c", cu_laid_c, true, false, c_has_blocked},
};

tf_emitted *cl_print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                     tf_diags *d) {
  ir_machine machine;
  if (!t->machine(o, &machine, d)) return NULL;
  return cu_emit(files, sizeof files / sizeof *files, tree, &t->lower, &machine, o, d);
}
