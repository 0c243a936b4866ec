/* The files of a kernel for the NPU: kernel.c over the intrinsics of npu.h, kernel.npu, the same in assembler, and a
 * test that compares the simulator with a plain evaluation of the workload. */
#include <inttypes.h>
#include <math.h>
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
  npu_terms terms;
  char *rounds;           /* how tiles and slots settle, */
  const tf_tree *settled; /* and on what mapping */
} package;

static void kernel_c(FILE *out, const package *k) { npu_c_text(out, k->p, k->tree->workload->name); }

static void kernel_npu(FILE *out, const package *k) {
  char *text = tf_npu_text(k->p);
  fputs(text ? text : "", out);
  free(text);
}

static void npu_h(FILE *out, const package *k) {
  (void)k;
  npu_c_intrinsics(out);
}

/* ---- the test --------------------------------------------------------------------------------------------------- */
static const char files[] =
    "static int file(const char *path, double *x, long long n, int writes) {\n"
    "  FILE *f = fopen(path, writes ? \"wb\" : \"rb\");\n  size_t done = 0;\n"
    "  if (f) done = writes ? fwrite(x, sizeof *x, (size_t)n, f) : fread(x, sizeof *x, (size_t)n, f);\n"
    "  if (f) fclose(f);\n  if (done == (size_t)n) return 0;\n  fprintf(stderr, \"cannot use '%s'\\n\", path);\n"
    "  return 1;\n}\n\n"
    "static int compare(const char *name, const double *got, const double *want, const double *low, double step,\n"
    "                   long long n, double most) {\n"
    "  double off = 0, norm = 0, spare = 0;\n  for (long long i = 0; i < n; i++) {\n"
    "    const double least = fabs(low[i] - want[i]) + step;\n"
    "    if (isinf(want[i]) && got[i] == want[i]) continue;\n"
    "    if (isfinite(least)) spare += least * least;\n"
    "    off += (got[i] - want[i]) * (got[i] - want[i]);\n    norm += want[i] * want[i];\n  }\n"
    "  const double error = norm > 0 ? sqrt(off / norm) : sqrt(off);\n"
    "  const int alike = error <= most, small = !alike && sqrt(off) <= most * sqrt(norm) + sqrt(spare);\n"
    "  printf(\"%s: error %.2g of the norm%s\\n\", name, error, small ? \", too small for its type\" : \"\");\n"
    "  return !alike && !small;\n}\n\n";

/* What an element may be off however small it is: half of float16's least step for each part in which its sum may pass
 * a memory; others may be 0 below their normal numbers. */
static void step_text(FILE *out, const tf_workload *wl, const tf_tensor *z) {
  const tf_op *op = &wl->ops[z->producer];
  double parts = 1;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    parts *= (double)wl->dims[op->dims[k]].extent;
  if (z->word_bits == 16)
    fprintf(out, "%.9g * 0x1p-25", parts);
  else
    fputs("0x1p-126", out);
}

static void compare(FILE *out, const tf_workload *wl, const tf_tensor *z, bool half) {
  fprintf(out,
          "  {\n    double *got = room(%" PRId64 ", sizeof(double));\n"
          "    bad |= file(\"data/%s.f64\", got, %" PRId64 ", 0) || compare(\"%s\", got, r_%s, %s%s, ",
          tf_tensor_words(z), z->name, tf_tensor_words(z), z->name, z->name, half ? "l_" : "r_", z->name);
  step_text(out, wl, z);
  fprintf(out, ", %" PRId64 ", %s);\n    free(got);\n  }\n", tf_tensor_words(z), half ? "1e-2" : "1e-4");
  if (half) fprintf(out, "  free(l_%s);\n", z->name);
}

static void test_c(FILE *out, const package *k) {
  const tf_workload *wl = k->tree->workload;
  bool half = false;
  for (int z = 0; z < wl->n_tensors; z++)
    half |= wl->tensors[z].word_bits == 16;
  const c_halves halves = half ? C_WORDS_IN_HALF : C_NONE_IN_HALF;
  fputs("/* ./check write: inputs to the folder data; ./check: holds outputs there against the workload evaluated "
        "plainly "
        "in double. */\n",
        out);
  c_reference_head(out, wl, halves);
  fprintf(out,
          "%sint main(int argc, char **argv) {\n  const int writes = argc > 1 && !strcmp(argv[1], \"write\");\n"
          "  int bad = 0;\n",
          files);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    fprintf(out, "  double *r_%s = room(%" PRId64 ", sizeof(double));\n", t->name, tf_tensor_words(t));
    if (t->producer >= 0) continue;
    fprintf(out,
            "  for (long long i = 0; i < %" PRId64 "; i++) r_%s[i] = number((unsigned long long)i, %d);\n"
            "  if (writes) bad |= file(\"data/%s.f64\", r_%s, %" PRId64 ", 1);\n",
            tf_tensor_words(t), t->name, z, t->name, t->name, tf_tensor_words(t));
  }
  fputs("  if (writes) return bad;\n", out);
  c_reference_ops(out, wl, halves);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (t->producer >= 0 && !t->n_consumers) compare(out, wl, t, half);
  }
  for (int z = 0; z < wl->n_tensors; z++)
    fprintf(out, "  free(r_%s);\n", wl->tensors[z].name);
  fputs("  return bad;\n}\n", out);
}

