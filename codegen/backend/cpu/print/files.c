/* kernel.h and the files that build it: Makefile, CMakeLists.txt, README.md, manifest.json. */
#include "codegen/backend/cpu/print/files.h"

#include "codegen/backend/cpu/expect/expect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/ir/page.h"

static const tf_workload *workload(const c_package *k) { return k->p->tree->workload; }

static const char *c_isa(const c_package *k) {
  return k->n_isas ? "x86-64, the best of several instruction sets chosen at run time"
                   : k->isa->name;
}

static const char *version(const c_package *k) { return k->o->version ? k->o->version : ""; }

static void shape(FILE *out, const c_package *k, const tf_tensor *z, const char *by) {
  if (!z->rank) fputc('1', out);
  for (int i = 0; i < c_n_parts(k, z); i++)
    fprintf(out, "%s%" PRId64, i ? by : "", c_part_length(k, z, i));
}

const char *c_type_name(ir_type t) {
  static const char *const name[] = {
      [IR_F32] = "float32", [IR_BF16] = "bfloat16", [IR_F16] = "float16",
      [IR_F8] = "float8",   [IR_I8] = "int8",       [IR_U8] = "uint8",
      [IR_I16] = "int16",   [IR_I32] = "int32",     [IR_I64] = "int64"};
  return name[t];
}

/* Documentation of element types, and the accuracy of results. */
static const struct {
  const char *hold, *accuracy;
} said[] = {
    [IR_F32] = {"float32",
                "sums in float32, in parts; within 1e-5 of the norm of the outputs, or where terms "
                "of sums cancel, of the\n"
                " * norm of the sums of their absolute values (test.c holds it against double)."},
    [IR_BF16] = {"bfloat16 (the upper half of a float32, as uint16_t)",
                 "inputs as they are, intermediates and sums in float32, rounded to bfloat16 where "
                 "they are stored as outputs\n"
                 " * and where the instruction set multiplies bfloat16; to nearest even.  Within "
                 "1e-2 of the norm of the outputs (test.c holds it)."},
    [IR_F16] = {"float16 (IEEE binary16, as uint16_t)",
                "inputs as they are, intermediates and sums in float32, rounded to float16 where "
                "they are stored as outputs\n"
                " * and where they are multiplied; to nearest even.  Within 2e-3 of the norm of "
                "the outputs (test.c holds it)."},
    [IR_F8] = {"float8 (e4m3, as uint8_t), bfloat16 (as uint16_t) or float32, as said below",
               "inputs as they are, intermediates and sums in float32, rounded where they are "
               "stored as narrower outputs\n"
               " * (float8: at most 448); products of two inputs "
               "are summed by tensor cores,\n"
               " * with fewer bits than float32 has, and on Hopper in parts of 128, which are "
               "added up in float32.  Within 1e-2 of the norm of the outputs (test.c holds it)."},
    [IR_I8] = {"int8, int32 or float32, as said below",
               "products of two inputs are summed in int32 without error; all else in float32, "
               "within 1e-5 of the norm of\n"
               " * the outputs (test.c holds it against double)."},
};

/* States the accuracy of sums, which GPUs do not split into runs. */
static void accuracy(FILE *out, const c_package *k) {
  const ir_platform *p = k->p->platform;
  if (k->p->machine.data == IR_F32 && p && p->maps >> IR_BLOCK & 1)
    fprintf(out,
            "a thread's float32 sums take in one term after the other: n terms of one sign are off "
            "by 3e-8 n of their sum at most,\n"
            " * long sums by more than the %s of the norm of the outputs that test.c allows.\n",
            k->within ? k->within : "1e-5");
  else
    fprintf(out, "%s\n", said[k->p->machine.data].accuracy);
}

/* Prints the coordinates of element 0, unless it is the origin. */
static void begins(FILE *out, const tf_tensor *t) {
  bool origin = true;
  for (int r = 0; r < t->rank; r++)
    origin &= t->lo[r] == 0;
  if (origin) return;
  fputs(", of which element 0 is at coordinate ", out);
  for (int r = 0; r < t->rank; r++)
    fprintf(out, "%s%" PRId64, r ? ", " : "", t->lo[r]);
}

