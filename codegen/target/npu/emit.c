/* The files of a kernel for the NPU: kernel.c over the intrinsics of npu.h, kernel.npu that it makes, and a test in the
 * simulator against the workload evaluated plainly. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/ir/page.h"
#include "codegen/target/cpu/print/files.h"
#include "codegen/target/npu/npu.h"
#include "codegen/target/npu/pass/pass.h"
#include "codegen/target/npu/text/text.h"

typedef struct {
  const tf_tree *tree;
  const tf_emit_options *o;
  const tf_npu *p;
} package;

static int64_t words_of(const tf_tensor *z) {
  int64_t n = 1;
  for (int r = 0; r < z->rank; r++)
    n *= z->extent[r];
  return n;
}

static void kernel_c(FILE *out, const package *k) { npu_c_text(out, k->p, k->tree->workload->name); }

static void kernel_npu(FILE *out, const package *k) {
  char *text = tf_npu_text(k->p);
  fputs(text ? text : "", out);
  free(text);
}

static void npu_h(FILE *out, const package *k) {
  (void)k;
  fputs(npu_intrinsics, out);
}

/* ---- the test --------------------------------------------------------------------------------------------------- */
static const char files[] =
    "static int file(const char *path, double *x, long long n, int writes) {\n"
    "  FILE *f = fopen(path, writes ? \"wb\" : \"rb\");\n  size_t done = 0;\n"
    "  if (f) done = writes ? fwrite(x, sizeof *x, (size_t)n, f) : fread(x, sizeof *x, (size_t)n, f);\n"
    "  if (f) fclose(f);\n  if (done == (size_t)n) return 0;\n  fprintf(stderr, \"cannot use '%s'\\n\", path);\n"
    "  return 1;\n}\n\n"
    "static int compare(const char *name, const double *got, const double *want, long long n, double most) {\n"
    "  double off = 0, norm = 0;\n  for (long long i = 0; i < n; i++) {\n"
    "    off += (got[i] - want[i]) * (got[i] - want[i]);\n    norm += want[i] * want[i];\n  }\n"
    "  const double error = norm > 0 ? sqrt(off / norm) : sqrt(off);\n"
    "  printf(\"%s: error %.2g of the norm\\n\", name, error);\n  return !(error <= most);\n}\n\n";

static void test_c(FILE *out, const package *k) {
  const tf_workload *wl = k->tree->workload;
  bool half = false;
  fputs("/* ./check write: inputs to the folder data; ./check: holds outputs there against the workload evaluated "
        "plainly "
        "in double. */\n",
        out);
  c_reference_head(out, wl);
  fprintf(out,
          "%sint main(int argc, char **argv) {\n  const int writes = argc > 1 && !strcmp(argv[1], \"write\");\n"
          "  int bad = 0;\n",
          files);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    half |= t->word_bits == 16;
    fprintf(out, "  double *r_%s = room(%" PRId64 ", sizeof(double));\n", t->name, words_of(t));
    if (t->producer >= 0) continue;
    fprintf(out,
            "  for (long long i = 0; i < %" PRId64 "; i++) r_%s[i] = number((unsigned long long)i, %d);\n"
            "  if (writes) bad |= file(\"data/%s.f64\", r_%s, %" PRId64 ", 1);\n",
            words_of(t), t->name, z, t->name, t->name, words_of(t));
  }
  fputs("  if (writes) return bad;\n", out);
  c_reference_ops(out, wl);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (t->producer < 0 || t->n_consumers) continue;
    fprintf(out,
            "  {\n    double *got = room(%" PRId64 ", sizeof(double));\n"
            "    bad |= file(\"data/%s.f64\", got, %" PRId64 ", 0) || compare(\"%s\", got, r_%s, %" PRId64 ", %s);\n"
            "    free(got);\n  }\n",
            words_of(t), t->name, words_of(t), t->name, t->name, words_of(t), half ? "1e-2" : "1e-4");
  }
  for (int z = 0; z < wl->n_tensors; z++)
    fprintf(out, "  free(r_%s);\n", wl->tensors[z].name);
  fputs("  return bad;\n}\n", out);
}

