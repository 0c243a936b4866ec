/* Mappings exchanged between machines: what one machine's search found is tried on all others. */
#ifndef SWEEP_EXCHANGE_H
#define SWEEP_EXCHANGE_H
#include "sweep/store/sweep_store.h"

typedef struct {
  int threads;
  bool (*stop)(void *ctx); /* may be NULL */
  void (*progress)(void *ctx, int64_t tried,
                   int64_t to_try); /* may be NULL; of one thread at a time */
  void *ctx;
} sweep_exchange_opts;

/* Tries the mappings of the store's searches at every point of the same workload that was searched,
 * and keeps the best by the sweep's first objective that depends on the mapping; where none is
 * better, the point's own.  All of it, or nothing, is in the store afterwards.  Does nothing if it
 * was done of the same rows.  False with an error in d; a run that was stopped changes nothing, and
 * is no error. */
bool sweep_exchange(const tf_sweep *s, tf_store *store, const sweep_exchange_opts *opts,
                    tf_diags *d);
#endif
