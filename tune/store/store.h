/* What was measured: one SQLite file, in which a run is what was asked for and a trial one measurement of it.  Every
 * trial is in the file before the next is begun. */
#ifndef TUNE_STORE_STORE_H
#define TUNE_STORE_STORE_H
#include "base/arena.h"
#include "tileflow/tune.h"

typedef struct tune_store tune_store;

enum { TUNE_STORE_FORMAT = 1, TUNE_STORE_ID = 0x5446544e /* "TFTN", SQLite's application_id */ };

/* What makes a run another one. */
typedef struct {
  const char *problem; /* digest of workload, architecture and type of data */
  const char *workload, *machine, *compiler, *strategy;
  const char *options; /* whatever else: isas, batch, extra constraints */
  uint64_t seed;
} tune_run_key;

/* Opens the file: make: to be written, and made where there is none (path NULL: in memory); otherwise to be read alone,
 * which works in a folder that cannot be written, and while another process tunes.  NULL with an error in d. */
tune_store *tune_store_open(const char *path, bool make, tf_diags *d);
void tune_store_close(tune_store *s);
/* The number of the run, made where there is none; -1 with an error in d. */
int64_t tune_store_run(tune_store *s, const tune_run_key *k, tf_diags *d);
/* The run's trials 0, 1, .. as far as they go, texts in the arena; false with an error in d. */
bool tune_store_trials(tune_store *s, int64_t run, tf_arena *a, int *n, tf_trial **out, tf_diags *d);
bool tune_store_add(tune_store *s, int64_t run, const tf_trial *t, tf_diags *d);
/* The fastest of any run of the problem on the machine; texts malloc'd.  *there: false, there is none. */
bool tune_store_best(tune_store *s, const char *problem, const char *machine, bool *there, tf_tune_best *out,
                     tf_diags *d);

/* digest.c: of all that says what is computed and which mappings there are.  hex[65]. */
bool tune_digest(const tf_arch *arch, const tf_workload *wl, const char *dtype, char hex[65]);
#endif
