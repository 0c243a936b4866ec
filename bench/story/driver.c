/* Times one step of the story: a nest of nests.c, or (KERNEL) what `tileflow emit` wrote.  Prints
 * seconds and the share of the peak; its result is held against a sum of some elements in double.
 */
#define _POSIX_C_SOURCE 200809L
#include "bench/kernels/rounds.h"
#include "bench/story/nests.h"
#if defined(KERNEL)
#include <kernel.h>
static kernel_args args;
#endif

static float *A, *B, *C, *E, *F;

static void run_once(void) {
#if defined(KERNEL)
  if (kernel(&args, NULL, 0)) exit(2);
#else
  nests(A, B, E, C, F);
#endif
}

static int right(void) {
  double off = 0, norm = 0;
  for (int i = 0; i < 8; i++) {
    int m = i * 977 % M, n = i * 1361 % N;
    double want = 0, got = F[m * N + n];
    for (int l = 0; l < L; l++) {
      double c = 0;
      for (int k = 0; k < K; k++)
        c += (double)A[m * K + k] * B[k * L + l];
      want += exp(c) * E[l * N + n];
    }
    off += (got - want) * (got - want);
    norm += want * want;
  }
  return sqrt(off / norm) < 1e-4;
}

int main(int argc, char **argv) {
  A = numbers((size_t)M * K), B = numbers((size_t)K * L), E = numbers((size_t)L * N);
  C = numbers((size_t)M * L), F = numbers((size_t)M * N);
  for (int i = 0; i < M * K; i++)
    A[i] /= 8; /* exp of small numbers */
#if defined(KERNEL)
  kernel_dense(&args);
  args.A = A, args.B = B, args.E = E, args.F = F;
#endif
  const double flop = 2.0 * M * L * (K + N);
  double peak = peak_once(), took = time_of(run_once, 1);
  if (!right()) {
    fprintf(stderr, "%s: wrong\n", argv[0]);
    return 1;
  }
  (void)argc;
  double share = flop / took / peak, least = took;
  for (int r = 0; r < 5 && took < 2;
       r++) { /* the least time counts: what else runs only ever slows one down */
    peak = peak_once();
    took = time_of(run_once, 1);
    if (took < least) least = took, share = flop / took / peak;
  }
  printf("%.6g,%.4f\n", least, share);
  return 0;
}