static void makefile(FILE *out, const package *k) {
  (void)k;
  fputs(
      "# make simulate: the simulator runs kernel.npu, ./check compares; kernel.c, run, prints the same without loops, "
      "which\n# takes as long.  TILEFLOW may be set.\n"
      "TILEFLOW ?= tileflow\nCFLAGS ?= -O1\n\n"
      "all: simulate\n"
      "kernel: kernel.c npu.h\n\t$(CC) -std=c17 -O0 -o $@ kernel.c\n"
      "check: test.c\n\t$(CC) -std=c17 $(CFLAGS) -o $@ test.c -lm\n"
      "test: simulate\nsimulate: kernel check\n\tmkdir -p data\n\t./check write\n"
      "\t$(TILEFLOW) npu kernel.npu --data data --json simulated.json\n\t./check\n"
      "\t./kernel >unrolled.npu\n\t$(TILEFLOW) npu unrolled.npu --timing --quiet --json unrolled.json\n"
      "\tcmp simulated.json unrolled.json\n"
      "clean:\n\trm -rf kernel check data simulated.json unrolled.npu unrolled.json\n.PHONY: all test simulate clean\n",
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
    fprintf(out,
            ",\n  \"predicted\": {\"cycles\": %.17g, \"queue\": \"%s\", \"fill\": %.17g, \"busy\": %.17g, \"stall\": "
            "%.17g, \"drain\": %.17g, \"model_cycles\": %.17g, \"bottleneck\": \"%s\"%s}",
            k->terms.cycles, k->p->machine.queue[k->terms.queue], k->terms.fill, k->terms.busy, k->terms.stall,
            k->terms.drain, k->o->result->cycles, k->o->result->bottleneck,
            k->o->result->estimated ? ", \"estimated\": true" : "");
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
        "`kernel.npu`: the program, in assembler.  `kernel.c`: the same over the intrinsics of `npu.h`; run, it prints "
        "its instructions one by one.\nAfter `make simulate`, `simulated.json` has the cycles, and the words of each "
        "path.\n"
        "`schedule.txt`: slots of its places, the tiles that they speak for, and what came of it.\n",
        out);
  if (!k->o->result) return;
  const npu_terms *t = &k->terms;
  fprintf(
      out,
      "\nPredicted: %.6g cycles.  The busiest queue is %s: it begins after %.6g, works for %.6g, waits for %.6g in "
      "between, and\nhas ended %.6g before the end.  By the mapping alone (tileflow eval), without slots and queues: "
      "%s%.6g cycles, bound by %s.\n",
      t->cycles, k->p->machine.queue[t->queue], t->fill, t->busy, t->stall, t->drain,
      k->o->result->estimated ? "about " : "", k->o->result->cycles, k->o->result->bottleneck);
}

/* The schedules of tiles and of buffers, each after the other, from the mapping on. */
static void schedule(FILE *out, const package *k) {
  fprintf(out,
          "# Tiles and slots in turn, from %s (docs/NPU.md).  Of each memory: its tensors, slots x bytes of one.\n%s",
          k->o->settled ? "the mapping that a search found to the kernel's"
                        : "the mapping of this kernel on, which it keeps",
          k->o->settled ? k->o->settled : k->rounds);
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

tf_emitted *tf_npu_print(const tf_target *t, const tf_tree *tree, const tf_emit_options *o, tf_diags *d) {
  ir_machine machine;
  if (!t->machine(o, &machine, d)) return NULL;
  tf_npu *flat = npu_compile(tree, d), *p = flat ? npu_roll(flat) : NULL;
  package k = {.tree = tree, .o = o, .p = p};
  tf_tree *other = NULL;
  bool ok = p && npu_predict(tree, NPU_UNLIMITED, &k.terms, d);
  if (ok && !o->settled) other = npu_settle(tree, &k.rounds, d), ok = other != NULL;
  k.settled = other ? other : tree;
  tf_emitted *e = ok ? print_all(&k) : NULL;
  if (flat && !e) tf_out_of_memory(d);
  tf_npu_free(flat);
  tf_npu_free(p);
  tf_tree_free(other);
  free(k.rounds);
  return e;
}
