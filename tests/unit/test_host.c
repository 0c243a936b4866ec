/* What is timed to measure a computer computes what it says, and figures are medians with their
 * spread.  Nothing here hangs on how long anything takes. */
#include <stdlib.h>

#include "cli/host/host_kernels.h"
#include "cli/host/host_measure.h"
#include "tests/unit/check.h"
#include "tileflow/emit.h"

static void test_figures(void) {
  double one[] = {3}, same[] = {2, 2, 2, 2, 2}, some[] = {9, 1, 5, 4, 6, 2, 8, 3, 7},
         none[] = {0, 0, 0};
  CHECK(host_figure_of(one, 1).value == 3 && host_figure_of(one, 1).spread == 0);
  CHECK(host_figure_of(same, 5).value == 2 && host_figure_of(same, 5).spread == 0);
  const host_figure f = host_figure_of(some, 9);
  CHECK(f.value == 5 && f.spread == (7.0 - 3.0) / 5);
  CHECK(host_figure_of(none, 3).value == 0 && host_figure_of(none, 3).spread == 0);
}

static void test_kernels(void) {
  enum { N = 4096 };
  uint64_t *p = aligned_alloc(64, N * sizeof *p), want = 0, sum = 0;
  float *x = aligned_alloc(64, 2 * N * sizeof *x);
  if (!CHECK(p && x)) exit(2);
  for (uint64_t i = 0; i < N; i++)
    want += p[i] = i * UINT64_C(0x9e3779b97f4a7c15);
  CHECK(host_read(p, N) == want && host_read(p, 64) != want && host_read(p, 0) == 0);
  host_write(p, N - 64, 7);
  CHECK(host_read(p, N - 64) == 7 * (N - 64) &&
        p[N - 64] == (N - 64) * UINT64_C(0x9e3779b97f4a7c15));
  for (int i = 0; i < N; i++)
    x[i] = -80.0f * (float)i / (N - 1);
  host_exp(x, x + N, N);
  for (int i = 0; i < N; i++)
    CHECK_NEAR(x[N + i], exp((double)x[i]), 1e-5);
  CHECK(host_multiply_adds(0, 1) == HOST_VECTORS && host_multiply_adds(100, 1) == HOST_VECTORS);
  CHECK(host_multiply_add_chain(0, 1) == 1 && host_multiply_add_chain(100, 1) == 1);
  CHECK(!host_adds(64, &sum) || sum == 64);
  CHECK_I64(host_calls(100), 100);
  const int lanes = host_lanes();
  CHECK(lanes == 4 || lanes == 8 || lanes == 16);
  free(p);
  free(x);
}

static bool is_figure(host_figure f) {
  return isfinite(f.value) && f.value > 0 && isfinite(f.spread) && f.spread >= 0;
}

/* Of a small computer: all figures are there, but those of what it has not. */
static void test_measured(void) {
  const int64_t bytes[] = {1 << 16, 1 << 14};
  const bool tiles = !strcmp(tf_emit_isa("bf16"), "amx");
  host_measured m;
  if (!CHECK(host_measure(bytes, 2, 1e9, tiles, &m))) return;
  CHECK(is_figure(m.mac) && is_figure(m.latency) && is_figure(m.exp) && is_figure(m.call) &&
        is_figure(m.tile) == tiles);
  uint64_t sum;
  CHECK(is_figure(m.clock_hz) == host_adds(8, &sum));
  for (int i = 0; i < HOST_CACHES; i++)
    CHECK(is_figure(m.read[i]) == (i <= 2) && is_figure(m.write[i]) == (i <= 2));
}

int main(void) {
  test_figures();
  test_kernels();
  test_measured();
  return check_report();
}