/* Whether the files say in which order the tensor's ranks lie where it lives. */
static bool is_laid(const tf_arch *a, const tf_tensor *z) {
  const tf_laids *laid = &a->memories[tf_arch_home(a, z)].laid;
  bool any = false;
  for (int i = 0; i < laid->n; i++)
    any |= !strcmp(laid->list[i].tensor.name, z->known_as ? z->known_as : z->name);
  return any;
}

/* What indexes rank r of an argument, where it is made or else first read; whole: more is said of
 * it. */
static void index_of(FILE *out, const tf_workload *wl, int z, int r, bool whole) {
  const tf_tensor *t = &wl->tensors[z];
  if (t->producer >= 0) {
    fputs(wl->dims[wl->ops[t->producer].dims[r]].name, out);
    return;
  }
  const tf_op *op = &wl->ops[t->consumers[0]];
  int i = 0;
  while (op->reads[i].tensor != z)
    i++;
  const tf_index *x = &op->reads[i].index[r];
  if (!whole && x->n_terms > 1) fputc('(', out);
  for (int k = 0; k < x->n_terms; k++)
    fprintf(out, "%s%s", k ? " + " : "", wl->dims[x->terms[k].dim].name);
  if (!x->n_terms) fputc('0', out);
  if (!whole && x->n_terms > 1) fputc(')', out);
}

/* The parts of a layout, and the extents of the ranks, if some block is not whole. */
static void blocks(FILE *out, const c_package *k, int z) {
  const tf_tensor *t = &workload(k)->tensors[z];
  const tf_laid *l = c_blocked(k, t);
  bool whole = true;
  for (int i = 0; i < l->n; i++) {
    const tf_laid_part *p = &l->parts[i];
    fputs(i ? ", " : "", out), index_of(out, workload(k), z, p->rank, p->part == TF_LAYOUT_WHOLE);
    if (p->part == TF_LAYOUT_WHOLE) continue;
    fprintf(out, "%c%" PRId64, p->part == TF_LAYOUT_DIV ? '/' : '%', p->by);
    whole &= t->extent[p->rank] % p->by == 0;
  }
  fputc(']', out);
  for (int r = 0; r < t->rank && !whole; r++)
    fprintf(out, r ? " x %" PRId64 : " of %" PRId64, t->extent[r]);
}

static void order(FILE *out, const c_package *k, int z) {
  const tf_tensor *t = &workload(k)->tensors[z];
  if (!is_laid(k->p->tree->arch, t)) return;
  fputs(": [", out);
  if (c_blocked(k, t)) {
    blocks(out, k, z);
    return;
  }
  for (int r = 0; r < t->rank; r++)
    fputs(r ? ", " : "", out), index_of(out, workload(k), z, r, true);
  fputc(']', out);
}

static void argument_fields(FILE *out, const c_package *k, bool inputs) {
  const tf_workload *wl = workload(k);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (!c_is_argument(t) || c_is_input(t) != inputs) continue;
    ir_type type = c_argument_type(k->p, z);
    fprintf(out, "  %s%s *", inputs ? "const " : "", c_type(type)), c_field(out, t->name),
        fputs("; /* ", out);
    shape(out, k, t, " x ");
    order(out, k, z);
    if (type != IR_F32) fprintf(out, ", %s", c_type_name(type));
    begins(out, t);
    fprintf(out, "%s */\n", inputs ? "" : ", written");
    if (c_n_parts(k, t) > 1)
      fputs("  int64_t ", out), c_stride_field(out, t->name),
          fprintf(out, "[%d];\n", c_n_parts(k, t) - 1);
  }
}

