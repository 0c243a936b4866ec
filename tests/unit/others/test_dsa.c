/* The seed dsa-compute-schedule as tile trees: what its schedules move through DRAM, and which of them do not fit. */
#include "tests/unit/case.h"

typedef struct {
  bool fits;
  int64_t words; /* read and written, DRAM */
} seen;

static seen evaluate(const char *workload, const char *mapping) {
  char wl[64], map[64];
  snprintf(wl, sizeof wl, "workloads/dsa/%s.yaml", workload);
  snprintf(map, sizeof map, "workloads/dataflows/dsa/%s.yaml", mapping);
  const char *files[] = {"arch-specs/dsa-sram.yaml", wl, map};
  seen out = {false, -1};
  test_case e = {.d = tf_diags_new()};
  e.spec = tf_spec_read(files, 3, NULL, 0, e.d);
  case_prepare(&e);
  if (CHECK(case_evaluate(&e))) {
    out = (seen){e.r.feasible, 0};
    for (int z = 0; z < e.spec->workload->n_tensors; z++)
      out.words += e.r.counts[z].read + e.r.counts[z].update;
  }
  case_drop(&e);
  return out;
}

int main(void) {
  const int64_t i = 6422528, w = 1048576, o = 1605632; /* elements of image, weights, output */
  CHECK_I64(evaluate("conv", "demo1").words, 6578274304);
  CHECK_I64(evaluate("conv", "demo1-kept").words, 2048 * o + w + o);
  CHECK_I64(evaluate("conv", "demo2").words, 22 * i + w + o);
  CHECK_I64(evaluate("conv", "demo3-3").words, 64 * i + w + o);
  CHECK(evaluate("conv", "demo2").fits && evaluate("conv", "demo3-3").fits && evaluate("conv", "demo1").fits);
  CHECK(!evaluate("conv", "demo3-1").fits);
  CHECK(!evaluate("conv", "demo4").fits);
  /* Where the seed's flag counts the first of 128 passes over the depth only, its figures follow: */
  CHECK_I64((evaluate("conv", "demo3-3").words - o) / 128 + o, 4825088);
  CHECK_I64((evaluate("add-conv", "demo5-2").words - o) / 128 + o, 8036352);
  /* The sum fused by the seed's schedule is made 64 times; fused by rows it is made once. */
  CHECK_I64(evaluate("add-conv", "demo5-1").words, (64 + 3) * i + w + o);
  CHECK_I64(evaluate("add-conv", "demo5-2").words, 2 * 64 * i + w + o);
  CHECK_I64(evaluate("add-conv", "demo5-rows").words, 2 * i + 28 * w + o);
  CHECK(evaluate("add-conv", "demo5-rows").fits);
  return check_report();
}
