/* codegen/micro: Eq. 3.4, and block products printed for every instruction set: compiled, run where this machine or an
 * emulator can, and compared with sums in double. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/micro.h"
#include "tests/unit/check.h"

static void test_shape(void) {
  int m, n;
  tf_micro_best(32, &m, &n);
  CHECK(m == 6 && n == 4);
  tf_micro_best(16, &m, &n);
  CHECK(m == 6 && n == 2);
  CHECK_I64(tf_micro_rows(32, 4), 6);
  CHECK_I64(tf_micro_rows(32, 2), 14);
  CHECK_I64(tf_micro_rows(16, 2), 6);
}

/* Slow twin of Eq. 3.4. */
static void test_shape_twin(void) {
  for (int registers = 8; registers <= 64; registers++) {
    double best = 0;
    int m, n;
    for (int i = 2; i <= registers; i += 2)
      for (int j = 1; i * j + j + 2 <= registers; j++)
        best = (double)i * j / (i + j) > best ? (double)i * j / (i + j) : best;
    tf_micro_best(registers, &m, &n);
    CHECK(m * n + n + 2 <= registers);
    CHECK((double)m * n / (m + n) > best - 1e-12);
  }
}

static const char head[] =
  "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n"
  "typedef void kernel(int64_t, const float *, int64_t, int64_t, const float *, int64_t, float *, int64_t, int);\n";
static const char tail[] =
  "static int bad(kernel *f, int m, int n, int k, int a_m, int a_k, int add) {\n"
  "  static float a[4096], b[40 * 200], c[40 * 203];\n"
  "  int wrong = 0, b_k = n + 3, c_m = n + 5;\n"
  "  for (int i = 0; i < 4096; i++) a[i] = (float)(i * 37 % 101 - 50) / 64;\n"
  "  for (int i = 0; i < 40 * 200; i++) b[i] = (float)(i * 53 % 97 - 48) / 64;\n"
  "  for (int i = 0; i < 40 * 203; i++) c[i] = 3;\n"
  "  f(k, a, a_m, a_k, b, b_k, c, c_m, add);\n"
  "  for (int i = 0; i < 40; i++) for (int j = 0; j < c_m; j++) {\n"
  "    int in = i < m && j < n;\n"
  "    double w = in && !add ? 0 : 3;\n"
  "    for (int p = 0; in && p < k; p++) w += (double)a[i * a_m + p * a_k] * b[p * b_k + j];\n"
  "    wrong += !(fabs(c[i * c_m + j] - w) <= 1e-5 * (1 + fabs(w)));\n"
  "  }\n"
  "  return wrong;\n}\n";

static const int shapes[][2] = {{1, 1}, {2, 3}, {6, 64}, {7, 65}, {13, 16}, {14, 32}, {15, 31}, {29, 17}, {12, 80},
                                {5, 100}, {37, 48}, {9, 7}, {8, 128}, {31, 198}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static void print_program(FILE *f, const tf_micro_isa *isa) {
  const char *name[N_SHAPES];
  tf_micro *u = tf_micro_new(isa);
  if (!CHECK(u)) return;
  fputs(head, f);
  tf_micro_prologue(f, isa);
  for (int i = 0; i < N_SHAPES; i++)
    CHECK((name[i] = tf_micro_block(f, u, &tf_micro_kernel_find("f32")->kernel, shapes[i][0], shapes[i][1])) != NULL);
  CHECK(tf_micro_block(f, u, &tf_micro_kernel_find("f32")->kernel, 6, 64) == name[2]); /* once */
  CHECK(!tf_micro_block(f, u, &tf_micro_kernel_find("f32")->kernel, 0, 4));
  fputs(tail, f);
  fputs("int main(void) {\n  int w = 0;\n", f);
  for (int i = 0; i < N_SHAPES; i++)
    for (int add = 0; add < 2; add++)
      fprintf(f, "  w += bad(%s, %d, %d, %d, %d, %d, %d);\n", name[i], shapes[i][0], shapes[i][1], add ? 37 : 1 + i,
              add ? 40 : 1, add ? 1 : 41, add);
  fputs("  printf(\"%d wrong\\n\", w);\n  return w != 0;\n}\n", f);
  tf_micro_free(u);
}

/* Compiles with `compiler` and runs behind `runner` (NULL: does not run). */
static void try_isa(const char *name, const char *compiler, const char *runner) {
  const tf_micro_isa *isa = tf_micro_isa_find(name);
  char dir[] = "/tmp/tf_micro_XXXXXX", path[64], command[400];
  if (!CHECK(isa) || !CHECK(mkdtemp(dir))) return;
  snprintf(path, sizeof path, "%s/k.c", dir);
  FILE *f = fopen(path, "w");
  if (!CHECK(f)) return;
  print_program(f, isa);
  CHECK_I64(fclose(f), 0);
  snprintf(command, sizeof command, "%s -std=c17 -O1 -Wall -Wextra -Werror %s -o %s/k %s -lm", compiler, isa->flags, dir, path);
  CHECK_I64(system(command), 0);
  snprintf(command, sizeof command, "%s %s/k >%s/said || { cat %s/said; false; }", runner ? runner : "", dir, dir, dir);
  if (runner) CHECK_I64(system(command), 0);
  snprintf(command, sizeof command, "rm -r %s", dir);
  CHECK_I64(system(command), 0);
}

static bool there(const char *program) {
  char command[128];
  snprintf(command, sizeof command, "command -v %s >/dev/null", program);
  return system(command) == 0;
}

int main(void) {
  test_shape();
  test_shape_twin();
  try_isa("portable", "cc", "");
#if defined __x86_64__
  try_isa("sse2", "cc", "");
  try_isa("avx2", "cc", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "" : NULL);
  try_isa("avx512", "cc", __builtin_cpu_supports("avx512f") ? "" : NULL);
#endif
  if (there("aarch64-linux-gnu-gcc"))
    try_isa("neon", "aarch64-linux-gnu-gcc -static", there("qemu-aarch64") ? "qemu-aarch64" : NULL);
  CHECK(!tf_micro_isa_find("avx"));
  return check_report();
}
