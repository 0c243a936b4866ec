/* The fused products that were measured in RTL, emitted for the NPU that rtl-core.yaml describes
 * and simulated: DRAM words exact, cycles equal to the RTL's where the array waits for loads, near
 * them elsewhere.
 *
 * - npu_rtl [N]: every N-th of the 66; 6 if not given, which is what CI has time for */
#include <stdlib.h>

#include "codegen/backend/npu/pass/pass.h"
#include "tests/unit/case.h"
#include "tests/unit/others/rtl.h"

enum {
  M,
  L,
  K,
  N,
  TILE_M,
  TILE_L,
  TILE_K1,
  TILE_N,
  TILE_K2,
  CYCLES,
  TO_BUFFER,
  TO_MEMORY,
  COLUMNS
};

/* As the core ran them: with a pass over C in between, on its vector unit. */
static const char *const with_pass =
    "workload:\n  name: fused-gemm\n  dims: {m: %ld, l: %ld, k: %ld, n: %ld}\n  ops:\n"
    "  - C[m,l] += A[m,k] * B[k,l]\n  - F[m,l] = C[m,l]\n  - E[m,n] += F[m,l] * D[l,n]\n"
    "mapping: |\n  DRAM for m=%ld\n    Seq keep C@Buffer F@Buffer\n"
    "      DRAM for k=%ld\n        Buffer for k=%ld m=%ld l=%ld spatial m=16@x k=16@y\n"
    "          Reg\n"
    "            op C\n"
    "      Buffer for m=%ld l=%ld spatial l=16@x\n        op F\n"
    "      DRAM for l=%ld\n        Buffer for l=%ld m=%ld n=%ld spatial m=16@x l=16@y\n"
    "          Reg\n"
    "            op E\n";

static double check_row(const tf_text *arch, const long *r) {
  char text[1024];
  const int n = snprintf(text, sizeof text, with_pass, r[M], r[L], r[K], r[N], r[M] / r[TILE_M],
                         r[K] / r[TILE_K1], r[TILE_K1] / 16, r[TILE_M] / 16, r[L], r[TILE_M],
                         r[L] / 16, r[L] / r[TILE_K2], r[TILE_K2] / 16, r[TILE_M] / 16, r[N]);
  const tf_text texts[2] = {*arch, {"product", text, (size_t)n}};
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read_texts(texts, 2, NULL, 0, d);
  tf_tree *t = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  tf_npu *p = t ? npu_compile(t, d) : NULL;
  tf_npu_result res = {0};
  const tf_npu_options timing = {.timing_only = true};
  double error = 1;
  if (CHECK(p && tf_npu_run(p, &timing, NULL, &res, d))) {
    int64_t in = 0, out = 0;
    for (int i = 0; i < res.n_flows; i++)
      *(strcmp(res.flows[i].from, "DRAM") == 0 ? &in : &out) += res.flows[i].words;
    CHECK_I64(in, r[TO_BUFFER] / 16);
    CHECK_I64(out, r[TO_MEMORY] / 16);
    error = res.cycles / (double)r[CYCLES] - 1;
    CHECK(fabs(res.cycles / npu_clock_program(p, d) - 1) < 1e-9);
    npu_terms terms;
    CHECK(npu_predict(t, NPU_UNLIMITED, &terms, d) && fabs(res.cycles / terms.cycles - 1) < 0.02);
  }
  case_complain(d);
  tf_npu_result_free(&res);
  tf_npu_free(p);
  tf_tree_free(t);
  tf_spec_free(s);
  tf_diags_free(d);
  return error;
}

static bool read_row(const char *line, long *r) {
  char *end = NULL;
  for (int k = 0; k < COLUMNS; k++, line = end + 1) {
    r[k] = strtol(line, &end, 10);
    if (end == line) return false;
  }
  return true;
}

int main(int argc, char **argv) {
  size_t len;
  char *csv = case_file("tests/data/rtl/fused_gemm.csv", &len),
       *yaml = case_file("arch-specs/rtl-core.yaml", &len);
  const tf_text arch = {"rtl-core.yaml", yaml, len};
  const int every = argc > 1 ? atoi(argv[1]) : 6;
  double sum = 0, worst = 0;
  int rows = 0, read = 0;
  for (char *line = csv; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    long r[COLUMNS];
    if (!read_row(line, r) || read++ % every) continue;
    const double error = check_row(&arch, r);
    sum += fabs(error);
    worst = fabs(error) > fabs(worst) ? error : worst;
    CHECK(fabs(error) <
          (r[TILE_M] <= 32 ? 1e-7 : 0.02)); /* the array waits for loads: to the cycle */
    rows++;
    printf("%ld,%ld,%ld,%ld,%ld,%ld,%.2f %%\n", r[M], r[L], r[K], r[TILE_M], r[TILE_K1], r[TILE_K2],
           100 * error);
  }
  printf("%d rows: %.2f %% on average, %.2f %% at worst\n", rows, 100 * sum / rows, 100 * worst);
  CHECK(rows > 0 && sum / rows < 0.01);
  free(csv);
  free(yaml);
  return check_report();
}
