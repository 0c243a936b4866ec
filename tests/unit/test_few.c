/* codegen/intrin/micro_skinny.c and pairs.c: products of few rows in each instruction set that is
 * here, compiled, run and compared with sums in double.  Elements are whole multiples of 1/8 that
 * bfloat16 holds, so that every sum is exact whatever its order; what lies between rows is NaN,
 * which no sum may meet, and what lies behind c stays. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include "codegen/intrin/math.h"
#include "codegen/intrin/micro.h"
#include "tests/unit/check.h"
#include "tileflow/emit.h"

static const char compare[] =
    "typedef void few(int64_t, const A *, int64_t, int64_t, const B *, int64_t, float *, int64_t, "
    "int64_t, int);\n"
    "static int bad(few *f, int m, int n, int k, int along_k, int a_k, int add) {\n"
    "  const int a_m = a_k == 1 ? k + 3 : 1, b_rows = along_k ? n : k, b_step = (along_k ? k : n) "
    "+ 5, c_m = n + 4;\n"
    "  A *a = malloc(sizeof *a * (size_t)(a_k == 1 ? a_m * m : a_k * k));\n"
    "  B *b = malloc(sizeof *b * (size_t)(b_rows * b_step));\n"
    "  float *c = malloc(sizeof *c * (size_t)(c_m * m));\n"
    "  int wrong = 0;\n"
    "  for (int i = 0; i < (a_k == 1 ? a_m * m : a_k * k); i++) a[i] = A_OF(NAN);\n"
    "  for (int i = 0; i < b_rows * b_step; i++) b[i] = B_OF(NAN);\n"
    "  for (int i = 0; i < c_m * m; i++) c[i] = 3;\n"
    "  for (int i = 0; i < m; i++)\n"
    "    for (int p = 0; p < k; p++) a[i * a_m + p * a_k] = A_OF((float)((i * 37 + p * 11) % 31 - "
    "15) / 8);\n"
    "  for (int p = 0; p < k; p++)\n"
    "    for (int j = 0; j < n; j++) b[along_k ? j * b_step + p : p * b_step + j] = "
    "B_OF((float)((p * 53 + j * 17) % 29 - 14) / 8);\n"
    "  f(k, a, a_m, a_k, b, b_step, c, c_m, n, add);\n"
    "  for (int i = 0; i < m; i++)\n"
    "    for (int j = 0; j < c_m; j++) {\n"
    "      double w = j < n && !add ? 0 : 3;\n"
    "      for (int p = 0; j < n && p < k; p++) w += ((i * 37 + p * 11) % 31 - 15) / 8.0 * ((p * "
    "53 + j * 17) % 29 - 14) / 8.0;\n"
    "      wrong += c[i * c_m + j] != (float)w;\n"
    "    }\n"
    "  if (wrong) printf(\"%d x %d, k %d, along %d, a_k %d, add %d: %d wrong\\n\", m, n, k, "
    "along_k, a_k, add, wrong);\n"
    "  free(a), free(b), free(c);\n"
    "  return wrong;\n}\n";

/* Columns (0: of any number) and lengths of k for each number of rows: below a vector, at its end,
 * past it, odd. */
static const int rows[] = {1, 3, 4, 8, 11};
static const int columns[] = {0, 128, 1, 33, 80, 256, 300, 31};
static const int steps[] = {1, 2, 16, 31, 32, 33, 67, 130, 2 * TF_MICRO_RUN + 3};

static void print(FILE *f, const tf_micro_isa *isa, ir_type a, ir_type b) {
  const bool real = a == IR_F32 && b == IR_F32; /* then sums stay in registers where they can */
  const ir_machine machine = tf_micro_machine(isa, real ? IR_F32 : IR_BF16);
  int held = 0;
  tf_micro *u = tf_micro_new(isa, NULL, NULL);
  if (!CHECK(u)) return;
  const bool wide = a == IR_BF16;
  fprintf(f, "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n"
             "#include <stdlib.h>\n#include <string.h>\n");
  tf_micro_math(f, 1u << TF_K_EXP);
  tf_micro_bf16(f), tf_micro_prologue(f, isa), tf_micro_lanes_text(f, isa, true);
  tf_micro_kernel_text(f, isa, &machine);
  fprintf(f, "typedef %s A;\ntypedef %s B;\n#define A_OF(x) %s\n#define B_OF(x) %s\n%s",
          tf_micro_type(a), tf_micro_type(b), wide ? "narrow(x)" : "(x)",
          b == IR_BF16 ? "narrow(x)" : "(x)", compare);
  char body[16384];
  size_t len = 0;
  for (int r = 0; r < 5; r++)
    for (int c = 0; c < 8; c++) {
      const bool along_k =
          c % 2 != r % 2; /* any number of columns, too, and both orders for each number of rows */
      const bool hold = real && !along_k && columns[c] && tf_micro_few_hold(&machine, rows[r]);
      const tf_micro_few few = {rows[r], a,  b,          along_k,
                                32,      64, columns[c], hold ? machine.real : NULL};
      held += hold;
      const char *name = tf_micro_few_product(f, u, &few);
      if (!CHECK(name)) continue;
      for (int add = 0; add < 2; add++)
        len += (size_t)snprintf(body + len, sizeof body - len,
                                "  w += bad(%s, %d, %d, %d, %d, %d, %d);\n", name, rows[r],
                                columns[c] ? columns[c] : 77, steps[(c + r + add) % 9], along_k,
                                along_k || add ? 1 : 13, add);
    }
  CHECK(len < sizeof body);
  CHECK_I64(held > 0, real);
  fprintf(f, "int main(void) {\n  int w = 0;\n%s  return w != 0;\n}\n", body);
  tf_micro_free(u);
}

static void try_isa(const char *name, ir_type a, ir_type b) {
  const tf_micro_isa *isa = tf_micro_isa_find(name);
  char dir[] = "/tmp/tf_few_XXXXXX", path[64], command[800];
  if (!CHECK(isa) || !CHECK(mkdtemp(dir))) return;
  snprintf(path, sizeof path, "%s/k.c", dir);
  FILE *f = fopen(path, "w");
  if (!CHECK(f)) return;
  print(f, isa, a, b);
  CHECK_I64(fclose(f), 0);
  snprintf(command, sizeof command,
           "cc -std=c17 -O1 -Wall -Wextra -Wno-unused-function -Werror %s -o %s/k %s -lm && %s/k",
           isa->flags, dir, path, dir);
  CHECK_I64(system(command), 0);
  snprintf(command, sizeof command, "rm -r %s", dir);
  CHECK_I64(system(command), 0);
}

int main(void) {
#if defined __x86_64__
  static const char *const isas[] = {"sse2", "avx2", "avx512", "avx512_bf16"};
#else
  static const char *const isas[] = {"neon"};
#endif
  for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
    if (!tf_emit_runs(isas[i])) continue;
    try_isa(isas[i], IR_BF16, IR_BF16);
    try_isa(isas[i], IR_F32, IR_BF16);
    try_isa(isas[i], IR_F32, IR_F32);
  }
  return check_report();
}
