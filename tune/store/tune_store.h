/* Measurements in one SQLite file: a run is a set of options, a trial one measurement of it.  Every
 * trial is written before the next is begun. */
#ifndef TUNE_STORE_TUNE_STORE_H
#define TUNE_STORE_TUNE_STORE_H
#include "base/arena.h"
#include "tileflow/tune.h"
#include "tune/learn/lesson.h"

typedef struct tune_store tune_store;

/* What identifies a run. */
typedef struct {
  const char *problem; /* digest of workload, architecture and type of data */
  const char *workload, *machine, *compiler, *strategy;
  const char *options; /* all other options: isas, batch, extra constraints */
  uint64_t seed;
} tune_run_key;

/* Opens the file.  make: for writing, created if it is missing (path NULL: in memory); otherwise
 * read-only, which works in a read-only folder, and while another process tunes.  NULL with an
 * error in d. */
tune_store *tune_store_open(const char *path, bool make, tf_diags *d);
void tune_store_close(tune_store *s);
/* The number of the run, created if it is new; -1 with an error in d. */
int64_t tune_store_run(tune_store *s, const tune_run_key *k, tf_diags *d);
/* The run's trials 0, 1, ... without gaps, texts in the arena; false with an error in d. */
bool tune_store_trials(tune_store *s, int64_t run, tf_arena *a, int *n, tf_trial **out,
                       tf_diags *d);
bool tune_store_add(tune_store *s, int64_t run, const tf_trial *t, tf_diags *d);
/* A kernel by the digest of its text, where it ran. */
typedef struct {
  const char *machine, *compiler, *digest;
} tune_kernel;

/* The time of a kernel that ran in any run of the store.  *there: whether there is one.  False with
 * an error in d. */
bool tune_store_recall(tune_store *s, const tune_kernel *k, bool *there, tf_timing *out,
                       tf_diags *d);
bool tune_store_remember(tune_store *s, const tune_kernel *k, const tf_timing *m, tf_diags *d);
enum { TUNE_BESIDE = 100 };
/* What is predicted for a kernel, which is remembered.  beside: names the kernels that it is
 * compared with, those of one problem and instruction set; at most TUNE_BESIDE - 1 characters. Each
 * kernel teaches once beside the same. */
bool tune_store_teach(tune_store *s, const char *beside, const tune_kernel *k, const lesson *l,
                      tf_diags *d);
/* The latest lessons of the machine and compiler that the store had when this was first asked for
 * the run, in the arena.  False with an error in d. */
bool tune_store_lessons(tune_store *s, int64_t run, const tune_kernel *where, tf_arena *a, int *n,
                        lesson_measured **out, tf_diags *d);
typedef struct {
  const char *problem, *machine;
} tune_store_what;

/* A trial of any run. */
typedef struct {
  int64_t run;
  int no;
  double confirmed; /* its seconds in the round, below */
} tune_finalist;

/* The fastest trial of any run of the problem on the machine: of the last round of finalists, or,
 * if there was none, of all trials.  Texts malloc'd, out's choices are left; who (its time is left)
 * may be NULL.  *there: whether there is one. */
bool tune_store_best(tune_store *s, const tune_store_what *what, bool *there, tf_tune_best *out,
                     char **schedule, tune_finalist *who, tf_diags *d);
/* Keeps a round: trials that were timed in turns at the end of the owner's run, in the place of its
 * last round. */
bool tune_store_confirm(tune_store *s, int64_t owner, const tune_finalist *f, int n, tf_diags *d);
/* Fills in the trials' times of the owner's round.  *all: whether it has all of them. */
bool tune_store_confirmed(tune_store *s, int64_t owner, tune_finalist *f, int n, bool *all,
                          tf_diags *d);

/* digest.c: of everything that determines what is computed and which mappings there are.  hex[65].
 */
bool tune_digest(const tf_arch *arch, const tf_workload *wl, const char *dtype, char hex[65]);
#endif