static void dense(FILE *out, const c_package *k) {
  const tf_workload *wl = workload(k);
  fprintf(out,
          "\n/* Strides of arrays without gaps%s. */\n"
          "static inline void %s_dense(%s_args *args) {\n  (void)args;\n",
          c_packs(k) ? "; nothing is packed" : "", k->name, k->name);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    int64_t step = 1;
    for (int r = c_n_parts(k, t) - 1; r > 0 && c_is_argument(t); r--) {
      step *= c_part_length(k, t, r);
      fputs("  args->", out), c_stride_field(out, t->name),
          fprintf(out, "[%d] = %" PRId64 ";\n", r - 1, step);
    }
  }
  if (c_packs(k)) fputs("  args->packed = NULL;\n", out);
  fputs("}\n", out);
}

static void packing(FILE *out, const c_package *k) {
  const char *n = k->name;
  fputs("/* Lays out", out);
  for (int i = 0; i < k->p->n_notes; i++)
    fprintf(out, "%s %s", i ? " and" : "", c_packed_tensor(k, i)->name);
  fprintf(
      out,
      " as the kernel reads %s, for many calls with the same: then set args.packed to it.  packed: "
      "%s_packed() bytes,\n"
      " * any alignment that a float has (64 bytes are best).  Reads nothing else of args. */\n"
      "size_t %s_packed(void);\nint %s_pack(const %s_args *args, void *packed, size_t bytes);\n\n",
      k->p->n_notes > 1 ? "them" : "it", n, n, n, n);
}

static const char *spreading(const c_package *k) {
  return ir_has_parallel(&k->p->body)
             ? "\n"
               " * Compiled with OpenMP it spreads its outermost independent loops over "
               "omp_get_max_threads() threads.  After a call, a child of\n"
               " * fork() that calls it may wait forever (GNU's OpenMP does not survive fork): "
               "call it in the parent or in children, or exec."
             : "";
}

static bool has_isa(const c_package *k, const char *name) {
  bool has = !k->n_isas && !strcmp(k->isa->name, name);
  for (int i = 0; i < k->n_isas; i++)
    has |= !strcmp(k->isas[i]->name, name);
  return has;
}

static bool has_exp(const tf_workload *wl) {
  bool any = false;
  for (int o = 0; o < wl->n_ops; o++)
    any |= wl->ops[o].kinds >> TF_K_EXP & 1;
  return any;
}

/* Documents infinities, NaN and subnormal numbers. */
static void ends_of_range(FILE *out, const c_package *k) {
  fputs(" * Infinities and NaN go through sums, products and functions as IEEE 754 has it.  max "
        "and min, max= and min= and relu are C's fmax\n"
        " * and fmin: of a number and NaN they give the number (max= of NaN alone gives -inf); "
        "select takes NaN for true.\n",
        out);
  if (has_exp(workload(k)))
    fputs(" * exp of what is below -87.3365 is 0, not a subnormal number (below 1.2e-38); of an "
          "element less the maximum of its row,\n"
          " * as in softmax, 0 below -69.3147 (7.9e-31).\n",
          out);
  if (ir_has(&k->p->body, IR_DIVIDE))
    fputs(" * Rows are divided by their sum behind the product they go through, so that there "
          "values above 3.4e38 / (length of a row) may overflow.\n",
          out);
  if (k->p->machine.data == IR_BF16 && (has_isa(k, "avx512_bf16") || has_isa(k, "amx")))
    fprintf(out,
            " * Products of bfloat16 in AVX512-BF16 and AMX%s take subnormal numbers (below "
            "1.2e-38) as 0, and give 0 for subnormal\n"
            " * sums; the other instruction sets keep them.\n",
            k->n_isas ? ", where they are chosen," : "");
  if (k->tiles && has_isa(k, "sme"))
    fputs(" * SME: Linux, and vectors in streaming mode as long as the kernel was made for; a call "
          "has the tiles to itself: what its caller\n"
          " * left in them is saved where TPIDR2_EL0 says, as Arm's ABI asks.\n",
          out);
  else if (k->tiles)
    fputs(" * AMX: a call sets the tiles as it needs them and releases them; what the caller had "
          "in tiles or in their configuration is lost.\n",
          out);
}

