#define _GNU_SOURCE /* sched_getaffinity */
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/locale.h"

enum { MAX_THREADS = 256 };

typedef struct {
  void (*piece)(void *ctx, int i, int worker);
  void *ctx;
  int n;
  atomic_int next;
} job;

typedef struct {
  job *job;
  int worker;
  pthread_t thread;
} worker;

static void *work(void *arg) {
  TF_IN_C_LOCALE;
  const worker *w = arg;
  for (;;) {
    int i = atomic_fetch_add(&w->job->next, 1);
    if (i >= w->job->n) return NULL;
    w->job->piece(w->job->ctx, i, w->worker);
  }
}

void tf_threads_run(int threads, int n, void (*piece)(void *ctx, int i, int worker), void *ctx) {
  job j = {.piece = piece, .ctx = ctx, .n = n};
  worker w[MAX_THREADS];
  int started = 1;
  atomic_init(&j.next, 0);
  if (threads > MAX_THREADS) threads = MAX_THREADS;
  if (threads > n) threads = n;
  for (; started < threads; started++) {
    w[started] = (worker){.job = &j, .worker = started};
    if (pthread_create(&w[started].thread, NULL, work, &w[started]) != 0) break;
  }
  w[0] = (worker){.job = &j};
  work(&w[0]);
  for (int i = 1; i < started; i++)
    pthread_join(w[i].thread, NULL);
}

int tf_threads_there(void) {
  cpu_set_t may;
  long n =
      sched_getaffinity(0, sizeof may, &may) == 0 ? CPU_COUNT(&may) : sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (int)n;
}
