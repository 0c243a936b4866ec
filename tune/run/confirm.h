/* The end of a tuning: the fastest kernels are timed once more, in turns.  The least of many times
 * that each were taken once is also the luckiest. */
#ifndef TUNE_RUN_CONFIRM_H
#define TUNE_RUN_CONFIRM_H
#include "tune/store/tune_store.h"

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_tune_opts *o;
  tune_store *store;
  tune_store_what what;
  int64_t run;
  tf_tuned *out;
  tf_diags *d;
  bool gave_up; /* o->confirm returned false */
} tune_end;

/* Times the first choice, the fastest other trials of the run and the fastest of the store beside
 * each other, keeps the times in the store, and sets the best of `out`.  What the store has of this
 * run's end is not timed again.  False: an error in d, or gave_up. */
bool tune_confirm(tune_end *e);
/* The source of a kernel's files, by which kernels are distinguished. */
const char *tune_kernel_text(const tf_emitted *e);
#endif