static const char in_blocks[] =
    " * Of some arrays, ranks are cut in blocks: [m/16, k, m%16] is row-major over m / 16, k and m "
    "% "
    "16, and NAME_stride has the steps of\n"
    " * all these but the last.  Where a rank ends within its last block, what is behind it is not "
    "read of inputs, and made 0 in outputs.\n"
    " * Each call brings such arrays into rows, and outputs back, in its workspace: laid.c around "
    "the kernel of rows.h.\n"
    " *\n";

void c_kernel_h_begin(FILE *out, const c_package *k) {
  const char *n = k->name;
  fprintf(out, "/* %s: ", n), c_plain_text(out, workload(k)->name);
  fprintf(out,
          ", fused.  Written by tileflow; README.md says how.\n"
          " *\n"
          " * Arrays hold %s, row-major: neighbours along the last rank are neighbours in memory, "
          "and NAME_stride[r] is\n"
          " * the step of rank r in elements (fill them with %s_dense where there are no gaps).  "
          "No alignment is asked\n"
          " * for.  Outputs may not overlap inputs.\n"
          " *\n"
          "%s"
          " * Re-entrant: no state outlives a call, and calls with their own outputs and "
          "workspaces may run at once.%s\n"
          " * Accuracy: ",
          said[k->p->machine.data].hold, n, k->blocked ? in_blocks : "", spreading(k));
  accuracy(out, k);
  ends_of_range(out, k);
  fprintf(
      out,
      " */\n"
      "#ifndef TILEFLOW_%s_H\n#define TILEFLOW_%s_H\n#include <stddef.h>\n#include <stdint.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
      n, n);
  fputs("typedef struct {\n", out);
  argument_fields(out, k, true);
  argument_fields(out, k, false);
  if (c_packs(k))
    fprintf(out, "  const void *packed; /* what %s_pack wrote; NULL: laid out in each call */\n",
            n);
  fprintf(out, "} %s_args;\n", n);
  dense(out, k);
  fprintf(out,
          "\nenum {\n  %s_done = 0,\n  %s_bad_argument = -1,    /* a pointer is NULL */\n"
          "  %s_small_workspace = -2, /* bytes < %s_workspace() */\n  %s_no_memory = -3,\n"
          "  %s_no_tiles = -4, /* the system or the computer has no tiles (AMX, SME) as the kernel "
          "needs them */\n"
          "  %s_no_isa = -5%s    /* the computer cannot run the instructions that it was compiled "
          "to (%s) */\n",
          n, n, n, n, n, n, n, c_has_sparse(k->p) ? "," : "", c_isa(k));
  if (c_has_sparse(k->p))
    fprintf(
        out,
        "  %s_bad_pattern = -6 /* more elements of an argument are not zero than there may be */\n",
        n);
  fprintf(out,
          "};\n\n"
          "/* Bytes of workspace a call needs now (with OpenMP: for the threads it may use). */\n"
          "size_t %s_workspace(void);\n\n"
          "/* Computes the outputs.  workspace: that many bytes, any alignment, nothing in it "
          "before or after; NULL: the call\n"
          " * allocates and frees them. */\n"
          "int %s(const %s_args *args, void *workspace, size_t bytes);\n\n",
          n, n, n);
  if (c_packs(k)) packing(out, k);
  if (c_has_sparse(k->p) && !k->blocked) c_misfit_h(out, k);
  if (k->n_isas) c_chooser_h(out, k);
}

void c_kernel_h_end(FILE *out) { fputs("#ifdef __cplusplus\n}\n#endif\n#endif\n", out); }

void c_kernel_h(FILE *out, const c_package *k) {
  c_kernel_h_begin(out, k);
  c_kernel_h_end(out);
}

/* The header of the kernel itself. */
static const char *header(const c_package *k) { return k->blocked ? "rows" : "kernel"; }

/* One rule for each instruction set, and the names of the objects. */
static void objects(FILE *out, const c_package *k, bool rules) {
  for (int i = 0; i < k->n_isas; i++) {
    const char *isa = k->isas[i]->name;
    if (rules)
      fprintf(out,
              "kernel_%s.o: kernel_%s.c %s.h parts_%s.h\n\t$(CC) $(ALL) %s -c -o $@ kernel_%s.c\n",
              isa, isa, header(k), isa, k->isas[i]->flags, isa);
    else
      fprintf(out, " kernel_%s.o", isa);
  }
}

