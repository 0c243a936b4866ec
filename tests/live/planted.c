/* Versions that must not come into a program, one for each PLANTED; 0 is right. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "live.h"

enum { M = 24, N = 20, K = 16 };
enum {
  RIGHT,
  WRONG,
  WRONG_PACKED,
  CRASHES,
  DIVIDES,
  HANGS,
  ABORTS,
  ENDS,
  BESIDE,
  INPUT,
  FAILS,
  CONSTRUCTED,
  WAITS,
  OTHER
};

static volatile int zero;

static void misbehave(const kernel_args *args, const void *packed) {
  if (PLANTED == WRONG || (PLANTED == WRONG_PACKED && packed)) args->O[K] += 1;
  if (PLANTED == CRASHES) *(volatile int *)(long)zero = 1;
  if (PLANTED == DIVIDES) raise(SIGFPE);
  while (PLANTED == HANGS)
    zero = 0;
  if (PLANTED == ABORTS) abort();
  if (PLANTED == ENDS) exit(0);
  if (PLANTED == BESIDE) args->O[M * N] = 1;
  if (PLANTED == INPUT) ((float *)args->A)[3] = 7;
}

/* Says where it is, and waits to be killed. */
static void wait_here(void) {
  const char *path = getenv("PLANTED_PID");
  FILE *f = path ? fopen(path, "w") : NULL;
  if (f) fprintf(f, "%ld\n", (long)getpid()), fclose(f);
  for (;;)
    pause();
}

static int run(const void *from, const void *packed, void *workspace, size_t bytes) {
  const kernel_args *args = from;
  (void)workspace, (void)bytes;
  if (PLANTED == WAITS) wait_here();
  for (int i = 0; i < M * N; i++) {
    double sum = 0;
    for (int k = 0; k < K; k++)
      sum +=
          (double)args->A[i / N * args->A_stride[0] + k] * args->B[k * args->B_stride[0] + i % N];
    args->O[i / N * args->O_stride[0] + i % N] = (float)sum;
  }
  misbehave(args, packed);
  return PLANTED == FAILS ? kernel_no_memory : kernel_done;
}

static size_t none(void) { return 8; }

static int pack(const void *args, void *packed, size_t bytes) {
  (void)args;
  *(char *)packed = (char)bytes;
  return kernel_done;
}

__attribute__((constructor)) static void begin(void) {
  if (PLANTED == CONSTRUCTED) abort();
}

extern const kernel_live_table kernel_live_next;
const kernel_live_table kernel_live_next = {
    kernel_live_layout,
    PLANTED == OTHER ? "in A float32 16;"
                     : "out O float32 24 20;in A float32 24 16;in B float32 16 20;",
    run,
    none,
    none,
    pack};
