/* Contestants take turns in every round; what counts is the median over rounds of their ratios to
 * ours. */
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peak.h"

enum { ROUNDS = 21, MOST = 12 };

typedef struct {
  const char *name;
  void (*run)(void);
  int beside;          /* whose time its own is divided by */
  double took[ROUNDS]; /* seconds a call */
} contestant;

/* What a call computes: operations, by the type that is multiplied. */
typedef struct {
  double flop[KINDS];
} work;

/* Threads that contestants may use. */
static int threads(void) {
  const char *said = getenv("OMP_NUM_THREADS");
  int n = said ? atoi(said) : 1;
  return n > 0 ? n : 1;
}

/* Seconds.  Of one thread: its processor time, which leaves out what others run in between; of
 * several: what passes. */
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

/* Seconds that `w` takes where nothing but registers limits it, on all threads; 0 where that is not
 * known. */
static double ideal(const work *w) {
  double sum = 0;
  for (int k = 0; k < KINDS; k++) {
    if (w->flop[k] <= 0) continue;
    double from = now(), done = multiply_on_registers((kind)k), took = now() - from;
    if (done <= 0) return 0;
    sum += w->flop[k] * took / done;
  }
  return sum / threads();
}

/* FLOP/s of float32 on registers alone, one core. */
static inline double peak_once(void) {
  double from = now(), done = multiply_on_registers(F32);
  return done / (now() - from);
}

static double time_of(void (*run)(void), int calls) {
  double from = now();
  for (int i = 0; i < calls; i++)
    run();
  return (now() - from) / calls;
}

static double total(const work *w) {
  double sum = 0;
  for (int k = 0; k < KINDS; k++)
    sum += w->flop[k];
  return sum;
}

/* Rows "case,contestant,seconds,gflops,share_of_peak,times_slower,beside". */
static void print_rows(const char *name, const work *w, const contestant *c, int n,
                       const double *least) {
  for (int i = 0; i < n; i++) {
    double share[ROUNDS], ratio[ROUNDS], took = median(c[i].took);
    for (int r = 0; r < ROUNDS; r++) {
      ratio[r] = c[i].took[r] / c[c[i].beside].took[r];
      share[r] = least[r] / c[i].took[r];
    }
    printf("%s,%s,%.6g,%.4g,%.3f,%.3f,%s\n", name, c[i].name, took, total(w) / took / 1e9,
           median(share), median(ratio), c[c[i].beside].name);
  }
}

/* Calls of each are repeated to 3 ms a turn.  Who takes longer than a quarter of a second takes a
 * turn in every seventh round; longer than two seconds, none but the first call here.  All have
 * been called before. */
static void rounds(const char *name, work w, contestant *c, int n) {
  double least[ROUNDS], first[MOST];
  int calls[MOST], every[MOST]; /* every: rounds from turn to turn; 0: no turn */
  for (int i = 0; i < n; i++) {
    double once = first[i] = time_of(c[i].run, 1);
    every[i] = once > 2 ? 0 : once > 0.25 ? 7 : 1;
    if (every[i] == 1) once = time_of(c[i].run, 2);
    calls[i] = once > 3e-3 ? 1 : (int)(3e-3 / once) + 1;
  }
  for (int r = 0; r < ROUNDS; r++) {
    least[r] = ideal(&w);
    for (int i = 0; i < n; i++) {
      int k = (r % 2 ? n - 1 - i + r : i + r) %
              n; /* nobody always finds the caches that the same other one left */
      if (every[k])
        c[k].took[r] = r % every[k] ? NAN : time_of(c[k].run, calls[k]);
      else
        c[k].took[r] = r ? NAN : first[k];
    }
  }
  print_rows(name, &w, c, n, least);
}

/* What a kernel returned: it may refuse, as one for AMX does where Linux lends no tiles. */
static inline void ran(int status) {
  if (!status) return;
  fprintf(stderr, "the kernel refuses to run: %d (kernel.h says why)\n", status);
  exit(2);
}

static void *room(size_t bytes) {
  void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!p) exit(2);
  return p;
}

static float *numbers(size_t n) {
  float *p = room(n * sizeof *p);
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

/* Where contestants leave what they compute.  fetch: brings it to `got` as float32; NULL: it is
 * there. */
typedef struct {
  void *raw; /* cleared before each */
  size_t bytes;
  float *got;
  const float *want;
  size_t n;
  double limit;
  void (*fetch)(const contestant *c);
} result;

/* Calls each and compares.  Tells who is wrong. */
static bool all_right(const char *name, const contestant *c, int n, const result *r) {
  bool right = true;
  for (int i = 0; i < n; i++) {
    memset(r->raw, 0, r->bytes);
    c[i].run();
    if (r->fetch) r->fetch(&c[i]);
    double off = error_of(r->got, r->want, r->n);
    if (off < r->limit) continue;
    fprintf(stderr, "%s: %s is wrong by %g\n", name, c[i].name, off);
    right = false;
  }
  return right;
}
#endif
