/* An instruction set is a row, and so is the micro-kernel of a product: one of each that stands
 * here alone prints blocks of products, which are compiled, run, and compared with sums made one by
 * one. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/intrin/micro.h"
#include "tests/unit/check.h"

/* ---- a toy instruction set: two lanes, in plain C, which only its compiler knows ------------ */
static const char toy_text[] =
    "typedef struct {\n  float of[2];\n} vec;\n"
    "static inline vec vec_splat(float x) { return (vec){{x, x}}; }\n"
    "static inline vec vec_zero(void) { return vec_splat(0); }\n"
    "static inline vec vec_load(const float *p) { return (vec){{p[0], p[1]}}; }\n"
    "static inline void vec_store(float *p, vec v) { p[0] = v.of[0], p[1] = v.of[1]; }\n"
    "static inline vec vec_add(vec a, vec b) { return (vec){{a.of[0] + b.of[0], a.of[1] + "
    "b.of[1]}}; }\n"
    "static inline vec vec_fma(vec a, vec b, vec c) {\n"
    "  return (vec){{a.of[0] * b.of[0] + c.of[0], a.of[1] * b.of[1] + c.of[1]}};\n}\n"
    "static inline vec vec_load_part(const float *p, int n) { return (vec){{n > 0 ? p[0] : 0, n > "
    "1 ? p[1] : 0}}; }\n"
    "static inline void vec_store_part(float *p, vec v, int n) {\n"
    "  for (int i = 0; i < n; i++) p[i] = v.of[i];\n}\n";

static const tf_micro_isa toy_isa = {
    .name = "toy",
    .lanes = 2,
    .lanes_of = "16 / sizeof(double)",
    .headers = "#include <stddef.h>\n",
    .registers = 12,
    .flags = "",
    .machine = "1",
    .data = "f32 int8",
    .text = toy_text,
};

/* ---- a toy product: pairs of bytes along k, a lane of int32 --------------------------------- */
static const char pairs_text[] = "typedef const int8_t *pairs;\n"
                                 "typedef int32_t ivec;\n"
                                 "static inline ivec ivec_zero(void) { return 0; }\n"
                                 "static inline ivec ivec_add(ivec a, ivec b) { return a + b; }\n"
                                 "static inline ivec ivec_load(const int32_t *p) { return *p; }\n"
                                 "static inline void ivec_store(int32_t *p, ivec v) { *p = v; }\n"
                                 "static inline pairs pair_splat(const int8_t *p) { return p; }\n"
                                 "static inline pairs pair_load(const int8_t *p) { return p; }\n"
                                 "static inline ivec pair_add(pairs a, pairs b, ivec c) { return c "
                                 "+ a[0] * b[0] + a[1] * b[1]; }\n";

static const tf_micro_kernel toy_product = {
    .kernel = {"toy_pairs", IR_I8, IR_I8, IR_I32, .group = 2, .m_round = 1, .n_round = 1,
               .k_round = 2, .leaves = IR_I32},
    .lanes = 1,
    .prefix = "pair",
    .sums = "ivec",
    .text = pairs_text,
};

/* ---- what is compiled ----------------------------------------------------------------------- */
enum { M = 7, N = 9, K = 5 };

static const char head[] =
    "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }\n"
    "#define PREFETCH(p) FETCH(p, 0)\n";

/* Of groups of G along k: b has them side by side, as ir_kernel says. */
static const char check_block[] =
    "#define CHECK_BLOCK(NAME, BLOCK, A, B, C, G)\\\n"
    "  static int NAME(void) {\\\n"
    "    static A a[M][K * G];\\\n    static B b[K][N][G];\\\n    static C c[M][N];\\\n"
    "    for (int i = 0; i < M; i++)\\\n      for (int p = 0; p < K * G; p++) a[i][p] = (A)((7 * i "
    "+ 3 * p) % 11 - 5);\\\n"
    "    for (int p = 0; p < K; p++)\\\n      for (int j = 0; j < N; j++)\\\n        for (int e = "
    "0; e < G; e++)\\\n"
    "          b[p][j][e] = (B)((5 * p + j + 2 * e) % 7 - 3);\\\n"
    "    BLOCK(K, &a[0][0], K * G, G, &b[0][0][0], N * G, &c[0][0], N, 0);\\\n"
    "    int wrong = 0;\\\n"
    "    for (int i = 0; i < M; i++)\\\n      for (int j = 0; j < N; j++) {\\\n        C want = "
    "0;\\\n"
    "        for (int p = 0; p < K; p++)\\\n          for (int e = 0; e < G; e++)\\\n"
    "            want += (C)(a[i][p * G + e] * b[p][j][e]);\\\n"
    "        wrong += want != c[i][j];\\\n      }\\\n    return wrong;\\\n  }\n";

static void print(FILE *f) {
  const ir_machine machine = {.data = IR_I8,
                              .real = &tf_micro_kernel_find("f32")->kernel,
                              .whole = &toy_product.kernel,
                              .lanes = toy_isa.lanes,
                              .registers = toy_isa.registers};
  tf_micro *u = tf_micro_new(&toy_isa, tf_micro_source_find(NULL), NULL);
  if (!CHECK(u)) return;
  fputs(head, f);
  tf_micro_prologue(f, &toy_isa);
  tf_micro_kernel_text(f, &toy_isa, &machine);
  const char *reals = tf_micro_block(f, u, machine.real, M, N, false, false),
             *pairs = tf_micro_block(f, u, machine.whole, M, N, false, false);
  if (CHECK(reals && pairs)) {
    fprintf(f, "enum { M = %d, N = %d, K = %d };\n%s", M, N, K, check_block);
    fprintf(f,
            "CHECK_BLOCK(bad_reals, %s, float, float, float, 1)\n"
            "CHECK_BLOCK(bad_pairs, %s, int8_t, int8_t, int32_t, 2)\n",
            reals, pairs);
    fputs("int main(void) {\n  return (bad_reals() ? 1 : 0) + (bad_pairs() ? 2 : 0);\n}\n", f);
  }
  tf_micro_free(u);
}

int main(void) {
  char dir[] = "/tmp/tf_isa_XXXXXX", path[64], command[300];
  if (!CHECK(mkdtemp(dir))) return check_report();
  snprintf(path, sizeof path, "%s/k.c", dir);
  FILE *f = fopen(path, "w");
  if (CHECK(f)) print(f);
  if (f) CHECK_I64(fclose(f), 0);
  snprintf(command, sizeof command,
           "cc -std=c17 -Og -w -o %s/k %s && %s/k; s=$?; rm -r %s; exit $s", dir, path, dir, dir);
  CHECK_I64(system(command), 0);
  return check_report();
}
