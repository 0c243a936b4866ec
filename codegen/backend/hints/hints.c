/* Hints: CUDA's kernels as parameters of frameworks in which people write kernels, instead of
 * code. */
#include <stdlib.h>

#include "codegen/backend/cuda/cuda.h"
#include "codegen/backend/hints/hints.h"

static bool machine_of(const tf_emit_options *o, ir_machine *machine, tf_diags *d) {
  return tf_target_cuda.machine(o, machine, d);
}
static double cycles_of(const tf_tree *tree, const tf_emit_options *o, tf_diags *d) {
  return tf_target_cuda.cycles(tree, o, d);
}
static bool owns(const char *isa) { return tf_target_cuda.owns(isa); }

static const struct {
  const char *name;
  void (*print)(FILE *out, const ir_program *p, const tf_emit_options *o);
} files[] = {{"hints.txt", hint_table}, {"hints.json", hint_json}};
enum { N_FILES = sizeof files / sizeof *files };

static char *text_of(int file, const ir_program *p, const tf_emit_options *o) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  if (out) files[file].print(out, p, o);
  const bool ok = out && !ferror(out);
  if (out && fclose(out) == 0 && ok) return text;
  free(text);
  return NULL;
}

static tf_emitted *print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                         tf_diags *d) {
  ir_machine machine;
  ir_program *p = t->machine(o, &machine, d) ? lower_kernel(tree, &t->lower, &machine, d) : NULL;
  tf_emitted *e = p ? calloc(1, sizeof *e) : NULL;
  if (e) e->file = calloc(N_FILES, sizeof *e->file);
  bool ok = e && e->file;
  for (; ok && e->n < N_FILES; e->n++) {
    e->file[e->n] = (tf_emitted_file){files[e->n].name, text_of(e->n, p, o)};
    ok = e->file[e->n].text != NULL;
  }
  ir_free(p);
  if (ok) return e;
  if (p) tf_out_of_memory(d);
  if (e) tf_emitted_free(e);
  return NULL;
}

const tf_target tf_target_hints = {
    .name = "hints",
    .description = "CUDA's kernels as parameters of Triton, TileLang, Helion and CUTLASS",
    .lower = CU_LOWER,
    .machine = machine_of,
    .print = print,
    .form = cu_form,
    .cycles = cycles_of,
    .whole = true,
    .able = TF_EMIT_READ,
    .owns = owns,
    .unused = tf_cuda_unused,
    .run = ir_run,
};
