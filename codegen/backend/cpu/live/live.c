/* Versions of kernel that take each other's place while it is called; see live.h. */
#define _GNU_SOURCE /* memfd_create, pipe2 */
#include "live.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* PERIOD, TRIAL in ms; TRIAL: at most, of the clock, beside the processor time that `try` allows.
 */
enum { SPARE = 8, LINE = 64, PERIOD = 100, TRIAL = 120000 };

/* A workspace, behind its size. */
typedef union {
  size_t bytes;
  char line[LINE];
} room;

typedef struct {
  const kernel_live_table *table;
  void *library; /* NULL: it is the program's own */
  int file; /* what the library was loaded from: its number is its name, so that it stays open */
  void *packed;
  _Atomic(room *) spare[SPARE];
} version;

struct kernel_live {
  _Atomic(version *) now;
  atomic_uint turn;      /* calls count themselves in inside[turn % 2] */
  atomic_long inside[2]; /* calls under way */
  atomic_long taken, refused;
  char *next, *trial; /* paths; NULL: nothing is replaced */
  struct stat seen;   /* of the file that was looked at last */
  kernel_args weights;
  int has_weights;
  pthread_mutex_t looking;
  int watches, stop[2]; /* a pipe: closing it ends the watcher, or what it waits for */
  pthread_t watcher;
};

/* ---- versions ------------------------------------------------------------------------------- */
static version *version_new(const kernel_live_table *table) {
  version *v = calloc(1, sizeof *v);
  if (v) v->table = table, v->file = -1;
  return v;
}

/* A library that stays although it was closed keeps its name, and so its file. */
static void unload(void *library, int file) {
  char name[40];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  if (library) dlclose(library);
  void *still = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (still)
    dlclose(still);
  else
    close(file);
}

static void version_free(version *v) {
  if (!v) return;
  for (int i = 0; i < SPARE; i++)
    free(atomic_load(&v->spare[i]));
  free(v->packed);
  if (v->library) unload(v->library, v->file);
  free(v);
}

/* Lays out the weights.  Other than kernel_done: it could not. */
static int version_pack(version *v, const kernel_args *weights) {
  const size_t bytes = v->table->packed();
  if (!bytes) return kernel_done;
  v->packed = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
  return v->packed ? v->table->pack(weights, v->packed, bytes) : kernel_no_memory;
}

/* ---- calls ---------------------------------------------------------------------------------- */
static room *take_room(version *v) {
  const size_t bytes = v->table->workspace();
  for (int i = 0; i < SPARE; i++) {
    room *r = atomic_load_explicit(&v->spare[i], memory_order_relaxed)
                  ? atomic_exchange(&v->spare[i], NULL)
                  : NULL;
    if (r && r->bytes >= bytes) return r;
    free(r); /* OpenMP has more threads than it had */
  }
  room *r = aligned_alloc(LINE, sizeof *r + (bytes + LINE - 1) / LINE * LINE);
  if (r) r->bytes = bytes;
  return r;
}

static void leave_room(version *v, room *r) {
  for (int i = 0; i < SPARE; i++) {
    room *none = NULL;
    if (atomic_compare_exchange_strong(&v->spare[i], &none, r)) return;
  }
  free(r);
}

int kernel_live_run(kernel_live *live, const kernel_args *args) {
  if (!live || !args) return kernel_bad_argument;
  const unsigned turn = atomic_load(&live->turn) % 2;
  atomic_fetch_add(&live->inside[turn], 1);
  version *v = atomic_load(&live->now); /* stays as long as this call is counted */
  room *r = take_room(v);
  const int status = r ? v->table->run(args, v->packed, r + 1, r->bytes) : kernel_no_memory;
  if (r) leave_room(v, r);
  atomic_fetch_sub(&live->inside[turn], 1);
  return status;
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); }

/* Puts v in the place of the version of now, which is freed when the last call has left it.  A call
 * that counts itself after the exchange finds v; those that may have found the old one are in one
 * of the two counts, each of which is waited for once.  New calls count themselves in the other one
 * meanwhile, so that the wait ends. */
