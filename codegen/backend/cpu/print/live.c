/* live.h, live.c, try.c and live.mk with the kernel's name in place of "kernel"; live_entry.c: a
 * table of its functions; live_tensors.h: the arrays that try.c fills. */
#include "codegen/backend/cpu/print/live.h"

#include <inttypes.h>
#include <string.h>

static const tf_workload *workload(const c_package *k) { return k->p->tree->workload; }

/* Prints a text of codegen/backend/cpu/live with C_NAME for "kernel" where that begins an
 * identifier or is called. */
static void named(FILE *out, const char *text) {
  static const char word[] = "kernel";
  const char *at = text, *next;
  while ((next = strstr(at, word)) != NULL) {
    const char *end = next + sizeof word - 1;
    const bool is_name = *end == '_' || *end == '(';
    fprintf(out, "%.*s%s", (int)(next - at), at, is_name ? C_NAME : word);
    at = end;
  }
  fputs(at, out);
}

static void print_header(FILE *out, const c_package *k) { (void)k, named(out, tf_live_h); }
static void print_runtime(FILE *out, const c_package *k) { (void)k, named(out, tf_live_c); }
static void print_trial(FILE *out, const c_package *k) { (void)k, named(out, tf_live_try); }
static void print_makefile(FILE *out, const c_package *k) { (void)k, fputs(tf_live_mk, out); }

/* Names, types and extents of all arguments: versions are compatible if these texts are equal. */
static void arguments(FILE *out, const c_package *k) {
  const tf_workload *wl = workload(k);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (!c_is_argument(t)) continue;
    fprintf(out, "    \"%s %s %s", c_is_input(t) ? "in" : "out", t->name,
            c_type_name(c_argument_type(k->p, z)));
    for (int r = 0; r < t->rank; r++)
      fprintf(out, " %" PRId64, t->extent[r]);
    fputs(";\"\n", out);
  }
}

static void print_entry(FILE *out, const c_package *k) {
  const char *n = k->name;
  const bool packs = c_packs(k);
  fputs("/* The kernel as the table through which it is called where it may be replaced (live.h). "
        "*/\n"
        "#include <stddef.h>\n#include <string.h>\n\n#include \"live.h\"\n\n",
        out);
  fputs("/* The caller's arguments end with `packed`, or have none: what is before it is the same "
        "in all versions. */\n",
        out);
  fprintf(out,
          packs ? "enum { SAME = offsetof(%s_args, packed) };\n\n"
                : "enum { SAME = sizeof(%s_args) };\n\n",
          n);
  fprintf(out,
          "static int run(const void *from, const void *packed, void *workspace, size_t bytes) {\n"
          "  %s_args args;\n"
          "  memset(&args, 0, sizeof args);\n  memcpy(&args, from, SAME);\n"
          "%s  return %s(&args, workspace, bytes);\n}\n\n",
          n, packs ? "  args.packed = packed;\n" : "  (void)packed;\n", n);
  if (packs)
    fprintf(out,
            "static int pack(const void *from, void *packed, size_t bytes) {\n  %s_args args;\n"
            "  memset(&args, 0, sizeof args);\n  memcpy(&args, from, SAME);\n"
            "  return %s_pack(&args, packed, bytes);\n}\n\n",
            n, n);
  else
    fputs("static size_t packed_bytes(void) { return 0; }\n\n"
          "static int pack(const void *from, void *packed, size_t bytes) {\n"
          "  (void)from;\n  (void)packed;\n"
          "  (void)bytes;\n  return 0;\n}\n\n",
          out);
  fprintf(out,
          "#if defined(LIVE_NEXT)\n#define TABLE %s_live_next\nextern const %s_live_table TABLE;\n"
          "__attribute__((visibility(\"default\")))\n#else\n#define TABLE %s_live_own\n#endif\n"
          "const %s_live_table TABLE = {\n    %s_live_layout,\n",
          n, n, n, n, n);
  arguments(out, k);
  fprintf(out, "    \"\",\n    run, %s_workspace, ", n);
  if (packs)
    fprintf(out, "%s_packed, pack};\n", n);
  else
    fputs("packed_bytes, pack};\n", out);
}

static const char *kind(ir_type t) {
  return t == IR_BF16  ? "BFLOAT16"
         : t == IR_I8  ? "INT8"
         : t == IR_U8  ? "UINT8"
         : t == IR_I32 ? "INT32"
                       : "FLOAT32";
}

static void print_tensors(FILE *out, const c_package *k) {
  const tf_workload *wl = workload(k);
  const bool narrow = k->p->machine.data == IR_BF16;
  fputs("/* The arrays of a call, as try.c draws them. */\n#include <math.h>\n"
        "#include <stddef.h>\n#include <stdint.h>\n\n",
        out);
  c_numbers(out, wl, k->p->machine.data);
  fputs("enum { FLOAT32, BFLOAT16, INT8, UINT8, INT32 };\nstatic const struct {\n"
        "  const char *name;\n"
        "  size_t at, words; /* at: of the pointer, in the arguments */\n"
        "  int type, written, number; /* by which number() knows it */\n} tensors[] = {\n",
        out);
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (!c_is_argument(t)) continue;
    fprintf(out, "    {\"%s\", offsetof(%s_args, ", t->name, k->name), c_field(out, t->name);
    fprintf(out, "), %" PRId64 ", %s, %d, %d},\n", tf_tensor_words(t),
            kind(c_argument_type(k->p, z)), !c_is_input(t), z);
  }
  fprintf(out,
          "};\n\n"
          "/* Each of two versions may be so far from the sum in double that test.c makes: "
          "relative to the norm. */\n"
          "#define WITHIN (2 * %s)\n",
          k->within ? k->within
          : narrow  ? "1e-2"
                    : "1e-5");
}

static const struct {
  const char *name;
  void (*print)(FILE *out, const c_package *k);
} rows[C_LIVE_FILES] = {
    {"live.h", print_header},      {"live.c", print_runtime},         {"try.c", print_trial},
    {"live_entry.c", print_entry}, {"live_tensors.h", print_tensors}, {"live.mk", print_makefile}};

const char *c_live_name(int i) { return rows[i].name; }
void c_live_file(FILE *out, const c_package *k, int i) { rows[i].print(out, k); }