void c_makefile(FILE *out, const c_package *k) {
  const bool several = k->n_isas > 0;
  fprintf(out,
          "# make, make test, make bench; CFLAGS, OPENMP (OPENMP= for one thread) and RUN, which "
          "the test runs under, may be set.\n"
          "# ANY: for any computer, so that test and bench can say what theirs lacks.\n"
          "CFLAGS ?= -O3\nOPENMP ?= -fopenmp\nANY = -std=c17 $(CFLAGS) $(OPENMP)\n"
          "ALL = %s%s$(ANY)\nLIBS = %s%s-lm\n"
          "OBJECTS = kernel.o%s",
          several ? "" : k->isa->flags, several || !*k->isa->flags ? "" : " ", k->source->libraries,
          *k->source->libraries ? " " : "", k->blocked ? " laid.o" : "");
  objects(out, k, false);
  fprintf(out,
          "\n\nall: libkernel.a test bench\n"
          "libkernel.a: $(OBJECTS)\n\t$(AR) rcs $@ $(OBJECTS)\n"
          "kernel.o: kernel.c %s.h%s\n\t$(CC) $(ALL) -c -o $@ kernel.c\n",
          header(k), several ? "" : " parts.h");
  if (k->blocked) fputs("laid.o: laid.c kernel.h rows.h\n\t$(CC) $(ANY) -c -o $@ laid.c\n", out);
  objects(out, k, true);
  fputs("test: test.c $(OBJECTS)\n\t$(CC) $(ANY) -o $@ test.c $(OBJECTS) $(LIBS)\n\t$(RUN) ./test\n"
        "bench: bench.c $(OBJECTS)\n\t$(CC) $(ANY) -o $@ bench.c $(OBJECTS) $(LIBS)\n"
        "clean:\n\trm -f $(OBJECTS) libkernel.a test bench\n"
        ".PHONY: all clean test\n",
        out);
}

static void cmake_flags(FILE *out, const char *flags) {
  for (const char *f = flags; *f; f++)
    fputc(*f == ' ' ? ';' : *f, out);
}

void c_cmake(FILE *out, const c_package *k) {
  fprintf(out,
          "cmake_minimum_required(VERSION 3.18)\nproject(%s LANGUAGES C)\n"
          "if(NOT CMAKE_BUILD_TYPE)\n  set(CMAKE_BUILD_TYPE Release)\nendif()\n"
          "add_library(%s STATIC kernel.c%s",
          k->name, k->name, k->blocked ? " laid.c" : "");
  for (int i = 0; i < k->n_isas; i++)
    fprintf(out, " kernel_%s.c", k->isas[i]->name);
  fprintf(out,
          ")\ntarget_compile_features(%s PUBLIC c_std_17)\n"
          "target_include_directories(%s PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\n",
          k->name, k->name);
  for (int i = 0; i < k->n_isas; i++) {
    fprintf(out, "set_source_files_properties(kernel_%s.c PROPERTIES COMPILE_OPTIONS \"",
            k->isas[i]->name);
    cmake_flags(out, k->isas[i]->flags);
    fputs("\")\n", out);
  }
  if (!k->n_isas && *k->isa->flags) {
    if (k->blocked)
      fputs("set_source_files_properties(kernel.c PROPERTIES COMPILE_OPTIONS \"", out);
    else
      fprintf(out, "target_compile_options(%s PRIVATE ", k->name);
    cmake_flags(out, k->isa->flags);
    fputs(k->blocked ? "\")\n" : ")\n", out);
  }
  if (*k->source->cmake)
    fprintf(out,
            "find_library(MICRO %s REQUIRED)\nfind_library(BLAS blas REQUIRED)\n"
            "target_link_libraries(%s PUBLIC ${MICRO} ${BLAS} ${CMAKE_DL_LIBS} pthread m)\n",
            k->source->cmake, k->name);
  fprintf(out,
          "find_package(OpenMP COMPONENTS C)\nif(OpenMP_C_FOUND)\n"
          "  target_link_libraries(%s PUBLIC OpenMP::OpenMP_C)\nendif()\n"
          "foreach(program test bench)\n  add_executable(%s_${program} ${program}.c)\n"
          "  target_link_libraries(%s_${program} PRIVATE %s m)\nendforeach()\n"
          "enable_testing()\nadd_test(NAME %s COMMAND %s_test)\n",
          k->name, k->name, k->name, k->name, k->name, k->name);
}

