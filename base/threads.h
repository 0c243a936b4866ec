/* Work spread over threads: n numbered pieces, each run once, in no given order. */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

/* Runs piece(ctx, i, worker) for i = 0 .. n - 1 on up to `threads` threads, the caller's among
 * them, and returns when all are done.  worker is 0 .. threads - 1 and tells pieces that run at
 * the same time apart.  Where a thread cannot be started the others do its share. */
void tf_threads_run(int threads, int n, void (*piece)(void *ctx, int i, int worker), void *ctx);

/* Processors this process may run on, at least 1. */
int tf_threads_there(void);
#endif
