/* The files around kernel.cu. */
#include <inttypes.h>
#include <stdlib.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/cuda.h"
#include "codegen/backend/cuda/print/group.h"
#include "codegen/ir/page.h"

void cu_device_h(FILE *out, const c_package *k) {
  const char *n = k->name;
  fprintf(out,
          "/* The kernel for arrays that are on the device already.  kernel.h says what the "
          "arguments are; there %s\n"
          " * takes the host's arrays and copies them there and back, and needs no workspace worth "
          "the name. */\n"
          "#ifndef TILEFLOW_%s_DEVICE_H\n#define TILEFLOW_%s_DEVICE_H\n#include \"kernel.h\"\n\n"
          "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
          "/* Bytes of device memory that a call needs; 0: the workspace may be NULL. */\n"
          "size_t %s_device_workspace(void);\n",
          n, n, n, n);
  fprintf(
      out,
      "/* Starts the kernel in the stream (a cudaStream_t) and returns at once; pointers of args "
      "and workspace are the device's.%s */\n"
      "int %s_device(const %s_args *args, void *workspace, size_t bytes, void *stream);\n\n"
      "#ifdef __cplusplus\n}\n#endif\n#endif\n",
      cu_has_groups(k->p)
          ? "\n * bad_argument: what is no multiple of 16 bytes among addresses and strides, too."
          : "",
      n, n);
}

void cu_makefile(FILE *out, const c_package *k) {
  if (cu_has_groups(k->p))
    fputs("# make, make test, make bench; make emulate, where there is no device.  NVCC and "
          "NVCCFLAGS may be set.\n"
          "NVCC ?= nvcc\nARCH ?= sm_90a\nNVCCFLAGS ?= -O3\n"
          "ALL = -std=c++17 -gencode arch=$(subst sm_,compute_,$(ARCH)),code=$(ARCH) $(NVCCFLAGS)\n"
          "\n",
          out);
  else
    fputs("# make, make test, make bench; make emulate, where there is no device.  NVCC, ARCH "
          "(native: of the GPU that is here; sm_80, sm_90, ...) and NVCCFLAGS may be set.\n"
          "NVCC ?= nvcc\nARCH ?= native\nNVCCFLAGS ?= -O3\n"
          "ALL = -std=c++17 -arch=$(ARCH) $(NVCCFLAGS)\n\n",
          out);
  const bool laid = k->blocked;
  const char *objects = laid ? "kernel.o laid.o" : "kernel.o";
  fprintf(out,
          "all: libkernel.a test bench\n"
          "libkernel.a: %s\n\t$(AR) rcs $@ %s\n"
          "kernel.o: kernel.cu %s kernel_device.h\n\t$(NVCC) $(ALL) -c -o $@ kernel.cu\n%s"
          "test: test.c %s\n\t$(CC) -O2 -std=c17 -c -o test.o test.c\n"
          "\t$(NVCC) $(ALL) -o $@ test.o %s -lm\n\t./test\n"
          "bench: bench.cu kernel.o\n\t$(NVCC) $(ALL) -o $@ bench.cu kernel.o\n"
          "EMULATE = -std=c++17 -DTILEFLOW_EMULATE -Wno-unknown-pragmas\nCXXFLAGS ?= -O1\n"
          "CFLAGS ?= -O2\n",
          objects, objects, laid ? "rows.h" : "kernel.h",
          laid ? "laid.o: laid.c kernel.h rows.h\n\t$(CC) -O2 -std=c17 -c -o $@ laid.c\n" : "",
          objects, objects);
  fprintf(out,
          "emulate: test.c kernel.cu kernel.h kernel_device.h emulate.hpp $(wildcard "
          "hopper.hpp)%s\n"
          "\t$(CC) $(CFLAGS) -std=c17 -c -o emulate-test.o test.c\n"
          "\t$(CXX) $(EMULATE) $(CXXFLAGS) -x c++ -c -o emulate-kernel.o kernel.cu\n"
          "\t$(CXX) -o $@ emulate-test.o emulate-kernel.o%s -lm\n\t./emulate\n"
          "clean:\n\trm -f %s test.o libkernel.a test bench emulate emulate-*.o\n"
          ".PHONY: all clean\n",
          laid ? " laid.o" : "", laid ? " laid.o" : "", objects);
}