/* How the kernel is replaced while the program runs. */
static void readme_live(FILE *out, const c_package *k) {
  if (!k->o->live) return;
  fprintf(out,
          "## While better ones are looked for\n\n    #include \"live.h\"\n    ...\n"
          "    %s_live *live = %s_live_open(\"this folder\", 1);\n"
          "    if (%s_live_run(live, &args) != %s_done) ...\n\n"
          "    make -f live.mk && cc -o program program.c liblive.a -fopenmp -lm -ldl -pthread\n\n"
          "`tileflow tune` with `--serve` and this folder then gives the program each faster "
          "kernel as it is found (`live.h`).\n"
          "\n",
          k->name, k->name, k->name, k->name);
}

static void readme_measured(FILE *out, const c_package *k) {
  if (!k->o->n_measured) return;
  fprintf(out,
          "\n## Measured\n\n"
          "The fastest of %d kernels of the model's best mappings, timed where these files were "
          "written: what a caller waits\n"
          "for, by the clock (of kernels of one thread by its processor time, which is the same "
          "where nothing else runs); the least of three\n"
          "medians.  `make bench && ./bench` repeats it.\n\n"
          "| model's rank | predicted, us | measured, us |\n|--:|--:|--:|\n",
          k->o->n_measured);
  for (int i = 0; i < k->o->n_measured; i++) {
    const tf_measured *m = &k->o->measured[i];
    fprintf(out, "| %d | %.6g | ", m->rank, m->predicted * 1e6);
    if (m->measured < 0)
      fputs("failed |\n", out);
    else
      fprintf(out, "%.6g%s |\n", m->measured * 1e6, i == k->o->chosen ? " (this one)" : "");
  }
}

/* An example of a call, and the command that links it. */
static void readme_call(FILE *out, const c_package *k) {
  const tf_workload *wl = workload(k);
  fprintf(out, "## In a program\n\n    #include \"kernel.h\"\n    ...\n    %s_args args = {",
          k->name);
  const char *sep = "";
  for (int z = 0; z < wl->n_tensors; z++) {
    if (!c_is_argument(&wl->tensors[z])) continue;
    fprintf(out, "%s.", sep), c_field(out, wl->tensors[z].name), fputs(" = ", out),
        c_field(out, wl->tensors[z].name);
    sep = ", ";
  }
  fprintf(out,
          "};\n    %s_dense(&args); /* no gaps between rows */\n"
          "    if (%s(&args, NULL, 0) != %s_done) ...\n\n"
          "    make libkernel.a && cc -o program program.c libkernel.a -fopenmp -lm%s%s\n\n",
          k->name, k->name, k->name, *k->source->libraries ? " " : "", k->source->libraries);
}

