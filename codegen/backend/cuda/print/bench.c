/* bench.cu: times the kernel on the device. */
#include <inttypes.h>

#include "codegen/backend/cuda/print/cuda.h"

static const char head[] =
    "#include <cuda_runtime.h>\n#include <stdint.h>\n#include <stdio.h>\n"
    "#include <stdlib.h>\n#include <string.h>\n\n"
    "#include \"kernel_device.h\"\n\nenum { ROUNDS = 31 };\n\n"
    "static int later(const void *a, const void *b) {\n"
    "  const float x = *(const float *)a, y = *(const float *)b;\n"
    "  return (x > y) - (x < y);\n}\n\n"
    "/* The i-th of a series that looks random: uniform from -1.73 to 1.73, of variance 1 "
    "(splitmix64).  Power, and so the clock, depend on how many bits\n"
    " * change: few values would flatter. */\n"
    "static float number(uint64_t i, float) {\n  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;\n"
    "  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;\n"
    "  x = (x ^ x >> 27) * 0x94d049bb133111ebu;\n  x ^= x >> 31;\n"
    "  return ((float)(x >> 40) / 8388608 - 1) * 1.7320508f;\n}\n";

static const char bf16[] = "static uint16_t number(uint64_t i, uint16_t) { return "
                           "__bfloat16_as_ushort(__float2bfloat16_rn(number(i, 0.0f))); }\n";
static const char f16[] = "static uint16_t number(uint64_t i, uint16_t) { return "
                          "__half_as_ushort(__float2half_rn(number(i, 0.0f))); }\n";
static const char int8[] =
    "static int8_t number(uint64_t i, int8_t) { return (int8_t)(number(i, 0.0f) * 32); }\n"
    "static int32_t number(uint64_t i, int32_t) { return number(i, int8_t()); }\n";

static const char f8[] =
    "static uint8_t number(uint64_t i, uint8_t) { return (uint8_t)__nv_cvt_float_to_fp8(number(i, "
    "0.0f), __NV_SATFINITE, __NV_E4M3); }\n";

/* Arrays differ: each begins at another place of the series of numbers. */
static const char arrays[] =
    "\nstatic uint64_t series;\n\n"
    "template <class T> static T *numbers(size_t n) {\n"
    "  T *here = (T *)malloc(n * sizeof *here), *there = NULL;\n"
    "  if (!here || cudaMalloc((void **)&there, n * sizeof *here) != cudaSuccess) exit(2);\n"
    "  for (size_t i = 0; i < n; i++) here[i] = number(series++, T());\n"
    "  cudaMemcpy(there, here, n * sizeof *here, cudaMemcpyHostToDevice);\n"
    "  free(here);\n  return there;\n}\n\n";

static const char rounds[] =
    "  for (int r = 0; r < ROUNDS; r++) {\n    cudaEventRecord(from, 0);\n"
    "    if (start(&args, room) != 0) return puts(\"not run: it could not be started\"), 2;\n"
    "    cudaEventRecord(to, 0);\n"
    "    if (cudaEventSynchronize(to) != cudaSuccess) return puts(\"not run: it failed\"), 2;\n"
    "    cudaEventElapsedTime(&took[r], from, to);\n  }\n"
    "  qsort(took, ROUNDS, sizeof *took, later);\n";

double cu_flops(const tf_workload *wl) {
  double sum = 0;
  for (int o = 0; o < wl->n_ops; o++) {
    double points = wl->ops[o].reduce == TF_REDUCE_ADD && wl->ops[o].n_reads == 2 ? 2 : 1;
    for (int d = 0; d < wl->ops[o].n_dims; d++)
      points *= (double)wl->dims[wl->ops[o].dims[d]].extent;
    sum += points;
  }
  return sum;
}

void cu_bench(FILE *out, const c_package *k) {
  const tf_workload *wl = k->p->tree->workload;
  fputs("/* Times ", out), c_plain_text(out, wl->name),
      fputs(" on the device: the median of the rounds. */\n", out);
  const ir_type data = k->p->machine.data;
  const bool halves = data == IR_F8 && c_has_arrays_of(k->p, IR_BF16);
  if (ir_is_half(data) || halves)
    fprintf(out, "#include <cuda_%s.h>\n", data == IR_F16 ? "fp16" : "bf16");
  if (data == IR_F8) fputs("#include <cuda_fp8.h>\n", out);
  fputs(head, out);
  if (ir_is_half(data) || halves) fputs(data == IR_F16 ? f16 : bf16, out);
  if (data == IR_I8) fputs(int8, out);
  if (data == IR_F8) fputs(f8, out);
  fputs(arrays, out);
  fprintf(out,
          "static int start(const %s_args *args, void *room) { return %s_device(args, room, "
          "%s_device_workspace(), NULL); }\n"
          "\n"
          "int main(void) {\n  %s_args args;\n  float took[ROUNDS];\n"
          "  cudaEvent_t from, to;\n  void *room = NULL;\n"
          "  memset(&args, 0, sizeof args);\n  %s_dense(&args);\n"
          "  if (cudaEventCreate(&from) != cudaSuccess || cudaEventCreate(&to) != cudaSuccess ||\n"
          "      cudaMalloc(&room, %s_device_workspace()) != cudaSuccess)\n"
          "    return puts(\"not run: no CUDA device, or no room on it\"), 2;\n",
          k->name, k->name, k->name, k->name, k->name, k->name);
  for (int z = 0; z < wl->n_tensors; z++) {
    int64_t words = 1;
    if (!c_is_argument(&wl->tensors[z])) continue;
    for (int r = 0; r < wl->tensors[z].rank; r++)
      words *= wl->tensors[z].extent[r];
    fputs("  args.", out), c_field(out, wl->tensors[z].name),
        fprintf(out, " = numbers<%s>(%" PRId64 ");\n", c_type(c_argument_type(k->p, z)), words);
  }
  fputs(rounds, out);
  fprintf(out,
          "  printf(\"%s %%.6g s, %%.4g GFLOP/s\\n\", took[ROUNDS / 2] / 1e3, %.9g / took[ROUNDS / "
          "2] / 1e6);\n"
          "  return 0;\n}\n",
          k->name, cu_flops(wl));
}