void cu_cmake(FILE *out, const c_package *k) {
  const char *n = k->name;
  fprintf(out,
          "cmake_minimum_required(VERSION 3.18)\nproject(%s LANGUAGES C CXX CUDA)\n"
          "if(NOT CMAKE_BUILD_TYPE)\n  set(CMAKE_BUILD_TYPE Release)\nendif()\n"
          "if(NOT CMAKE_CUDA_ARCHITECTURES)\n  set(CMAKE_CUDA_ARCHITECTURES %s)\nendif()\n"
          "add_library(%s STATIC kernel.cu%s)\ntarget_compile_features(%s PUBLIC cuda_std_17)\n"
          "target_include_directories(%s PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\n"
          "add_executable(%s_test test.c)\ntarget_link_libraries(%s_test PRIVATE %s m)\n"
          "set_target_properties(%s_test PROPERTIES LINKER_LANGUAGE CUDA)\n"
          "add_executable(%s_bench bench.cu)\ntarget_link_libraries(%s_bench PRIVATE %s)\n"
          "enable_testing()\nadd_test(NAME %s COMMAND %s_test)\n",
          n, cu_has_groups(k->p) ? "90a-real" : "80", n, k->blocked ? " laid.c" : "", n, n, n, n, n,
          n, n, n, n, n, n);
}

/* ---- predicted time ------------------------------------------------------------------------- */

static const struct {
  const char *key, *what;
} times[] = {
#define X(id, key, what) {key, what},
    TF_TIMES(X)
#undef X
};

static void prediction(FILE *out, const c_package *k) {
  const tf_arch *a = k->p->tree->arch;
  const tf_times t = cu_times(k->p);
  fputs("\n## Prediction\n\nOn ", out), c_plain_text(out, a->name);
  fprintf(out, ": %.6g cycles, %.6g us, by the target's estimate of these kernels; bound by %s.",
          t.cycles, t.cycles / a->clock_hz * 1e6, times[t.bound].key);
  if (k->o->result)
    fprintf(out, "  The model's cycles of the mapping: %s%.6g, bound by %s.",
            k->o->result->estimated ? "about " : "", k->o->result->cycles,
            k->o->result->bottleneck);
  fputs(
      "\n"
      "Units work side by side; what each is busy with on the multiprocessor that has most to do:\n"
      "\n"
      "| Unit | Cycles | Share | What |\n|---|--:|--:|---|\n",
      out);
  for (int u = 0; u < TF_N_TIMES; u++)
    if (t.unit[u] > 0)
      fprintf(out, "| %s | %.6g | %.0f %% | %s |\n", times[u].key, t.unit[u],
              100 * t.unit[u] / t.cycles, times[u].what);
}

void cu_readme_of(FILE *out, const cu_package *p, const char *language, const char *about) {
  const c_package *k = &p->k;
  const cu_room *room = &p->room;
  fprintf(out, "# %s\n\n", k->name), c_plain_text(out, k->p->tree->workload->name);
  fprintf(out, " as %s (data: %s).  Written by tileflow", language,
          c_type_name(k->p->machine.data));
  if (k->o->version) fprintf(out, " %s", k->o->version);
  if (k->o->command) fputs(" by\n\n    ", out), c_plain_text(out, k->o->command);
  fprintf(out, "\n\n%s\n\n## Mapping\n\n", about);
  c_mapping_block(out, k->p->tree);
  prediction(out, k);
  cu_groups_page(out, k->p);
  fprintf(out,
          "\n## Memory\n\n%" PRId64 " words in common and %" PRId64 " for each of up to %" PRId64
          " blocks on the device; %" PRId64 " words of shared memory for each block.\n",
          room->common / CU_WORD, room->per_block / CU_WORD, room->blocks, room->shared / CU_WORD);
}