static void replace(kernel_live *live, version *v) {
  version *old = atomic_exchange(&live->now, v);
  for (int i = 0; i < 2; i++) {
    const unsigned turn = atomic_fetch_add(&live->turn, 1) % 2;
    while (atomic_load(&live->inside[turn]) != 0)
      nap();
  }
  version_free(old);
}

/* ---- a new version -------------------------------------------------------------------------- */
/* A copy that nobody can change any more; -1: none. */
static int copy_of(const char *path, struct stat *seen) {
  char part[65536];
  const int from = open(path, O_RDONLY | O_CLOEXEC);
  int to = from >= 0 ? memfd_create("next", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;
  ssize_t n = from >= 0 && fstat(from, seen) == 0 && S_ISREG(seen->st_mode) ? 1 : -1;
  while (to >= 0 && n > 0 && (n = read(from, part, sizeof part)) > 0)
    if (write(to, part, (size_t)n) != n) n = -1;
  if (from >= 0) close(from);
  if (to >= 0 && n == 0 &&
      fcntl(to, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    return to;
  if (to >= 0) close(to);
  return -1;
}

/* Starts `try` with the file as its stdin; *said: what it writes. */
static pid_t start(const char *trial, int file, int *said) {
  char *const args[] = {(char *)(uintptr_t)trial, NULL};
  extern char **environ;
  int end[2];
  pid_t child = -1;
  posix_spawn_file_actions_t does;
  posix_spawnattr_t as;
  sigset_t none, defaults;
  if (pipe2(end, O_CLOEXEC) != 0) return -1;
  sigemptyset(&none);
  sigfillset(&defaults);
  posix_spawnattr_init(&as);
  posix_spawnattr_setflags(&as,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setsigmask(&as, &none);
  posix_spawnattr_setsigdefault(&as, &defaults);
  posix_spawn_file_actions_init(&does);
  posix_spawn_file_actions_adddup2(&does, file, 0);
  posix_spawn_file_actions_adddup2(&does, end[1], 1);
  if (posix_spawn(&child, trial, &does, &as, args, environ) != 0) child = -1;
  posix_spawn_file_actions_destroy(&does);
  posix_spawnattr_destroy(&as);
  close(end[1]);
  *said = end[0];
  if (child < 0) close(end[0]);
  return child;
}

/* Whether all that is written is "right": until the writer has ended, the time is over, or `live`
 * is closed. */
static int says_right(const kernel_live *live, int said) {
  char text[16];
  size_t n = 0;
  struct timespec from, now;
  clock_gettime(CLOCK_MONOTONIC, &from);
  while (n < sizeof text) {
    struct pollfd ends[] = {{.fd = said, .events = POLLIN}, {.fd = live->stop[0]}};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long left = TRIAL - (long)(now.tv_sec - from.tv_sec) * 1000;
    const int ready = left > 0 ? poll(ends, 2, (int)left) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || ends[1].revents) return 0;
    const ssize_t more = read(said, text + n, sizeof text - n);
    if (more == 0) return n == 6 && !memcmp(text, "right\n", 6);
    if (more > 0) n += (size_t)more;
    if (more < 0 && errno != EINTR) return 0;
  }
  return 0;
}

/* Whether a process of its own finds it right. */
static int is_right(const kernel_live *live, int file) {
  int said, status = 0;
  const pid_t child = start(live->trial, file, &said);
  if (child < 0) return 0;
  const int right = says_right(live, said);
  close(said);
  kill(-child, SIGKILL); /* with what it may have started; all of it is done if it is right */
  pid_t ended;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  (void)status; /* the program may wait for children, or ignore them, itself: what was written
                   counts */
  return right;
}

/* The version in the file, which it takes over; NULL: there is none. */
static version *load(const kernel_live *live, int file) {
  char name[40];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  const kernel_live_table *table = library ? dlsym(library, "kernel_live_next") : NULL;
  const int fits = table && table->layout == kernel_live_layout &&
                   table != atomic_load(&live->now)->table &&
                   !strcmp(table->arguments, kernel_live_own.arguments);
  version *v = fits ? version_new(table) : NULL;
  if (!v) {
    unload(library, file);
    return NULL;
  }
  v->library = library;
  v->file = file;
  if (!live->has_weights || version_pack(v, &live->weights) == kernel_done) {
    room *r = take_room(v); /* the first call finds its pages there */
    if (r) memset(r + 1, 0, r->bytes), leave_room(v, r);
    return v;
  }
  version_free(v);
  return NULL;
}

static int is_seen(const struct stat *a, const struct stat *b) {
  return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
         a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int look(kernel_live *live) {
  struct stat now;
  if (stat(live->next, &now) != 0 || is_seen(&now, &live->seen)) return 0;
  int file = copy_of(live->next, &now);
  live->seen = now;
  version *v = NULL;
  if (file >= 0 && is_right(live, file))
    v = load(live, file);
  else if (file >= 0)
    close(file);
  atomic_fetch_add(v ? &live->taken : &live->refused, 1);
  if (v) replace(live, v);
  return v ? 1 : -1;
}

int kernel_live_look(kernel_live *live) {
  if (!live || !live->next) return 0;
  pthread_mutex_lock(&live->looking);
  const int found = look(live);
  pthread_mutex_unlock(&live->looking);
  return found;
}

static void *watch(void *of) {
  kernel_live *live = of;
  struct pollfd stop = {.fd = live->stop[0]};
  while (poll(&stop, 1, PERIOD) <= 0)
    kernel_live_look(live);
  return NULL;
}

/* ---- the whole ------------------------------------------------------------------------------ */
static char *path_of(const char *folder, const char *name) {
  const size_t n = strlen(folder) + strlen(name) + 2;
  char *path = malloc(n);
  if (path) snprintf(path, n, "%s/%s", folder, name);
  return path;
}

/* Its signals are the program's other threads'. */
static int start_watcher(kernel_live *live) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  live->watches = pthread_create(&live->watcher, NULL, watch, live) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return live->watches;
}

kernel_live *kernel_live_open(const char *folder, int watch) {
  kernel_live *live = calloc(1, sizeof *live);
  version *own = version_new(&kernel_live_own);
  if (!live || !own || pipe2(live->stop, O_CLOEXEC) != 0) {
    free(own);
    free(live);
    return NULL;
  }
  pthread_mutex_init(&live->looking, NULL);
  atomic_store(&live->now, own);
  live->next = folder ? path_of(folder, "next.so") : NULL;
  live->trial = folder ? path_of(folder, "try") : NULL;
  if (!folder || (live->next && live->trial && (!watch || start_watcher(live)))) return live;
  kernel_live_close(live);
  return NULL;
}

void kernel_live_close(kernel_live *live) {
  if (!live) return;
  close(live->stop[1]);
  if (live->watches) pthread_join(live->watcher, NULL);
  close(live->stop[0]);
  version_free(atomic_load(&live->now));
  pthread_mutex_destroy(&live->looking);
  free(live->next);
  free(live->trial);
  free(live);
}

int kernel_live_weights(kernel_live *live, const kernel_args *args) {
  if (!live || !args || live->has_weights) return kernel_bad_argument;
  pthread_mutex_lock(&live->looking);
  live->weights = *args;
  version *v = atomic_load(&live->now);
  const int status = version_pack(v, args);
  live->has_weights = status == kernel_done;
  if (status != kernel_done) {
    free(v->packed);
    v->packed = NULL;
  }
  pthread_mutex_unlock(&live->looking);
  return status;
}

long kernel_live_version(const kernel_live *live) { return live ? atomic_load(&live->taken) : 0; }
long kernel_live_refused(const kernel_live *live) { return live ? atomic_load(&live->refused) : 0; }
