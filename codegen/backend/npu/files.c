/* The files of a folder for the NPU, of one kernel or of a network: the program in assembler,
 * NAME.npu, and over the intrinsics of npu.h, NAME.c; a test that compares the simulator with a
 * plain evaluation. */
#include "codegen/backend/npu/files.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/cpu/print/files.h"
#include "codegen/backend/npu/text/asm.h"
#include "codegen/ir/page.h"

void npu_files_c(FILE *out, const npu_folder *k) { npu_c_text(out, k->p, k->wl->name); }

void npu_files_npu(FILE *out, const npu_folder *k) {
  char *text = tf_npu_text(k->p);
  fputs(text ? text : "", out);
  free(text);
}

void npu_files_h(FILE *out, const npu_folder *k) {
  (void)k;
  npu_c_intrinsics(out);
}

/* ---- the test ------------------------------------------------------------------------------- */
static const char files[] =
    "static int file(const char *path, double *x, long long n, int writes) {\n"
    "  FILE *f = fopen(path, writes ? \"wb\" : \"rb\");\n  size_t done = 0;\n"
    "  if (f) done = writes ? fwrite(x, sizeof *x, (size_t)n, f) : fread(x, sizeof *x, (size_t)n, "
    "f);\n"
    "  if (f) fclose(f);\n  if (done == (size_t)n) return 0;\n  fprintf(stderr, \"cannot use "
    "'%s'\\n\", path);\n"
    "  return 1;\n}\n\n"
    "static int compare(const char *name, const double *got, const double *want, const double "
    "*low, double step,\n"
    "                   long long n, double most) {\n"
    "  double off = 0, norm = 0, spare = 0;\n  for (long long i = 0; i < n; i++) {\n"
    "    const double least = fabs(low[i] - want[i]) + step;\n"
    "    if ((isinf(want[i]) && got[i] == want[i]) || (isnan(want[i]) && isnan(got[i]))) "
    "continue;\n"
    "    if (isfinite(least)) spare += least * least;\n"
    "    off += (got[i] - want[i]) * (got[i] - want[i]);\n    norm += want[i] * want[i];\n  }\n"
    "  const double error = norm > 0 ? sqrt(off / norm) : sqrt(off);\n"
    "  const int alike = error <= most, small = !alike && sqrt(off) <= most * sqrt(norm) + "
    "sqrt(spare);\n"
    "  printf(\"%s: error %.2g of the norm%s\\n\", name, error, small ? \", too small for its "
    "type\" : \"\");\n"
    "  return !alike && !small;\n}\n\n";

/* The absolute tolerance of an element: half of float16's least step for each part in which its sum
 * may pass a memory; below the normal range of other types an element may be 0. */
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

static const char *file_of(const npu_folder *k, const tf_tensor *z) {
  return k->file ? k->file[z - k->wl->tensors] : z->name;
}

static void compare(FILE *out, const npu_folder *k, const tf_tensor *z, bool half) {
  fprintf(out,
          "  {\n    double *got = room(%" PRId64 ", sizeof(double));\n"
          "    bad |= file(\"data/%s.f64\", got, %" PRId64
          ", 0) || compare(\"%s\", got, r_%s, %s%s, ",
          tf_tensor_words(z), file_of(k, z), tf_tensor_words(z), z->name, z->name,
          half ? "l_" : "r_", z->name);
  step_text(out, k->wl, z);
  fprintf(out, ", %" PRId64 ", %.3g);\n    free(got);\n  }\n", tf_tensor_words(z),
          npu_within(k->wl, k->links));
  if (half) fprintf(out, "  free(l_%s);\n", z->name);
}

static bool has_halves(const tf_workload *wl) {
  bool half = false;
  for (int z = 0; z < wl->n_tensors; z++)
    half |= wl->tensors[z].word_bits == 16;
  return half;
}

double npu_within(const tf_workload *wl, int links) {
  const double most = has_halves(wl) ? 1e-2 : 1e-4;
  return links > 1 ? fmin(0.2, most / 2 * fmax(2, sqrt(links))) : most;
}

/* The divisor of input z's numbers. If all numbers of a network are positive, its sums of products
 * would exceed float16 after some layers: dividing the last input of each such sum turns it into a
 * mean. */
static int64_t divisor(const npu_folder *k, int z) {
  const tf_tensor *t = &k->wl->tensors[z];
  int64_t by = 1;
  for (int i = 0; i < t->n_consumers && k->links > 1 && c_numbers_grow(k->wl); i++) {
    const tf_op *op = &k->wl->ops[t->consumers[i]];
    int64_t terms = 1, power = 1;
    int last = -1;
    for (int r = 0; r < op->n_reads; r++)
      if (k->wl->tensors[op->reads[r].tensor].producer < 0) last = op->reads[r].tensor;
    for (int d = op->n_out_dims; d < op->n_dims; d++)
      terms *= k->wl->dims[op->dims[d]].extent;
    while (power < terms)
      power *= 2;
    if (last == z && op->n_reads > 1 && op->reduce == TF_REDUCE_ADD && power > by) by = power;
  }
  return by;
}

static void inputs(FILE *out, const npu_folder *k) {
  const tf_workload *wl = k->wl;
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (t->view_of) continue;
    fprintf(out, "  double *r_%s = room(%" PRId64 ", sizeof(double));\n", t->name,
            tf_tensor_words(t));
    if (t->producer >= 0) continue;
    fprintf(out,
            "  for (long long i = 0; i < %" PRId64
            "; i++) r_%s[i] = number((unsigned long long)i, %d)",
            tf_tensor_words(t), t->name, z);
    if (divisor(k, z) > 1) fprintf(out, " / %" PRId64, divisor(k, z));
    fprintf(out, ";\n  if (writes) bad |= file(\"data/%s.f64\", r_%s, %" PRId64 ", 1);\n",
            file_of(k, t), t->name, tf_tensor_words(t));
  }
  for (int z = 0; z < wl->n_tensors; z++)
    if (wl->tensors[z].view_of)
      fprintf(out, "  double *r_%s = r_%s;\n", wl->tensors[z].name,
              wl->tensors[wl->tensors[z].view_of - 1].name);
}

