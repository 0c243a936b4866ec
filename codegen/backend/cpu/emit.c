/* The files of a kernel. */
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "codegen/backend/cpu/cpu.h"
#include "codegen/backend/cpu/print/files.h"
#include "codegen/backend/cpu/print/live.h"
#include "codegen/ir/page.h"

typedef struct {
  const char *name;
  bool (*print)(FILE *out, c_package *k);
} file_row;

#define PLAIN(f)                                                                                   \
  static bool f##_file(FILE *out, c_package *k) {                                                  \
    f(out, k);                                                                                     \
    return true;                                                                                   \
  }
PLAIN(c_kernel_h)
PLAIN(c_test_c)
PLAIN(c_bench_c)
PLAIN(c_makefile)
PLAIN(c_cmake)
PLAIN(c_readme)
PLAIN(c_manifest)
PLAIN(c_laid_c)

static bool parts_file(FILE *out, c_package *k) {
  c_parts_h(out, k);
  return true;
}

/* Kernels come first: printing them determines the size of the workspace, which headers state. */
static const file_row rows[] = {
    {"kernel.h", c_kernel_h_file},      {"test.c", c_test_c_file},
    {"bench.c", c_bench_c_file},        {"Makefile", c_makefile_file},
    {"CMakeLists.txt", c_cmake_file},   {"README.md", c_readme_file},
    {"manifest.json", c_manifest_file},
};
enum {
  N_ROWS = sizeof rows / sizeof rows[0],
  MOST_FILES = N_ROWS + 2 * TF_MICRO_MOST_ISAS + 3 + C_LIVE_FILES,
  NAME = 40
};

/* The files, with room for their names behind the array. */
static tf_emitted *emitted_new(void) {
  tf_emitted *e = calloc(1, sizeof *e);
  if (e) e->file = calloc(1, MOST_FILES * (sizeof *e->file + NAME));
  if (e && e->file) return e;
  free(e);
  return NULL;
}

static bool print_one(tf_emitted *e, const char *name, bool (*print)(FILE *, c_package *),
                      c_package *k) {
  char *text = NULL, *kept = (char *)(e->file + MOST_FILES) + e->n * NAME;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  bool ok = out && print(out, k) && !ferror(out);
  ok = out && fclose(out) == 0 && ok;
  snprintf(kept, NAME, "%s", name);
  e->file[e->n++] = (tf_emitted_file){kept, text};
  return ok;
}

/* The files by which a kernel can be replaced while the program that calls it runs. */
static bool print_live(tf_emitted *e, c_package *k) {
  bool ok = true;
  for (int i = 0; i < C_LIVE_FILES && ok; i++) {
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (out) c_live_file(out, k, i);
    ok = out && fclose(out) == 0;
    e->file[e->n++] = (tf_emitted_file){c_live_name(i), text};
  }
  return ok;
}

static bool bad_name(const char *name, const char *fault, tf_diags *d) {
  return tf_fail(d, (tf_loc){0}, TF_E_NAME, "'%.40s' cannot name a kernel: %s", name, fault);
}

bool tf_emit_can_name(const char *name, tf_diags *d) {
  TF_IN_C_LOCALE;
  const char *fault = c_name_fault(name, NULL, 0);
  return !fault || bad_name(name, fault, d);
}

/* Inserts the kernel's name, if it is a valid one. */
static bool name_all(tf_emitted *e, const char *name, tf_diags *d) {
  const char *text[MOST_FILES], *fault;
  int n = 0;
  for (int i = 0; i < e->n; i++) {
    const char *end = strrchr(e->file[i].name, '.');
    if (end && strcmp(e->file[i].name, "kernel.h") != 0 && strcmp(e->file[i].name, "rows.h") != 0 &&
        (!strcmp(end, ".c") || !strcmp(end, ".h")))
      text[n++] = e->file[i].text;
  }
  if ((fault = c_name_fault(name, text, n))) return bad_name(name, fault, d);
  return c_name_files(e, name);
}

/* The kernel's files become those of a kernel of rows; behind them its header, and what takes
 * arguments in blocks. */
