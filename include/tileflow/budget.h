/* The budget of a search, a solver or a slope: limits, how to stop it, and how it reports progress.
 */
#ifndef TILEFLOW_BUDGET_H
#define TILEFLOW_BUDGET_H
#include <stdbool.h>
#include <stdint.h>

#include "tileflow/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a run ended; the key is JSON's stopped_by. */
/* clang-format off */
#define TF_STOPS(X)                                                                           \
  X(EXHAUSTED, "exhausted") /* nothing is left to try */                                      \
  X(PROVED, "proved")       /* the goal, a bound of all mappings, is met */                   \
  X(BUDGET, "budget")       /* max_evals or max_effort was reached */                         \
  X(TIME, "time")           /* time_limit was reached: another run may give another result */ \
  X(INTERRUPT, "interrupt") /* stop() returned true */
/* clang-format on */
typedef enum {
#define X(id, key) TF_STOP_##id,
  TF_STOPS(X)
#undef X
      TF_N_STOPS
} tf_stop;
TF_API const char *tf_stop_key(tf_stop s);

typedef struct {
  int64_t evals;    /* mappings evaluated so far */
  int64_t shapes;   /* of a search: shapes of trees tried */
  int64_t capacity; /* of a slope: the current capacity, in words */
  double seconds;
  double best;  /* the best objective so far; INFINITY: nothing fits yet */
  double bound; /* lower bound on the objective; 0: none known */
} tf_progress;

/* All zero: no limits, one thread for each processor, seed 0, no callbacks. */
typedef struct {
  int64_t
      max_evals; /* mappings evaluated (for the exact solver also heads of mappings); 0: no limit */
  int64_t max_effort; /* as max_evals, but each evaluation counts by its duration in quick ones; 0:
                         no limit.  Only used by searches; what a log holds does not count */
  double time_limit;  /* in seconds; 0: none */
  int threads;        /* 0: one for each processor */
  uint64_t seed;      /* of random numbers, if any are used */
  bool (*stop)(void *ctx); /* called often, from any thread: true ends the run soon; may be NULL */
  void (*progress)(
      void *ctx,
      const tf_progress *p); /* called now and then, from the caller's thread; may be NULL */
  void *ctx;                 /* for both callbacks */
} tf_budget;

#ifdef __cplusplus
}
#endif
#endif
