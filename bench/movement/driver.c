/* Calls the kernel of a chain of two products of SIDE x SIDE matrices whose rows stand SIDE + 16
 * words apart, so that a column does not fall into a few sets of a cache.
 *
 * - driver count: once, on memory that nothing has touched: for Cachegrind
 * - driver time: prints seconds (median) and the share of the peak of register-only multiply-adds
 *   measured in the same round */
#define _POSIX_C_SOURCE 200809L
#include "bench/kernels/rounds.h"
#include <kernel.h>
#include <stdbool.h>

enum { LINE = SIDE + 16, MATRICES = 4 };

static kernel_args args;
static void *workspace;
static size_t bytes;

static void ours(void) {
  if (kernel(&args, workspace, bytes)) exit(2);
}

static float *pages(size_t n) {
  float *p = aligned_alloc(4096, (n * sizeof *p + 4095) / 4096 * 4096);
  if (!p) exit(2);
  return p;
}

int main(int argc, char **argv) {
  const size_t words = (size_t)SIDE * LINE;
  const bool timed = argc > 1 && !strcmp(argv[1], "time");
  float *x[MATRICES];
  for (int i = 0; i < MATRICES; i++) {
    x[i] = pages(words);
    for (size_t k = 0; timed && k < words; k++)
      x[i][k] = (float)((long)(k * 37 % 101) - 50) / 256;
  }
  kernel_dense(&args);
  args.A = x[0], args.B = x[1], args.D = x[2], args.E = x[3];
  args.A_stride[1] = args.B_stride[1] = args.D_stride[1] = args.E_stride[1] = LINE;
  bytes = kernel_workspace();
  workspace = pages(bytes / sizeof(float) + 1);
  ours();
  if (!timed) return 0;
  double took[ROUNDS], share[ROUNDS];
  for (int r = 0; r < ROUNDS; r++) {
    double peak = peak_once();
    took[r] = time_of(ours, 3);
    share[r] = 4.0 * SIDE * SIDE * SIDE / took[r] / peak;
  }
  printf("%.6g %.4f\n", median(took), median(share));
  return 0;
}