static bool take_blocks(tf_emitted *e, c_package *k) {
  bool ok = print_one(e, "rows.h", c_kernel_h_file, k);
  for (int i = 0; i < e->n && ok; i++) {
    char *text = c_text_of_rows(e->file[i].text);
    free((char *)e->file[i].text);
    e->file[i].text = text;
    ok = text != NULL;
  }
  k->blocked = true;
  return ok && print_one(e, "laid.c", c_laid_c_file, k);
}

/* Prints kernel.c and parts.h for one instruction set. k->p keeps the program. */
static bool print_kernel(const tf_target *t, tf_emitted *e, const tf_tree *tree, c_package *k,
                         const tf_micro_isa *isa, ir_type data, tf_diags *d) {
  char entry[160], parts[NAME] = "parts.h", kernel[NAME] = "kernel.c";
  ir_machine machine = tf_cpu_machine(isa, data, tree->workload);
  machine.choices = k->o->choices;
  machine.changes = k->o->changes;
  if (k->n_isas) {
    snprintf(parts, sizeof parts, "parts_%s.h", isa->name);
    snprintf(kernel, sizeof kernel, "kernel_%s.c", isa->name);
  }
  snprintf(entry, sizeof entry, "%.120s%s%s", k->name, k->n_isas ? "_" : "",
           k->n_isas ? isa->name : "");
  ir_free((ir_program *)k->p);
  k->p = lower_kernel(tree, &t->lower, &machine, d);
  e->skips |= k->p && (c_has_sparse(k->p) || c_has_blocks(k->p));
  k->isa = isa;
  k->entry = entry;
  k->parts = parts;
  bool ok = k->p && print_one(e, kernel, c_kernel_c, k) && print_one(e, parts, parts_file, k);
  k->entry = k->parts = NULL;
  return ok;
}

/* Versions of a kernel share its arguments, which tables list by rows. */
static bool can_be_live(const tf_tree *tree, tf_diags *d) {
  for (int z = 0; z < tree->workload->n_tensors; z++) {
    const tf_tensor *t = &tree->workload->tensors[z];
    const tf_laid *l = tf_layout_of(tree->arch, t);
    if (l && l->n > t->rank)
      return tf_fail(d, l->tensor.at, TF_E_LIMIT,
                     "a kernel that can be replaced (--live) takes no tensors in blocks: give "
                     "'%.40s' its ranks whole, in any order",
                     t->name);
  }
  return true;
}

tf_emitted *tf_cpu_print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                         tf_diags *d) {
  const tf_micro_isa *isas[TF_MICRO_MOST_ISAS];
  c_package k = {.o = o, .name = C_NAME, .isas = isas};
  ir_type data = IR_F32;
  int n = tf_micro_isas(o, isas, d);
  size_t errors = tf_diags_errors(d);
  k.source = tf_micro_source_find(o->micro);
  if (!k.source)
    tf_fail(d, (tf_loc){0}, TF_E_NAME, "no micro-kernels of '%.40s'; known: own, libxsmm",
            o->micro);
  if (!tf_micro_data(o->dtype, &data, d) || !n || !k.source) return NULL;
  if (o->live && n > 1) {
    tf_fail(d, (tf_loc){0}, TF_E_NAME,
            "a kernel that can be replaced is for one instruction set, not for 'multi'");
    return NULL;
  }
  if (o->live && !can_be_live(tree, d)) return NULL;
  tf_emitted *e = emitted_new();
  bool ok = e != NULL;
  k.n_isas = n > 1 ? n : 0;
  for (int i = 0; i < n && ok; i++)
    ok = print_kernel(t, e, tree, &k, isas[i], data, d);
  if (k.n_isas) ok = ok && print_one(e, "kernel.c", c_chooser_c, &k);
  if (ok && c_has_blocked(k.p)) ok = take_blocks(e, &k);
  for (int i = 0; i < N_ROWS && ok; i++)
    ok = print_one(e, rows[i].name, rows[i].print, &k);
  if (o->live) ok = ok && print_live(e, &k);
  ir_free((ir_program *)k.p);
  ok = ok && name_all(e, o->name ? o->name : "kernel", d);
  if (ok) return e;
  tf_emitted_free(e);
  if (tf_diags_errors(d) == errors) tf_out_of_memory(d);
  return NULL;
}