void npu_files_test(FILE *out, const npu_folder *k) {
  const tf_workload *wl = k->wl;
  const bool half = has_halves(wl);
  const c_halves halves = half ? C_WORDS_IN_HALF : C_NONE_IN_HALF;
  fputs("/* ./check write: inputs to the folder data; ./check: holds outputs there against the "
        "workload evaluated plainly in double. */\n",
        out);
  c_reference_head(out, wl, halves);
  fprintf(out,
          "%sint main(int argc, char **argv) {\n"
          "  const int writes = argc > 1 && !strcmp(argv[1], \"write\");\n"
          "  int bad = 0;\n",
          files);
  inputs(out, k);
  fputs("  if (writes) return bad;\n", out);
  c_reference_ops(out, wl, halves);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (t->producer >= 0 && !t->n_consumers && !t->view_of) compare(out, k, t, half);
  }
  for (int z = 0; z < wl->n_tensors; z++)
    if (!wl->tensors[z].view_of) fprintf(out, "  free(r_%s);\n", wl->tensors[z].name);
  fputs("  return bad;\n}\n", out);
}

void npu_files_make(FILE *out, const npu_folder *k) {
  const char *n = k->name;
  fprintf(out,
          "# make simulate: the simulator runs %s.npu, ./check compares; %s.c, run, prints the "
          "same without loops, which\n"
          "# takes as long.  TILEFLOW may be set.\n"
          "TILEFLOW ?= tileflow\nCFLAGS ?= -O1\n\n"
          "all: simulate\n"
          "%s: %s.c npu.h\n\t$(CC) -std=c17 -O0 -o $@ %s.c\n"
          "check: test.c\n\t$(CC) -std=c17 $(CFLAGS) -o $@ test.c -lm\n",
          n, n, n, n, n);
  fprintf(
      out,
      "test: simulate\nsimulate: %s check\n\tmkdir -p data\n\t./check write\n"
      "\t$(TILEFLOW) npu %s.npu --data data --json simulated.json\n\t./check\n"
      "\t./%s >unrolled.npu\n\t$(TILEFLOW) npu unrolled.npu --timing --quiet --json unrolled.json\n"
      "\tcmp simulated.json unrolled.json\n"
      "clean:\n\trm -rf %s check data simulated.json unrolled.npu unrolled.json\n"
      ".PHONY: all test simulate clean\n",
      n, n, n, n);
}

/* ---- documentation -------------------------------------------------------------------------- */
void npu_files_begin_manifest(FILE *out, const npu_folder *k) {
  fprintf(out,
          "{\n  \"tileflow\": \"%s\",\n  \"target\": \"npu\",\n  \"entry\": \"%s.npu\",\n"
          "  \"workload\": ",
          k->o->version ? k->o->version : "", k->name);
  c_json_text(out, k->wl->name);
  fputs(",\n  \"machine\": ", out);
  c_json_text(out, k->arch->name);
  fputs(",\n  \"tensors\": [", out);
  for (int i = 0; i < k->p->n_tensors; i++) {
    const npu_tensor *t = &k->p->tensor[i];
    fprintf(out,
            "%s\n    {\"name\": \"%s\", \"type\": \"%s\", \"words\": %" PRId64
            ", \"input\": %s, \"output\": %s}",
            i ? "," : "", t->name, npu_type_name(t->type), t->words, t->in ? "true" : "false",
            t->out ? "true" : "false");
  }
  fputs("\n  ]", out);
}

void npu_files_begin_readme(FILE *out, const npu_folder *k) {
  fprintf(out, "# %s\n\n", k->name);
  c_plain_text(out, k->wl->name);
  fputs(" for the NPU ", out);
  c_plain_text(out, k->arch->name);
  fputs(".  Written by tileflow", out);
  if (k->o->version) fprintf(out, " %s", k->o->version);
  if (k->o->command) fputs(" by\n\n    ", out), c_plain_text(out, k->o->command);
  fprintf(out,
          "\n\n"
          "    make simulate    runs %s.npu in the simulator (TILEFLOW= the command) and compares "
          "with a plain evaluation in double\n"
          "\n"
          "`%s.npu`: the program, in assembler.  `%s.c`: the same over the intrinsics of `npu.h`; "
          "run, it prints its instructions one by one.\n"
          "After `make simulate`, `simulated.json` has the cycles, and the words of each path.\n",
          k->name, k->name, k->name);
}

void npu_files_queue(FILE *out, const npu_folder *k, const npu_terms *t) {
  fprintf(out,
          "\n"
          "Predicted: %.6g cycles.  The busiest queue is %s: it begins after %.6g, works for %.6g, "
          "waits for %.6g in between, and\n"
          "has ended %.6g before the end.",
          t->cycles, k->p->machine.queue[t->queue], t->fill, t->busy, t->stall, t->drain);
}

void npu_files_terms(FILE *out, const npu_folder *k, const npu_terms *t) {
  fprintf(out,
          ",\n"
          "  \"predicted\": {\"cycles\": %.17g, \"queue\": \"%s\", \"fill\": %.17g, \"busy\": "
          "%.17g, \"stall\": %.17g, \"drain\": %.17g",
          t->cycles, k->p->machine.queue[t->queue], t->fill, t->busy, t->stall, t->drain);
}
