#include "cli/host/host_measure.h"

#include <stdlib.h>
#include <time.h>

#include "cli/host/host_kernels.h"

/* Rounds per figure; memory beyond all caches: a multiple of the largest cache, within bounds. */
enum { ROUNDS = 9, BEYOND = 2, LEAST_BEYOND = 64 << 20, MOST_BEYOND = 512 << 20 };
static const double least_seconds = 0.004;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int later(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

host_figure host_figure_of(double *rounds, int n) {
  qsort(rounds, (size_t)n, sizeof *rounds, later);
  const double median = rounds[n / 2];
  return (host_figure){median, median > 0 ? (rounds[n - 1 - n / 4] - rounds[n / 4]) / median : 0};
}

/* A loop to be timed: its data, and a function that runs n rounds. */
typedef struct job {
  void (*run)(struct job *, int64_t n);
  uint64_t *at;
  int64_t words; /* of 64 bits */
  uint64_t seen; /* results, so that the compiler keeps the loops */
} job;

/* `each` times the rounds that the job does per second. */
static host_figure rate_of(job *j, double each) {
  double rate[ROUNDS], took = 0;
  int64_t n = 1;
  for (; took < least_seconds && n < INT64_MAX / 2; n *= 2) {
    const double from = now();
    j->run(j, n);
    took = now() - from;
  }
  for (int i = 0; i < ROUNDS; i++) {
    const double from = now();
    j->run(j, n);
    took = now() - from;
    rate[i] = took > 0 ? (double)n * each / took : 0;
  }
  return host_figure_of(rate, ROUNDS);
}

enum { ADDS = 1 << 10, EXPS = 1 << 10 };

static void run_adds(job *j, int64_t n) {
  for (uint64_t sum = 0; n > 0 && host_adds(ADDS, &sum); n--)
    j->seen += sum;
}
static void run_macs(job *j, int64_t n) { j->seen += (uint64_t)host_multiply_adds(n, 1); }
static void run_chain(job *j, int64_t n) { j->seen += (uint64_t)host_multiply_add_chain(n, 1); }
static void run_calls(job *j, int64_t n) { j->seen += (uint64_t)host_calls(n); }
static void run_tiles(job *j, int64_t n) { j->seen += host_tiles(n); }
static void run_exp(job *j, int64_t n) {
  float *from = (float *)(void *)j->at;
  while (n-- > 0)
    host_exp(from, from + EXPS, EXPS);
}
static void run_read(job *j, int64_t n) {
  while (n-- > 0)
    j->seen += host_read(j->at, j->words);
}
static void run_write(job *j, int64_t n) {
  while (n-- > 0)
    host_write(j->at, j->words, (uint64_t)n);
}

static host_figure scaled(host_figure f, double by) {
  return (host_figure){f.value * by, f.spread};
}

static void measure_core(double *clock_hz, bool tiles, uint64_t *room, host_measured *m) {
  uint64_t sum;
  job j = {.run = run_adds, .at = room};
  if (host_adds(8, &sum)) m->clock_hz = rate_of(&j, ADDS);
  if (m->clock_hz.value > 0) *clock_hz = m->clock_hz.value;
  j.run = run_macs;
  m->mac = scaled(rate_of(&j, HOST_VECTORS * host_lanes()), 1 / *clock_hz);
  j.run = run_chain;
  const host_figure chain = rate_of(&j, 4);
  m->latency = (host_figure){chain.value > 0 ? *clock_hz / chain.value : 0, chain.spread};
  j.run = run_exp;
  m->exp = scaled(rate_of(&j, EXPS), 1 / *clock_hz);
  j.run = run_calls;
  const host_figure calls = rate_of(&j, 1);
  m->call = (host_figure){calls.value > 0 ? *clock_hz / calls.value : 0, calls.spread};
  j.run = run_tiles;
  if (tiles) m->tile = scaled(rate_of(&j, HOST_TILES * HOST_TILE_WORK), 1 / *clock_hz);
}

static int64_t beyond(const int64_t *bytes, int n) {
  int64_t most = LEAST_BEYOND;
  for (int i = 0; i < n; i++)
    most = bytes[i] * BEYOND > most ? bytes[i] * BEYOND : most;
  return most < MOST_BEYOND ? most : MOST_BEYOND;
}

static int64_t whole_words(int64_t bytes) { return bytes / 512 > 0 ? bytes / 512 * 64 : 64; }

bool host_measure(const int64_t *bytes, int n, double clock_hz, bool tiles, host_measured *out) {
  const int64_t room = beyond(bytes, n);
  uint64_t *at = aligned_alloc(4096, (size_t)room);
  *out = (host_measured){.mac = {0, 0}};
  if (!at) return false;
  host_write(at, whole_words(room), 0); /* touches all pages; with zeros, whose exp is 1 */
  measure_core(&clock_hz, tiles, at, out);
  for (int i = 0; i <= n && i < HOST_CACHES; i++) {
    const int64_t size = i < n && bytes[i] < room ? bytes[i] / 2 : room;
    job j = {.run = run_read, .at = at, .words = whole_words(size)};
    out->read[i] = scaled(rate_of(&j, 8 * (double)j.words), 1 / clock_hz);
    j.run = run_write;
    out->write[i] = scaled(rate_of(&j, 8 * (double)j.words), 1 / clock_hz);
  }
  free(at);
  return true;
}
