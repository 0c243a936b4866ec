/* The files of a CUDA kernel. */
#include "codegen/backend/cuda/cuda.h"
#include "codegen/backend/cuda/print/cuda.h"

static bool kernel_h(FILE *out, cu_package *p) {
  c_kernel_h_begin(out, &p->k);
  cu_codes(out);
  c_kernel_h_end(out);
  return true;
}
static bool device_h(FILE *out, cu_package *p) { return cu_device_h(out, &p->k), true; }
static bool test_c(FILE *out, cu_package *p) {
  p->k.lacking = CU_NO_DEVICE, p->k.absent = cu_absent;
  return c_test_c(out, &p->k), true;
}
static bool bench_cu(FILE *out, cu_package *p) { return cu_bench(out, &p->k), true; }
static bool makefile(FILE *out, cu_package *p) { return cu_makefile(out, &p->k), true; }
static bool cmake(FILE *out, cu_package *p) { return cu_cmake(out, &p->k), true; }
static bool readme(FILE *out, cu_package *p) { return cu_readme(out, p), true; }
static bool emulate(FILE *out, cu_package *p) { return (void)p, fputs(tf_cuda_emulate, out) >= 0; }
static bool hopper(FILE *out, cu_package *p) { return (void)p, fputs(tf_cuda_hopper, out) >= 0; }
static bool manifest(FILE *out, cu_package *p) { return cu_manifest(out, p, "cuda"), true; }

/* The kernel comes first, as printing it determines the memory that it needs. */
static const cu_file files[] = {
    {"kernel.cu", cu_kernel, true, true, NULL},
    {"kernel.h", kernel_h, false, false, NULL},
    {"kernel_device.h", device_h, true, true, NULL},
    {"test.c", test_c, true, false, NULL},
    {"bench.cu", bench_cu, true, true, NULL},
    {"Makefile", makefile, false, false, NULL},
    {"CMakeLists.txt", cmake, false, false, NULL},
    {"README.md", readme, false, false, NULL},
    {"manifest.json", manifest, false, false, NULL},
    {"emulate.hpp", emulate, true, false, NULL},
    {"hopper.hpp", hopper, true, false, cu_has_groups},
    {"rows.h", kernel_h, false, true, c_has_blocked},
    {"laid.c", cu_laid_c, true, false, c_has_blocked},
};

tf_emitted *tf_cuda_print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                          tf_diags *d) {
  ir_machine machine;
  if (!t->machine(o, &machine, d)) return NULL;
  return cu_emit(files, sizeof files / sizeof *files, tree, &t->lower, &machine, o, d);
}
