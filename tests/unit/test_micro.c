#define _POSIX_C_SOURCE 200809L
/* codegen/micro_gemm: Eq. 3.4, and what the generator prints compiled, run and compared. */
#include <stdlib.h>

#include "codegen/micro_gemm.h"
#include "tests/unit/check.h"

static void test_shape(void) {
  tf_micro_shape a = tf_micro_best(32), b = tf_micro_best(16);
  CHECK(a.mi == 6 && a.ni == 4 && a.mii == 2);
  CHECK(b.mi == 6 && b.ni == 2 && b.mii == 2);
}

static const char head[] = "#include <stdint.h>\n#include <math.h>\n%s"
  "typedef void kernel(int64_t, const float *, const float *, float *, int64_t);\n";
static const char tail[] =
  "static int bad(kernel *f, int m, int n) {\n"
  "  float a[222], b[37 * 64], c[6 * 67]; int wrong = 0;\n"
  "  for (int i = 0; i < 222; i++) a[i] = (float)(i * 37 %% 101 - 50) / 64;\n"
  "  for (int i = 0; i < 37 * 64; i++) b[i] = (float)(i * 53 %% 97 - 48) / 64;\n"
  "  for (int i = 0; i < 6 * 67; i++) c[i] = 3;\n"
  "  f(37, a, b, c, 67);\n"
  "  for (int i = 0; i < 6; i++) for (int j = 0; j < 67; j++) { double w = 3;\n"
  "    for (int p = 0; i < m && j < n && p < 37; p++) w += (double)a[p * m + i] * b[p * n + j];\n"
  "    wrong += !(fabs(c[i * 67 + j] - w) <= 1e-5 * (1 + fabs(w))); }\n"
  "  return wrong; }\n";

static void test_isa(const char *name, const char *flags, bool can) {
  const tf_micro_isa *isa = tf_micro_isa_find(name);
  tf_micro_shape s = tf_micro_best(isa->registers);
  char path[64], cmd[320], fn[32];
  snprintf(path, sizeof path, "/tmp/tf_micro_XXXXXX");
  int fd = mkstemp(path);
  FILE *f = fdopen(fd, "w");
  if (!CHECK(f))
    return;
  fprintf(f, head, isa->lanes > 1 ? "#include <immintrin.h>\n" : "");
  int top = s.ni * isa->lanes, step = top > 16 ? 5 : 1;
  for (int m = 1; m <= s.mi; m++)
    for (int n = top; n > 0; n -= step)
      snprintf(fn, sizeof fn, "g%d_%d", m, n), CHECK(tf_micro_gemm(f, isa, fn, m, n));
  fprintf(f, tail);
  fputs("int main(void) { int w = 0;\n", f);
  for (int m = 1; m <= s.mi; m++)
    for (int n = top; n > 0; n -= step)
      fprintf(f, "  w += bad(g%d_%d, %d, %d);\n", m, n, m, n);
  fputs("  return w != 0; }\n", f);
  CHECK(!tf_micro_gemm(f, isa, "x", s.mi + 1, 1));
  fclose(f);
  snprintf(cmd, sizeof cmd, "cc -std=c17 -O1 -Wall -Wextra -Werror %s -x c %s -o %s.out -lm%s%s%s",
           flags, path, path, can ? " && " : "", can ? path : "", can ? ".out" : "");
  CHECK_I64(system(cmd), 0);
  snprintf(cmd, sizeof cmd, "%s.out", path), remove(cmd), remove(path);
}

int main(void) {
  test_shape();
  test_isa("portable", "", true);
  test_isa("avx2", "-mavx2 -mfma", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  test_isa("avx512", "-mavx512f", __builtin_cpu_supports("avx512f"));
  return check_report();
}