void c_readme(FILE *out, const c_package *k) {
  const tf_workload *wl = workload(k);
  const char *linked = k->source->libraries;
  fprintf(out, "# %s\n\n", k->name), c_plain_text(out, wl->name);
  fprintf(out, " as one fused kernel for %s (data: %s).  Written by tileflow %s", c_isa(k),
          c_type_name(k->p->machine.data), version(k));
  if (k->o->command)
    fputs(" by\n\n    ", out), c_plain_text(out, k->o->command), fputc('\n', out);
  else
    fputs(".\n", out);
  fputs("\n    make test     compiles, runs, compares with a plain evaluation in double\n"
        "    make bench    compiles; ./bench times it, by the clock, and says how many threads it "
        "has and their processor time\n"
        "\n"
        "`kernel.h` says what the arguments are.\n\n",
        out);
  if (*linked)
    fprintf(out,
            "Products of float32 come from %s, where it has them: link with `%s`.  It keeps the "
            "code it makes for all of the\n"
            "process; calls may still run at once.\n\n",
            k->source->name, linked);
  readme_call(out, k);
  readme_live(out, k);
  fputs("## Mapping\n\n", out);
  c_mapping_block(out, k->p->tree);
  if (k->o->result)
    fputs("\n## Prediction\n\nOn ", out), c_plain_text(out, k->p->tree->arch->name),
        fprintf(out, ": %s%.6g cycles, %.6g us; %" PRId64 " points; bound by %s.\n",
                k->o->result->estimated ? "about " : "", k->o->result->cycles,
                k->o->result->seconds * 1e6, k->o->result->points, k->o->result->bottleneck);
  int bits = 8 * ir_bytes(k->p->machine.data);
  if (k->o->result && k->p->tree->arch->word_bits != bits)
    fprintf(out, "It counts words of %d bits; the kernel's inputs have %d.\n",
            k->p->tree->arch->word_bits, bits);
  if (k->o->result && tf_workload_masked(wl))
    fprintf(out, "%" PRId64 " points are left out, in steps that the mask leaves nothing of.\n",
            k->o->result->skipped);
  readme_measured(out, k);
  if (k->blocked)
    fputs("\n## Blocks\n\nSome arguments lie in blocks (`kernel.h`): each call brings them into "
          "rows, and outputs back.\n`rows.h` is the kernel without that.\n",
          out);
  fprintf(out, "\n## Workspace\n\n%" PRId64 " words", k->shared);
  if (k->per_thread) fprintf(out, ", and %" PRId64 " for each thread", k->per_thread);
  fputs(".\n", out);
  if (c_packs(k) && k->needed)
    fprintf(out,
            "\n%" PRId64 " of them are for weights as the kernel reads them, laid out in each "
            "call.  For many calls with the same weights, `%s_pack`\n"
            "does it once.\n",
            k->needed, k->name);
  else if (c_packs(k))
    fprintf(
        out,
        "\nWeights that stay the same can be laid out once, as the kernel reads them: `%s_pack`.\n",
        k->name);
}

static void manifest_tensors(FILE *out, const c_package *k) {
  const tf_workload *wl = workload(k);
  bool any = false;
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (!c_is_argument(t)) continue;
    fprintf(out,
            "%s\n"
            "    {\"name\": \"%s\", \"role\": \"%s\", \"type\": \"%s\", \"layout\": \"",
            any ? "," : "", t->name, c_is_input(t) ? "input" : "output",
            c_type_name(c_argument_type(k->p, z)));
    if (c_blocked(k, t))
      fputc('[', out), blocks(out, k, z);
    else
      fputs("row-major", out);
    fputs("\", \"shape\": [", out);
    for (int i = 0; i < c_n_parts(k, t); i++)
      fprintf(out, "%s%" PRId64, i ? ", " : "", c_part_length(k, t, i));
    fputs("]}", out);
    any = true;
  }
}

static void manifest_counts(FILE *out, const c_package *k) {
  const tf_result *r = k->o->result;
  const tf_arch *a = k->p->tree->arch;
  fputs(",\n  \"predicted\": {\"architecture\": ", out), c_json_text(out, a->name);
  fprintf(out, ", \"cycles\": %.17g, \"seconds\": %.17g, \"points\": %" PRId64 ", \"levels\": [",
          r->cycles, r->seconds, r->points);
  for (int l = 0; l < a->n_memories; l++) {
    tf_counts sum = {0};
    for (int z = 0; z < workload(k)->n_tensors; z++) {
      const tf_counts *c = &r->counts[l * workload(k)->n_tensors + z];
      sum.fill += c->fill, sum.read += c->read, sum.update += c->update, sum.drain += c->drain;
    }
    fprintf(out,
            "%s\n    {\"name\": \"%s\", \"fill\": %" PRId64 ", \"read\": %" PRId64
            ", \"update\": %" PRId64 ", \"drain\": %" PRId64 "}",
            l ? "," : "", a->memories[l].name, sum.fill, sum.read, sum.update, sum.drain);
  }
  fputs("\n  ]", out);
  if (tf_workload_masked(workload(k))) fprintf(out, ", \"skipped\": %" PRId64, r->skipped);
  if (r->estimated) fputs(", \"estimated\": true", out);
  fputc('}', out);
}