static void makefile(FILE *out, const package *k) {
  (void)k;
  fputs("# make simulate: kernel.c writes kernel.npu again, the simulator runs it, ./check compares.  TILEFLOW may be "
        "set.\n"
        "TILEFLOW ?= tileflow\nCFLAGS ?= -O1\n\n"
        "all: simulate\n"
        "kernel: kernel.c npu.h\n\t$(CC) -std=c17 -O0 -o $@ kernel.c\n"
        "check: test.c\n\t$(CC) -std=c17 $(CFLAGS) -o $@ test.c -lm\n"
        "test: simulate\nsimulate: kernel check\n\tmkdir -p data\n\t./kernel >kernel.npu\n\t./check write\n"
        "\t$(TILEFLOW) npu kernel.npu --data data --json simulated.json\n\t./check\n"
        "clean:\n\trm -rf kernel check data simulated.json\n.PHONY: all test simulate clean\n",
        out);
}

/* ---- what they are -------------------------------------------------------------------------------------------- */
static void manifest(FILE *out, const package *k) {
  const tf_workload *wl = k->tree->workload;
  char *mapping = tf_tree_text(k->tree);
  tf_npu_tensor t;
  fprintf(out, "{\n  \"tileflow\": \"%s\",\n  \"target\": \"npu\",\n  \"entry\": \"kernel.npu\",\n  \"workload\": ",
          k->o->version ? k->o->version : "");
  c_json_text(out, wl->name);
  fputs(",\n  \"machine\": ", out);
  c_json_text(out, k->tree->arch->name);
  fputs(",\n  \"tensors\": [", out);
  for (int i = 0; tf_npu_tensor_at(k->p, i, &t); i++)
    fprintf(out, "%s\n    {\"name\": \"%s\", \"type\": \"%s\", \"words\": %" PRId64 ", \"input\": %s, \"output\": %s}",
            i ? "," : "", t.name, npu_type_name(k->p->tensor[i].type), t.words, t.in ? "true" : "false",
            t.out ? "true" : "false");
  fputs("\n  ],\n  \"mapping\": ", out);
  c_json_text(out, mapping ? mapping : "");
  free(mapping);
  if (k->o->result)
    fprintf(out, ",\n  \"predicted\": {\"cycles\": %.17g, \"bottleneck\": \"%s\"}", k->o->result->cycles,
            k->o->result->bottleneck);
  fputs("\n}\n", out);
}

static void readme(FILE *out, const package *k) {
  fputs("# kernel\n\n", out);
  c_plain_text(out, k->tree->workload->name);
  fputs(" for the NPU ", out);
  c_plain_text(out, k->tree->arch->name);
  fputs(".  Written by tileflow", out);
  if (k->o->version) fprintf(out, " %s", k->o->version);
  if (k->o->command) fputs(" by\n\n    ", out), c_plain_text(out, k->o->command);
  fputs("\n\n    make simulate    runs kernel.npu in the simulator (TILEFLOW= the command) and compares with a plain "
        "evaluation in double\n\n"
        "`kernel.c`: the program over the intrinsics of `npu.h`; it prints `kernel.npu`, the same in assembler.  After "
        "`make simulate`,\n`simulated.json` has the cycles, and the words of each path.\n",
        out);
  if (k->o->result)
    fprintf(out, "\nPredicted: %.6g cycles, bound by %s.\n", k->o->result->cycles, k->o->result->bottleneck);
}

static const struct {
  const char *name;
  void (*print)(FILE *out, const package *k);
} rows[] = {{"kernel.c", kernel_c}, {"kernel.npu", kernel_npu}, {"npu.h", npu_h},           {"test.c", test_c},
            {"Makefile", makefile}, {"README.md", readme},      {"manifest.json", manifest}};
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

tf_emitted *tf_npu_print(const tf_tree *tree, const tf_emit_options *o, tf_diags *d) {
  ir_machine machine;
  if (!tf_target_npu.machine(o, &machine, d)) return NULL;
  tf_npu *p = npu_compile(tree, d);
  const package k = {tree, o, p};
  tf_emitted *e = p ? print_all(&k) : NULL;
  if (p && !e) tf_fail(d, (tf_loc){0}, TF_E_LIMIT, "out of memory");
  tf_npu_free(p);
  return e;
}
