#define _POSIX_C_SOURCE 200809L
#include "cli/os/ranks.h"

#ifdef TF_MPI
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { TAG_ASKED = 1, TAG_ANSWERED };

/* Only one thread at a time calls MPI; nobody blocks inside MPI, which would keep a processor busy.
 */
struct cli_ranks {
  int rank, size;
  pthread_mutex_t lock;
};

/* By mpirun of Open MPI, of MPICH, or another implementation of PMI. */
static bool started_together(void) {
  return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
}

cli_ranks *cli_ranks_begin(void) {
  int level;
  cli_ranks *r = started_together() ? calloc(1, sizeof *r) : NULL;
  if (!r) return NULL;
  bool ok = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) == MPI_SUCCESS &&
            level >= MPI_THREAD_SERIALIZED;
  ok = ok && MPI_Comm_rank(MPI_COMM_WORLD, &r->rank) == MPI_SUCCESS &&
       MPI_Comm_size(MPI_COMM_WORLD, &r->size) == MPI_SUCCESS &&
       pthread_mutex_init(&r->lock, NULL) == 0;
  if (ok && r->size > 1) return r;
  if (ok) MPI_Finalize();
  free(r);
  return NULL;
}

int cli_ranks_mine(const cli_ranks *r) { return r ? r->rank : 0; }

int cli_ranks_size(const cli_ranks *r) { return r ? r->size : 1; }

static bool send_to(cli_ranks *r, int rank, int tag, const tf_bytes *b) {
  pthread_mutex_lock(&r->lock);
  int done = MPI_Send(b->n ? b->at : NULL, (int)b->n, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
  pthread_mutex_unlock(&r->lock);
  return done == MPI_SUCCESS;
}

/* Receives the message if it has arrived: 1; 0: not yet; -1: an error. */
static int receive(cli_ranks *r, int rank, int tag, tf_bytes *b) {
  MPI_Status status;
  int there = 0, n = 0;
  if (MPI_Iprobe(rank, tag, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS) return -1;
  if (!there) return 0;
  if (MPI_Get_count(&status, MPI_BYTE, &n) != MPI_SUCCESS || n < 0) return -1;
  if ((size_t)n > b->room) {
    char *more = realloc(b->at, (size_t)n);
    if (!more) return -1;
    b->at = more;
    b->room = (size_t)n;
  }
  b->n = (size_t)n;
  b->read = 0;
  return MPI_Recv(b->at, n, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS
             ? 1
             : -1;
}

/* Polls, often at first, then less often, down to a thousand times a second. */
static bool wait_from(cli_ranks *r, int rank, int tag, tf_bytes *b) {
  long pause = 10000;
  for (;;) {
    pthread_mutex_lock(&r->lock);
    int got = receive(r, rank, tag, b);
    pthread_mutex_unlock(&r->lock);
    if (got) return got > 0;
    nanosleep(&(struct timespec){0, pause}, NULL);
    if (pause < 1000000) pause += pause / 4;
  }
}

static bool ask_worker(void *ctx, int worker, tf_bytes *what, tf_bytes *answer) {
  cli_ranks *r = ctx;
  if (!send_to(r, worker + 1, TAG_ASKED, what)) return false;
  return what->n == 0 || wait_from(r, worker + 1, TAG_ANSWERED, answer);
}

static bool listen_to(void *ctx, tf_bytes *what) { return wait_from(ctx, 0, TAG_ASKED, what); }

static bool answer_to(void *ctx, const tf_bytes *found) {
  return send_to(ctx, 0, TAG_ANSWERED, found);
}

tf_sweep_workers cli_ranks_workers(cli_ranks *r) {
  return r ? (tf_sweep_workers){r->size - 1, ask_worker, r} : (tf_sweep_workers){0};
}

tf_sweep_owner cli_ranks_owner(cli_ranks *r) { return (tf_sweep_owner){listen_to, answer_to, r}; }

void cli_ranks_end(cli_ranks *r, bool ok, int status) {
  if (!r) return;
  if (!ok) MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Finalize();
  pthread_mutex_destroy(&r->lock);
  free(r);
}

#else

cli_ranks *cli_ranks_begin(void) { return NULL; }

int cli_ranks_mine(const cli_ranks *r) { return (void)r, 0; }

int cli_ranks_size(const cli_ranks *r) { return (void)r, 1; }

tf_sweep_workers cli_ranks_workers(cli_ranks *r) { return (void)r, (tf_sweep_workers){0}; }

tf_sweep_owner cli_ranks_owner(cli_ranks *r) { return (void)r, (tf_sweep_owner){0}; }

void cli_ranks_end(cli_ranks *r, bool ok, int status) { (void)r, (void)ok, (void)status; }
#endif
