/* network.cu: the kernels in the order of the plan, in one stream, on arguments and on the arena. */
#include <inttypes.h>

#include "codegen/target/cuda/print/cuda.h"
#include "net/emit.h"

enum { ALIGN = 256 }; /* bytes on which the arena and the kernels' scratch begin */

static void call(FILE *out, const net_emission *e, int i) {
  const tf_workload *wl = e->plan->groups[i].group->workload;
  fprintf(out, "\n/* %d:", i + 1);
  for (int o = 0; o < wl->n_ops; o++)
    fprintf(out, " %s", wl->ops[o].name);
  fprintf(out,
          " */\nstatic int run_%d(const " C_NAME "_args *args, unsigned char *arena, void *scratch, size_t bytes, void "
          "*stream) {\n",
          i + 1);
  net_bind_all(out, e, i);
  fprintf(out, "  (void)args;\n  (void)arena;\n  return %s_device(&k, scratch, bytes, stream);\n}\n",
          net_called(e, i)->name);
}

static void sizes(FILE *out, const net_emission *e) {
  fputs("\nstatic size_t most_scratch(void) {\n  size_t most = 0, n;\n", out);
  for (int i = 0; i < e->plan->n; i++)
    if (net_has_kernel(e, i)) fprintf(out, "  if ((n = %s_device_workspace()) > most) most = n;\n", e->kernel[i].name);
  fprintf(out,
          "  return most;\n}\n\nsize_t " C_NAME "_device_workspace(void) { return (size_t)ARENA + %d + most_scratch(); "
          "}\n",
          2 * ALIGN);
}

/* Of arrays that are on the device. */
static void entry(FILE *out, const net_emission *e) {
  fprintf(out, "\nint " C_NAME "_device(const " C_NAME "_args *args, void *workspace, size_t bytes, void *stream) {\n"
               "  if (!args || !workspace) return BAD_ARGUMENT;\n");
  for (int z = 0; z < e->wl->n_tensors; z++)
    if (c_is_argument(&e->wl->tensors[z]))
      fputs("  if (!args->", out), c_field(out, e->wl->tensors[z].name), fputs(") return BAD_ARGUMENT;\n", out);
  fprintf(out,
          "  if (bytes < " C_NAME "_device_workspace()) return " C_NAME "_small_workspace;\n"
          "  unsigned char *const arena = (unsigned char *)(((uintptr_t)workspace + %d) / %d * %d);\n"
          "  void *const scratch = arena + (ARENA + %d) / %d * %d;\n"
          "  const size_t rest = most_scratch();\n  int status = " C_NAME "_done;\n",
          ALIGN - 1, ALIGN, ALIGN, ALIGN - 1, ALIGN, ALIGN);
  for (int i = 0; i < e->plan->n; i++)
    fprintf(out, "  if (!status) status = run_%d(args, arena, scratch, rest, stream);\n", i + 1);
  fputs("  return status;\n}\n", out);
}

void net_cuda_calls(FILE *out, const net_emission *e) {
  fputs("/* " C_NAME ": ", out), c_plain_text(out, e->wl->name);
  fputs(", group after group.  Written by tileflow; see README.md. */\n"
        "#if defined(TILEFLOW_EMULATE)\n#include \"emulate.hpp\"\n#else\n#include <cuda_runtime.h>\n#endif\n"
        "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
        "#include \"kernel.h\"\n#include \"kernel_device.h\"\n",
        out);
  for (int i = 0; i < e->plan->n; i++)
    if (net_has_kernel(e, i)) fprintf(out, "#include \"g%d.h\"\n#include \"g%d_device.h\"\n", i + 1, i + 1);
  net_say_arena(out, e);
  fputs("#define BAD_ARGUMENT " C_NAME "_bad_argument\n", out);
  for (int i = 0; i < e->plan->n; i++)
    call(out, e, i);
  sizes(out, e);
  entry(out, e);
  cu_host_entry(out, &e->package, cu_arrays);
  net_print_weights(out, e);
  net_cuda_handle(out, e);
}

void net_cuda_header(FILE *out, const net_emission *e) {
  fputs(
      "/* The network for arrays that are on the device already.  network.h says what the arguments are; there " C_NAME
      "\n * takes the host's arrays and copies them there and back in each call. */\n"
      "#ifndef TILEFLOW_" C_NAME "_DEVICE_H\n#define TILEFLOW_" C_NAME "_DEVICE_H\n#include \"kernel.h\"\n\n"
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
      "/* Bytes of device memory that a call needs: what passes between kernels, and what the largest has besides. */\n"
      "size_t " C_NAME "_device_workspace(void);\n"
      "/* Starts the kernels in the stream (a cudaStream_t), one behind the other, and returns at once; pointers of "
      "args and\n"
      " * workspace are the device's.  " C_NAME "_no_isa: one could not be started.  May be captured in a CUDA graph. "
      "*/\n"
      "int " C_NAME "_device(const " C_NAME "_args *args, void *workspace, size_t bytes, void *stream);\n\n",
      out);
  net_cuda_declare_handle(out, e);
  fputs("#ifdef __cplusplus\n}\n#endif\n#endif\n", out);
}
