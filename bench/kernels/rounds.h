/* Contestants take turns in every round; what counts is the median over rounds of their ratios to the first. */
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 21, MOST = 8 };

typedef struct {
  const char *name;
  void (*run)(void);
  double took[ROUNDS]; /* seconds a call */
} contestant;

/* Threads that contestants may use. */
static int threads(void) {
  const char *said = getenv("OMP_NUM_THREADS");
  int n = said ? atoi(said) : 1;
  return n > 0 ? n : 1;
}

/* Seconds.  Of one thread: its processor time, which leaves out what others run in between; of several: what passes. */
static double now(void) {
  struct timespec t;
  clock_gettime(threads() > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int later(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Of the rounds that were taken: the others hold NAN. */
static double median(const double *v) {
  double copy[ROUNDS];
  int n = 0;
  for (int r = 0; r < ROUNDS; r++)
    if (!isnan(v[r])) copy[n++] = v[r];
  qsort(copy, (size_t)n, sizeof *copy, later);
  return copy[n / 2];
}

/* FLOP/s of float32 multiply-adds that touch nothing but registers, one core. */
static double peak_once(void) {
  double from = now(), flop;
#if defined(__AVX512F__)
  const int n = 200000;
  for (int i = 0; i < n; i++)
    __asm__ volatile(
#define F(r) "vfmadd231ps %%zmm30, %%zmm31, %%zmm" #r "\n\t"
      F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#undef F
      ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11");
  flop = 12 * 32.0 * n;
#elif defined(__AVX2__)
  const int n = 200000;
  for (int i = 0; i < n; i++)
    __asm__ volatile(
#define F(r) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #r "\n\t"
      F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#undef F
      ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11");
  flop = 12 * 16.0 * n;
#else
  flop = 0;
#endif
  return flop / (now() - from);
}

static double time_of(void (*run)(void), int calls) {
  double from = now();
  for (int i = 0; i < calls; i++)
    run();
  return (now() - from) / calls;
}

/* Rows "case,contestant,seconds,gflops,share_of_peak,times_slower"; calls of each are repeated to 3 ms a turn.  Who takes longer than a
 * quarter of a second takes a turn in every seventh round; longer than two seconds, none but the first
 * call here.  All have been called before. */
static void rounds(const char *name, double flop, contestant *c, int n) {
  double peak[ROUNDS], ratio[ROUNDS];
  int calls[MOST], every[MOST]; /* every: rounds from turn to turn; 0: no turn */
  double first[MOST];
  for (int i = 0; i < n; i++) {
    double once = first[i] = time_of(c[i].run, 1);
    every[i] = once > 2 ? 0 : once > 0.25 ? 7 : 1;
    if (every[i] == 1) once = time_of(c[i].run, 2);
    calls[i] = once > 3e-3 ? 1 : (int)(3e-3 / once) + 1;
  }
  for (int r = 0; r < ROUNDS; r++) {
    peak[r] = peak_once() * threads();
    for (int i = 0; i < n; i++) {
      int k = (i + r) % n;
      if (every[k])
        c[k].took[r] = r % every[k] ? NAN : time_of(c[k].run, calls[k]);
      else
        c[k].took[r] = r ? NAN : first[k];
    }
  }
  for (int i = 0; i < n; i++) {
    double share[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
      ratio[r] = c[i].took[r] / c[0].took[r];
      share[r] = peak[r] > 0 ? flop / c[i].took[r] / peak[r] : 0;
    }
    printf("%s,%s,%.6g,%.4g,%.3f,%.3f\n", name, c[i].name, median(c[i].took), flop / median(c[i].took) / 1e9, median(share), median(ratio));
  }
}

static float *numbers(size_t n) {
  float *p = aligned_alloc(64, (n * sizeof *p + 63) / 64 * 64);
  if (!p) exit(2);
  for (size_t i = 0; i < n; i++)
    p[i] = (float)((long)(i * 37 % 101) - 50) / 256;
  return p;
}

/* Relative to the norm of `want`. */
static double error_of(const float *got, const float *want, size_t n) {
  double off = 0, norm = 0;
  for (size_t i = 0; i < n; i++) {
    off += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
    norm += (double)want[i] * want[i];
  }
  return sqrt(off / (norm > 0 ? norm : 1));
}
#endif
