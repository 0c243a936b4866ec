/* Times attention-g11: the median of the rounds, after one that warms up; where arguments can be packed, both ways.  ./bench [ROUNDS] */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel.h"

enum { ROUNDS = 31 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int later(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void *numbers(size_t n) {
  float *p = malloc(n * 4);
  if (!p) exit(2);
  for (size_t i = 0; i < n; i++) p[i] = (float)((float)(i * 37 % 101 + 1) / 64);
  return p;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  if (rounds < 1 || rounds > ROUNDS) rounds = ROUNDS;
  kernel_args args;
  double took[ROUNDS];
  memset(&args, 0, sizeof args);
  kernel_dense(&args);
  args.Q = numbers(49152);
  args.K = numbers(24576);
  args.O = numbers(49152);
  args.V = numbers(24576);
  size_t bytes = kernel_workspace();
  void *workspace = malloc(bytes);
  if (!workspace || kernel(&args, workspace, bytes)) return 2;
  for (int packs = 0; packs <= 0; packs++) {
    for (int r = 0; r < rounds; r++) {
      double from = now();
      kernel(&args, workspace, bytes);
      took[r] = now() - from;
    }
    qsort(took, (size_t)rounds, sizeof *took, later);
    printf("kernel%s %.6g s, %.4g GFLOP/s\n", packs ? ", packed beforehand," : "", took[rounds / 2], 76972032 / took[rounds / 2] / 1e9);
  }
  free(workspace);
  return 0;
}
