/* What benchmarks of evaluations share: the clock they measure by, and the end where an input is
 * not read. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tileflow/diag.h"

/* Processor time of this thread, in seconds. */
static inline double bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void bench_die(tf_diags *d) {
  char *text = tf_diags_text(d);
  fputs(text ? text : "?", stderr);
  exit(1);
}
#endif