void cu_readme(FILE *out, const cu_package *p) {
  char about[1024];
  snprintf(
      about, sizeof about,
      "    make test     compiles with nvcc, runs, compares with a plain evaluation in double\n"
      "    make bench    compiles; ./bench times it\n"
      "    make emulate  the test without nvcc or a device: compiled as C++, threads one after the "
      "other\n"
      "\n"
      "`kernel.h`: arrays of the host.  `kernel_device.h`: arrays that are on the device already, "
      "and a stream.\n"
      "%s",
      cu_has_groups(p->k.p) ? "Products of matrices run on tensor cores of sm_90a (an H100 or "
                              "H200, no other): warpgroups multiply tiles that the device brings\n"
                              "by itself.  Arrays must stand on 16 bytes, and strides be multiples "
                              "of them, else the kernel says `bad_argument`."
      : cu_mma_of(p->k.p)   ? "Products of matrices run on tensor cores (sm_80 or later), all else "
                              "on the plain float32 units."
                            : "Products run on the plain float32 units, not on tensor cores.");
  cu_readme_of(out, p, "CUDA C++", about);
}

static void pipes_of_manifest(FILE *out, const ir_program *p) {
  int found = 0;
  for (int i = 0; i < p->body.n; i++) {
    if (p->body.s[i]->kind == IR_LET) continue;
    const cu_pipe q = cu_pipe_of(p, p->body.s[i]);
    if (q.steps == 0) continue;
    fprintf(out,
            "%s\n"
            "    {\"steps\": %.6g, \"ring\": %.6g, \"brings\": %.6g, \"takes\": %.6g, \"each\": "
            "%.6g, \"fill\": %.6g, \"drain\": %.6g, \"in_turns\": %s}",
            found++ ? "," : ",\n  \"pipes\": [", q.steps, q.depth, q.producer, q.consumer,
            cu_pipe_step(&q), q.latency + q.producer, q.consumer + q.epilogue,
            q.in_turns ? "true" : "false");
  }
  if (found) fputs("]", out);
}

/* Instructions of a warp in a step of each part's busiest loop, to compare with machine code
 * (bench/cuda/issue.py). */
static void steps_of_manifest(FILE *out, const ir_program *p) {
  int found = 0;
  for (int i = 0; i < p->body.n; i++) {
    if (p->body.s[i]->kind == IR_LET) continue;
    const cu_step q = cu_step_of(p, p->body.s[i]);
    if (q.multiplied + q.summed == 0) continue;
    fprintf(out, "%s\n    {\"part\": %d, \"issued\": %.6g, \"multiplied\": %.6g",
            found++ ? "," : ",\n  \"steps\": [", i, q.issued, q.multiplied);
    if (q.summed > 0) fprintf(out, ", \"summed\": %.6g", q.summed);
    fputs("}", out);
  }
  if (found) fputs("]", out);
}

void cu_manifest(FILE *out, const cu_package *p, const char *target) {
  const c_package *k = &p->k;
  const cu_room *room = &p->room;
  c_manifest_begin(out, k, target, NULL);
  fprintf(out,
          ",\n  \"workspace_words\": %" PRId64 ",\n  \"workspace_words_per_block\": %" PRId64
          ",\n  \"blocks\": %" PRId64 ",\n  \"shared_words\": %" PRId64,
          room->common / CU_WORD, room->per_block / CU_WORD, room->blocks, room->shared / CU_WORD);
  const tf_times t = cu_times(k->p);
  fprintf(out,
          ",\n  \"kernel_cycles\": %.6g,\n  \"kernel_seconds\": %.6g,\n"
          "  \"bound_by\": \"%s\",\n  \"unit_cycles\": {",
          t.cycles, t.cycles / k->p->tree->arch->clock_hz, times[t.bound].key);
  for (int u = 0; u < TF_N_TIMES; u++)
    fprintf(out, "%s\"%s\": %.6g", u ? ", " : "", times[u].key, t.unit[u]);
  fputs("}", out);
  pipes_of_manifest(out, k->p);
  steps_of_manifest(out, k->p);
  c_manifest_end(out, k);
}
