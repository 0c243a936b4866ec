/* The files of a kernel for the NPU: kernel.c over the intrinsics of npu.h, kernel.npu, the same in
 * assembler, and a test that compares the simulator with a plain evaluation of the workload. */
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/npu/files.h"
#include "codegen/backend/npu/npu.h"
#include "codegen/backend/npu/pass/pass.h"
#include "codegen/backend/npu/text/roll.h"
#include "codegen/ir/page.h"

typedef struct {
  npu_folder f;
  const tf_tree *tree;
  npu_terms terms;
  char *rounds;           /* how tiles and slots were settled, */
  const tf_tree *settled; /* and the mapping that results */
} package;

static void kernel_c(FILE *out, const package *k) { npu_files_c(out, &k->f); }
static void kernel_npu(FILE *out, const package *k) { npu_files_npu(out, &k->f); }
static void npu_h(FILE *out, const package *k) { npu_files_h(out, &k->f); }
static void test_c(FILE *out, const package *k) { npu_files_test(out, &k->f); }
static void makefile(FILE *out, const package *k) { npu_files_make(out, &k->f); }

static void manifest(FILE *out, const package *k) {
  char *mapping = tf_tree_text(k->tree);
  npu_files_begin_manifest(out, &k->f);
  fputs(",\n  \"mapping\": ", out);
  c_json_text(out, mapping ? mapping : "");
  free(mapping);
  const tf_result *r = k->f.o->result;
  if (r) {
    npu_files_terms(out, &k->f, &k->terms);
    fprintf(out, ", \"model_cycles\": %.17g, \"bottleneck\": \"%s\"%s}", r->cycles, r->bottleneck,
            r->estimated ? ", \"estimated\": true" : "");
  }
  fputs("\n}\n", out);
}

static void readme(FILE *out, const package *k) {
  const tf_result *r = k->f.o->result;
  npu_files_begin_readme(out, &k->f);
  fputs(
      "`schedule.txt`: slots of its places, the tiles that they speak for, and what came of it.\n",
      out);
  if (!r) return;
  npu_files_queue(out, &k->f, &k->terms);
  fprintf(out,
          "  By the mapping alone (tileflow eval), without slots and queues: %s%.6g cycles, bound "
          "by %s.\n",
          r->estimated ? "about " : "", r->cycles, r->bottleneck);
}

/* The schedules of tiles and of buffers, in turn, starting from the mapping. */
static void schedule(FILE *out, const package *k) {
  fprintf(out,
          "# Tiles and slots in turn, from %s (docs/NPU.md).  Of each memory: its tensors, slots x "
          "bytes of one.\n"
          "%s",
          k->f.o->settled ? "the mapping that a search found to the kernel's"
                          : "the mapping of this kernel on, which it keeps",
          k->f.o->settled ? k->f.o->settled : k->rounds);
  char *mapping = tf_tree_text(k->settled);
  fprintf(out, "\n%s", mapping ? mapping : "");
  free(mapping);
}

static const struct {
  const char *name;
  void (*print)(FILE *out, const package *k);
} rows[] = {{"kernel.c", kernel_c},      {"kernel.npu", kernel_npu}, {"npu.h", npu_h},
            {"test.c", test_c},          {"Makefile", makefile},     {"README.md", readme},
            {"manifest.json", manifest}, {"schedule.txt", schedule}};
enum { N_ROWS = sizeof rows / sizeof *rows };

static char *text_of(int row, const package *k) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  if (out) rows[row].print(out, k);
  bool ok = out && !ferror(out);
  ok = out && fclose(out) == 0 && ok;
  if (ok) return text;
  free(text);
  return NULL;
}

static tf_emitted *print_all(const package *k) {
  tf_emitted *e = calloc(1, sizeof *e);
  if (e) e->file = calloc(N_ROWS, sizeof *e->file);
  bool ok = e && e->file;
  for (int i = 0; i < N_ROWS && ok; i++) {
    e->file[e->n++] = (tf_emitted_file){rows[i].name, text_of(i, k)};
    ok = e->file[i].text != NULL;
  }
  if (ok) return e;
  if (e) tf_emitted_free(e);
  return NULL;
}

tf_emitted *tf_npu_print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                         tf_diags *d) {
  ir_machine machine;
  if (!t->machine(o, &machine, d)) return NULL;
  tf_npu *flat = npu_compile(tree, d), *p = flat ? npu_roll(flat) : NULL;
  package k = {
      .f = {.wl = tree->workload, .arch = tree->arch, .o = o, .p = p, .name = "kernel", .links = 1},
      .tree = tree};
  tf_tree *other = NULL;
  bool ok = p && npu_expect(tree, &k.terms, d);
  if (ok && !o->settled) other = npu_settle(tree, NULL, &k.rounds, d), ok = other != NULL;
  k.settled = other ? other : tree;
  tf_emitted *e = ok ? print_all(&k) : NULL;
  if (flat && !e) tf_out_of_memory(d);
  tf_npu_free(flat);
  tf_npu_free(p);
  tf_tree_free(other);
  free(k.rounds);
  return e;
}
