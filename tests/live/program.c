/* A program that calls a product of matrices from two threads, all the time, and checks each
 * result, while versions of it come and go.
 *
 * - program FOLDER FILE...: gives each file to the program as FOLDER/next.so, and says what became
 *   of it
 * - program FOLDER + N: watches, until N versions were taken over, or N refused, or FOLDER/stop is
 *   there
 *
 * The last line says how it ended. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "live.h"

enum { M = 24, N = 20, K = 16, CALLERS = 2, NAPS = 3000 };

static kernel_live *live;
static float a[M * K], b[K * N];
static double want[M * N];
static atomic_int ends, wrong;
static atomic_long calls;

/* One call, checked; each caller has its own output. */
static void call(void) {
  float o[M * N];
  kernel_args args = {.O = o, .A = a, .B = b};
  double off = 0, norm = 0;
  kernel_dense(&args);
  memset(o, 0xff, sizeof o);
  const int status = kernel_live_run(live, &args);
  for (int i = 0; i < M * N; i++) {
    off += (o[i] - want[i]) * (o[i] - want[i]);
    norm += want[i] * want[i];
  }
  if (status != kernel_done || !(sqrt(off) <= 1e-5 * sqrt(norm))) atomic_store(&wrong, 1);
  atomic_fetch_add(&calls, 1);
}

static void nap(long microseconds) {
  nanosleep(&(struct timespec){.tv_nsec = 1000 * microseconds}, NULL);
}

static void *caller(void *none) {
  while (!atomic_load(&ends)) {
    for (int i = 0; i < 10; i++)
      call();
    nap(1000); /* others have work, too */
  }
  return none;
}

/* Until both callers have called again. */
static void more_calls(void) {
  const long from = atomic_load(&calls);
  while (atomic_load(&calls) < from + 4)
    nap(1000);
  call();
}

static void give(const char *folder, const char *file) {
  char next[4096];
  snprintf(next, sizeof next, "%s/next.so", folder);
  if (rename(file, next) != 0) perror(file), exit(2);
  const int found = kernel_live_look(live);
  more_calls();
  const char *name = strrchr(file, '/');
  printf("%s: %s\n", name ? name + 1 : file,
         found > 0   ? "taken"
         : found < 0 ? "refused"
                     : "not seen");
}

static void watch(const char *folder, long n) {
  char stop[4096];
  snprintf(stop, sizeof stop, "%s/stop", folder);
  for (int i = 0; i < NAPS && kernel_live_version(live) < n && kernel_live_refused(live) < n &&
                  access(stop, F_OK);
       i++)
    nap(100000);
  more_calls();
}

int main(int argc, char **argv) {
  pthread_t thread[CALLERS];
  const int watches = argc == 4 && !strcmp(argv[2], "+");
  if (argc < 3) return 2;
  for (int i = 0; i < M * K; i++)
    a[i] = (float)(i * 37 % 101) / 64;
  for (int i = 0; i < K * N; i++)
    b[i] = (float)(i * 53 % 97) / 64;
  for (int i = 0; i < M * N; i++)
    for (int k = 0; k < K; k++)
      want[i] += (double)a[i / N * K + k] * b[k * N + i % N];
  const kernel_args weights = {.A = a, .B = b, .A_stride = {K}, .B_stride = {N}};
  live = kernel_live_open(argv[1], watches);
  if (!live || kernel_live_weights(live, &weights) != kernel_done) return 2;
  if (kernel_live_weights(live, &weights) != kernel_bad_argument) return 2; /* once */
  for (int i = 0; i < CALLERS; i++)
    if (pthread_create(&thread[i], NULL, caller, NULL) != 0) return 2;
  if (watches) watch(argv[1], atol(argv[3]));
  for (int i = 2; i < argc && !watches; i++)
    give(argv[1], argv[i]);
  atomic_store(&ends, 1);
  for (int i = 0; i < CALLERS; i++)
    pthread_join(thread[i], NULL);
  printf("%s, version %ld, %ld refused\n", atomic_load(&wrong) ? "WRONG" : "all right",
         kernel_live_version(live), kernel_live_refused(live));
  kernel_live_close(live);
  return atomic_load(&wrong);
}
