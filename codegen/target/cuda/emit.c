/* The files of a CUDA kernel. */
#include <stdlib.h>
#include <string.h>

#include "codegen/ir/page.h"
#include "codegen/target/cuda/cuda.h"
#include "codegen/target/cuda/print/cuda.h"

typedef struct {
  c_package k;
  cu_room room;
} package;

static bool kernel_cu(FILE *out, package *p) { return cu_kernel(out, &p->k, &p->room); }
static bool kernel_h(FILE *out, package *p) { return c_kernel_h(out, &p->k), true; }
static bool device_h(FILE *out, package *p) { return cu_device_h(out, &p->k), true; }
static bool test_c(FILE *out, package *p) { return c_test_c(out, &p->k), true; }
static bool bench_cu(FILE *out, package *p) { return cu_bench(out, &p->k), true; }
static bool makefile(FILE *out, package *p) { return cu_makefile(out, &p->k), true; }
static bool cmake(FILE *out, package *p) { return cu_cmake(out, &p->k), true; }
static bool readme(FILE *out, package *p) { return cu_readme(out, &p->k, &p->room), true; }
static bool emulate(FILE *out, package *p) { return (void)p, fputs(tf_cuda_emulate, out) >= 0; }
static bool hopper(FILE *out, package *p) { return (void)p, fputs(tf_cuda_hopper, out) >= 0; }
static bool manifest(FILE *out, package *p) { return cu_manifest(out, &p->k, &p->room), true; }

/* The kernel comes first, as it determines how much memory is needed. */
static const struct {
  const char *name;
  bool (*print)(FILE *out, package *p);
  bool code; /* must not contain the kernel's name as a word; kernel.h has only fields */
} rows[] = {
    {"kernel.cu", kernel_cu, true},   {"kernel.h", kernel_h, false}, {"kernel_device.h", device_h, true},
    {"test.c", test_c, true},         {"bench.cu", bench_cu, true},  {"Makefile", makefile, false},
    {"CMakeLists.txt", cmake, false}, {"README.md", readme, false},  {"manifest.json", manifest, false},
    {"emulate.hpp", emulate, true},   {"hopper.hpp", hopper, true},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static char *text_of(int row, package *p) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  bool ok = out && rows[row].print(out, p) && !ferror(out);
  ok = out && fclose(out) == 0 && ok;
  if (ok) return text;
  free(text);
  return NULL;
}

/* Inserts the kernel's name, if it is a valid one. */
static bool name_all(tf_emitted *e, const char *name, tf_diags *d) {
  const char *text[N_ROWS];
  int n = 0;
  for (int i = 0; i < e->n; i++)
    if (rows[i].code) text[n++] = e->file[i].text;
  const char *fault = c_name_fault(name, text, n);
  if (fault) return tf_fail(d, (tf_loc){0}, TF_E_NAME, "'%.40s' cannot name a kernel: %s", name, fault);
  return c_name_files(e, name);
}

static tf_emitted *print_all(package *p, const char *name, tf_diags *d) {
  tf_emitted *e = calloc(1, sizeof *e);
  if (e) e->file = calloc(N_ROWS, sizeof *e->file);
  bool ok = e && e->file;
  for (int i = 0; i < N_ROWS && ok; i++) {
    if (rows[i].print == hopper && !cu_has_groups(p->k.p)) continue;
    e->file[e->n] = (tf_emitted_file){rows[i].name, text_of(i, p)};
    ok = e->file[e->n++].text != NULL;
  }
  ok = ok && name_all(e, name, d);
  if (ok) return e;
  if (e) tf_emitted_free(e);
  return NULL;
}

tf_emitted *tf_cuda_print(const tf_tree *tree, const tf_emit_options *o, tf_diags *d) {
  const tf_micro_isa *isas[TF_MICRO_MOST_ISAS];
  package p = {.k = {.o = o, .name = C_NAME, .isas = isas, .eights = true}};
  ir_machine machine;
  const size_t errors = tf_diags_errors(d);
  if (!tf_target_cuda.machine(o, &machine, d) || !tf_micro_isas(&(tf_emit_options){.isa = "portable"}, isas, d))
    return NULL;
  p.k.isa = isas[0];
  p.k.source = tf_micro_source_find(NULL);
  if (machine.data == IR_F32 && machine.real) p.k.within = "2e-3";
  if (machine.data == IR_F8) p.k.within = "1e-2";
  p.k.p = low_lower(tree, &tf_target_cuda.lower, &machine, d);
  tf_emitted *e = p.k.p ? print_all(&p, o->name ? o->name : "kernel", d) : NULL;
  ir_free((ir_program *)p.k.p);
  if (!e && tf_diags_errors(d) == errors) tf_out_of_memory(d);
  return e;
}