static void manifest_measured(FILE *out, const c_package *k) {
  const tf_measured *all = k->o->measured;
  if (!k->o->n_measured) return;
  fprintf(out,
          ",\n"
          "  \"measured\": {\"rank\": %d, \"predicted_seconds\": %.9g, \"seconds\": %.9g, "
          "\"kernels\": [",
          all[k->o->chosen].rank, all[k->o->chosen].predicted, all[k->o->chosen].measured);
  for (int i = 0; i < k->o->n_measured; i++) {
    fprintf(out, "%s\n    {\"rank\": %d, \"predicted_seconds\": %.9g, \"seconds\": ", i ? "," : "",
            all[i].rank, all[i].predicted);
    if (all[i].measured < 0)
      fputs("null}", out);
    else
      fprintf(out, "%.9g}", all[i].measured);
  }
  fputs("\n  ]}", out);
}

void c_manifest_begin(FILE *out, const c_package *k, const char *target, const char *isa) {
  fprintf(out, "{\n  \"tileflow\": \"%s\",\n  \"target\": \"%s\",\n", version(k), target);
  if (isa) fprintf(out, "  \"isa\": \"%s\",\n", isa);
  fprintf(out, "  \"dtype\": \"%s\",\n", k->o->dtype ? k->o->dtype : "f32");
  if (isa) fprintf(out, "  \"micro\": \"%s\",\n", k->source->name);
  fprintf(out, "  \"entry\": \"%s\",\n  \"workload\": ", k->name);
  c_json_text(out, workload(k)->name);
}

void c_manifest_end(FILE *out, const c_package *k) {
  char *mapping = tf_tree_text(k->p->tree);
  fputs(",\n  \"tensors\": [", out);
  manifest_tensors(out, k);
  if (k->n_isas) fputs("\n  ],\n  \"isas\": [", out);
  for (int i = 0; i < k->n_isas; i++)
    fprintf(out, "%s\"%s\"", i ? ", " : "", k->isas[i]->name);
  fputs("\n  ],\n  \"mapping\": ", out);
  c_json_text(out, mapping ? mapping : "");
  free(mapping);
  if (k->o->result) manifest_counts(out, k);
  manifest_measured(out, k);
  fputs("\n}\n", out);
}

/* The time that a call is expected to take, in parts. */
static void manifest_expected(FILE *out, const c_package *k) {
  double part[CPU_EXPECT_PARTS];
  tf_expected e;
  if (!cpu_expected(k->p, k->isa, k->o->result, &e) ||
      !cpu_expect_parts(k->p, k->isa, k->o->result, part))
    return;
  const double cycles = tf_expected_cycles(&e, 0);
  fprintf(out, ",\n  \"kernel_cycles\": %.6g,\n  \"kernel_seconds\": %.6g,\n  \"kernel_parts\": {",
          cycles, cycles / k->p->tree->arch->clock_hz);
  bool any = false;
  for (int i = 0; i < CPU_EXPECT_PARTS; i++)
    if (part[i] > 0)
      fprintf(out, "%s\"%s\": %.6g", any ? ", " : "", cpu_expect_names[i], part[i]), any = true;
  fputc('}', out);
  if (e.unsure) fprintf(out, ",\n  \"kernel_unsure\": \"%s\"", e.unsure);
}

void c_manifest(FILE *out, const c_package *k) {
  c_manifest_begin(out, k, "cpu", k->n_isas ? "multi" : k->isa->name);
  fprintf(out, ",\n  \"workspace_words\": %" PRId64 ",\n  \"workspace_words_per_thread\": %" PRId64,
          k->shared, k->per_thread);
  if (k->o->result && k->o->result->counts) manifest_expected(out, k);
  c_manifest_end(out, k);
}
