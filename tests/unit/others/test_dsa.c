/* The seed dsa-compute-schedule as tile trees: what its schedules move through DRAM, and which of
 * them do not fit. */
#include "tests/unit/case.h"

typedef struct {
  bool fits;
  int64_t words;           /* read and written, DRAM */
  int64_t read[8], out[8]; /* of each tensor */
} seen;

static seen evaluate_on(const char *arch, const char *workload, const char *mapping) {
  char wl[64], map[64];
  snprintf(wl, sizeof wl, "workloads/dsa/%s.yaml", workload);
  snprintf(map, sizeof map, "workloads/dataflows/dsa/%s.yaml", mapping);
  const char *files[] = {arch, wl, map};
  seen out = {.words = -1};
  test_case e = {.d = tf_diags_new()};
  e.spec = tf_spec_read(files, 3, NULL, 0, e.d);
  case_prepare(&e);
  if (CHECK(case_evaluate(&e))) {
    out = (seen){.fits = e.r.feasible};
    for (int z = 0; z < e.spec->workload->n_tensors; z++) {
      out.read[z] = e.r.counts[z].read, out.out[z] = e.r.counts[z].update;
      out.words += out.read[z] + out.out[z];
    }
  }
  case_drop(&e);
  return out;
}

static seen evaluate(const char *workload, const char *mapping) {
  return evaluate_on("arch-specs/dsa-sram.yaml", workload, mapping);
}

/* Two convolutions, 16 output channels and 48 of 224 rows at a time.  The seed counts weights, and
 * of all else the first tile only. */
static void two_convolutions(void) {
  enum { MID, IMAGE, FIRST, OUT, SECOND }; /* tensors */
  const int64_t plane = 224 * 224, i = 3 * plane, m = 32 * plane, o = 64 * plane,
                w = 32 * 3 + 64 * 32;
  const seen apart = evaluate_on("arch-specs/dsa-sram-8-bits.yaml", "conv-conv", "demo6");
  const seen fused = evaluate_on("arch-specs/dsa-sram-8-bits.yaml", "conv-conv", "demo6-1");
  CHECK(apart.fits && fused.fits);
  CHECK_I64(apart.words, 2 * i + m + 4 * m + o + w);
  CHECK_I64(fused.words, 4 * i + o + w);
  /* An image passes for every 16 channels that are made of it. */
  const int64_t first_of_apart =
      (apart.read[IMAGE] / 2 + apart.out[MID] / 2 + apart.read[MID] / 4 + apart.out[OUT] / 4) * 48 /
      224;
  CHECK_I64(first_of_apart + apart.read[FIRST] + apart.read[SECOND], 722528);
  const int64_t first_of_fused = (fused.read[IMAGE] / 4 + fused.out[OUT] / 4) * 48 / 224;
  CHECK_I64(first_of_fused + fused.read[FIRST] + fused.read[SECOND], 206432);
  CHECK_I64(fused.read[MID] + fused.out[MID], 0);
}

int main(void) {
  const int64_t i = 6422528, w = 1048576, o = 1605632; /* elements of image, weights, output */
  CHECK_I64(evaluate("conv", "demo1").words, 6578274304);
  CHECK_I64(evaluate("conv", "demo1-kept").words, 2048 * o + w + o);
  CHECK_I64(evaluate("conv", "demo2").words, 22 * i + w + o);
  CHECK_I64(evaluate("conv", "demo3-2").words, 22 * i + w + o);
  CHECK_I64(evaluate("conv", "demo3-3").words, 64 * i + w + o);
  CHECK(evaluate("conv", "demo2").fits && evaluate("conv", "demo3-2").fits);
  CHECK(evaluate("conv", "demo3-3").fits && evaluate("conv", "demo1").fits);
  CHECK(!evaluate("conv", "demo3-1").fits);
  CHECK(!evaluate("conv", "demo4").fits);
  /* Where the seed's flag counts the first of 128 passes over the depth only, its figures follow:
   */
  CHECK_I64((evaluate("conv", "demo3-3").words - o) / 128 + o, 4825088);
  CHECK_I64((evaluate("add-conv", "demo5-2").words - o) / 128 + o, 8036352);
  /* The sum fused by the seed's schedule is made 64 times; fused by rows it is made once. */
  CHECK_I64(evaluate("add-conv", "demo5-1").words, (64 + 3) * i + w + o);
  CHECK_I64(evaluate("add-conv", "demo5-2").words, 2 * 64 * i + w + o);
  CHECK_I64(evaluate("add-conv", "demo5-rows").words, 2 * i + 28 * w + o);
  CHECK(evaluate("add-conv", "demo5-rows").fits);
  two_convolutions();
  return check_report();
}
