/* kernel.c for several instruction sets: tests the CPU at each call, without state. */
#include <string.h>

#include "codegen/backend/cpu/print/files.h"

static const char machine[] =
    "#if !defined(__x86_64__)\n#error \"these kernels are for x86-64\"\n#endif\n";
static const char leaf7[] =
    "#include <cpuid.h>\n"
    "/* Bit of a register (0: EAX, 3: EDX) of CPUID's leaf 7. */\n"
    "static inline int leaf7(unsigned sub, int which, int bit) {\n"
    "  unsigned r[4] = {0, 0, 0, 0};\n"
    "  return __get_cpuid_count(7, sub, &r[0], &r[1], &r[2], &r[3]) && (r[which] >> bit & 1);\n"
    "}\n\n";
static const char tiles[] = "extern long syscall(long, ...);\n"
                            "#define TILES_ALLOWED() \\\n"
                            "  (leaf7(0, 3, 22) && leaf7(0, 3, 24) && leaf7(0, 3, 25) && "
                            "syscall(158L, 0x1023L, 18L) == 0)\n"
                            "#endif\n\n";

void c_leaf7(FILE *out) { fputs(leaf7, out); }

/* The functions that the conditions call. */
static void questions(FILE *out, const c_package *k) {
  bool asks = false;
  for (int i = 0; i < k->n_isas; i++)
    asks |= strstr(k->isas[i]->has, "leaf7") != NULL;
  fputs(machine, out);
  if (asks) fputs(leaf7, out);
  if (!k->tiles) return;
  fputs("#if !defined(TILES_ALLOWED) /* the units, and Linux's leave to use them (arch_prctl, "
        "ARCH_REQ_XCOMP_PERM) */\n",
        out);
  if (!asks) fputs(leaf7, out);
  fputs(tiles, out);
}

static void table(FILE *out, const c_package *k) {
  const char *n = k->name;
  for (int i = 0; i < k->n_isas; i++) {
    const char *isa = k->isas[i]->name;
    fprintf(out,
            "size_t %s_%s_workspace(void);\n"
            "int %s_%s(const %s_args *args, void *workspace, size_t bytes);\n"
            "static int has_%s(void) { return %s; }\n\n",
            n, isa, n, isa, n, isa, k->isas[i]->has);
  }
  fprintf(out,
          "/* Best first. */\nstatic const struct {\n  const char *isa;\n"
          "  int (*has)(void);\n  size_t (*workspace)(void);\n"
          "  int (*run)(const %s_args *, void *, size_t);\n} rows[] = {\n",
          n);
  for (int i = 0; i < k->n_isas; i++) {
    const char *isa = k->isas[i]->name;
    fprintf(out, "  {\"%s\", has_%s, %s_%s_workspace, %s_%s},\n", isa, isa, n, isa, n, isa);
  }
  fputs("};\nenum { ROWS = sizeof rows / sizeof rows[0] };\n\n", out);
}

bool c_chooser_c(FILE *out, c_package *k) {
  const char *n = k->name;
  fprintf(out, "/* %s: ", n), c_plain_text(out, k->p->tree->workload->name);
  fprintf(out, ", with the best instruction set that the computer has.  Written by tileflow; see "
               "README.md. */\n"
               "#include \"kernel.h\"\n\n#include <string.h>\n\n");
  questions(out, k);
  table(out, k);
  fprintf(out,
          "const char *%s_isa(int i) {\n"
          "  for (int r = 0; r < ROWS; r++)\n"
          "    if (rows[r].has() && i-- == 0) return rows[r].isa;\n"
          "  return NULL;\n}\n\n"
          "size_t %s_workspace(void) {\n"
          "  size_t most = 0;\n"
          "  for (int r = 0; r < ROWS; r++)\n"
          "    if (rows[r].has() && rows[r].workspace() > most) most = rows[r].workspace();\n"
          "  return most;\n}\n\n",
          n, n);
  fprintf(out,
          "int %s_with(const char *isa, const %s_args *args, void *workspace, size_t bytes) {\n"
          "  for (int r = 0; isa && r < ROWS; r++)\n"
          "    if (!strcmp(rows[r].isa, isa) && rows[r].has()) {\n"
          "      if (args && workspace && bytes < %s_workspace()) return %s_small_workspace;\n"
          "      return rows[r].run(args, workspace, bytes);\n"
          "    }\n"
          "  return %s_bad_argument;\n}\n\n"
          "int %s(const %s_args *args, void *workspace, size_t bytes) {\n"
          "  return %s_with(%s_isa(0), args, workspace, bytes);\n}\n",
          n, n, n, n, n, n, n, n, n);
  if (c_has_sparse(k->p)) c_misfit(out, k);
  return true;
}

void c_chooser_h(FILE *out, const c_package *k) {
  const char *n = k->name;
  fprintf(out,
          "/* The i-th instruction set that the computer has, best first: 0 is what %s takes.  "
          "NULL past the last. */\n"
          "const char *%s_isa(int i);\n\n"
          "/* The same with one of them; bad_argument where the computer has it not. */\n"
          "int %s_with(const char *isa, const %s_args *args, void *workspace, size_t bytes);\n\n",
          n, n, n, n);
}
