/* Calls a kernel by live.h over and over, for as many seconds, and prints a row each half second:
 * seconds since it began, version, calls, processor seconds of the calls, seconds of the longest
 * one by the clock.  Compiled with the folder of emit --live. live FOLDER SECONDS */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live.h"
#include "live_tensors.h"

enum { N = sizeof tensors / sizeof *tensors };
static const double row_seconds = 0.5;

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void allocate(kernel_args *args) {
  kernel_dense(args);
  for (unsigned t = 0; t < N; t++) {
    float *p = malloc(tensors[t].words * sizeof *p);
    if (!p) exit(2);
    for (size_t i = 0; i < tensors[t].words; i++)
      p[i] = (float)number((unsigned long long)i, t);
    memcpy((char *)args + tensors[t].at, &p, sizeof p);
  }
}

int main(int argc, char **argv) {
  kernel_args args;
  memset(&args, 0, sizeof args);
  allocate(&args);
  kernel_live *live = argc > 2 ? kernel_live_open(argv[1], 1) : NULL;
  const double end = argc > 2 ? atof(argv[2]) : 0, from = now(CLOCK_MONOTONIC);
  if (!live) return 2;
  for (double row = from, at = from; at - from < end; row = at) {
    const long version = kernel_live_version(live);
    double worked = 0, longest = 0;
    long calls = 0;
    for (; at - row < row_seconds; calls++) {
      const double busy = now(CLOCK_THREAD_CPUTIME_ID), began = at;
      if (kernel_live_run(live, &args) != kernel_done) return 2;
      worked += now(CLOCK_THREAD_CPUTIME_ID) - busy;
      at = now(CLOCK_MONOTONIC);
      longest = fmax(longest, at - began);
    }
    printf("%.3f,%ld,%ld,%.6f,%.6f\n", at - from, version, calls, worked, longest);
    fflush(stdout);
  }
  kernel_live_close(live);
  return 0;
}
