/* The seed dsa-compute-schedule as tile trees: what its schedules move through DRAM, and which of them do not fit. */
#include <stdlib.h>

#include "tests/unit/check.h"
#include "tileflow/tileflow.h"

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
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read(files, 3, NULL, 0, d);
  tf_tree *t = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  tf_model *m = t ? tf_model_new(t, d) : NULL;
  tf_result r;
  if (CHECK(m && tf_model_eval(m, NULL, &r))) {
    out = (seen){r.feasible, 0};
    for (int z = 0; z < s->workload->n_tensors; z++)
      out.words += r.counts[z].read + r.counts[z].update;
  }
  tf_model_free(m);
  tf_tree_free(t);
  tf_spec_free(s);
  tf_diags_free(d);
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
