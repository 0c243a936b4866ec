/* What a search, a solver or a slope may take, how it is told to stop, and how it says how far it is. */
#ifndef TILEFLOW_BUDGET_H
#define TILEFLOW_BUDGET_H
#include <stdbool.h>
#include <stdint.h>

/* Why it ended; key as JSON's stopped_by. */
/* clang-format off */
#define TF_STOPS(X)                                                                        \
  X(EXHAUSTED, "exhausted") /* nothing is left that the strategy would try */              \
  X(BUDGET, "budget")       /* max_evals, max_effort */                                    \
  X(TIME, "time")           /* time_limit: a run that another machine may not repeat */    \
  X(INTERRUPT, "interrupt") /* stop() said so */
/* clang-format on */
typedef enum {
#define X(id, key) TF_STOP_##id,
  TF_STOPS(X)
#undef X
      TF_N_STOPS
} tf_stop;
const char *tf_stop_key(tf_stop s);

typedef struct {
  int64_t evals;    /* mappings evaluated so far */
  int64_t shapes;   /* of a search: shapes of trees among them */
  int64_t capacity; /* of a slope: the one at work, in words */
  double seconds;
  double best;  /* of the objective; INFINITY while nothing fits */
  double bound; /* nothing has less; 0 where none is known */
} tf_progress;

/* All zero: no bound, one thread for each processor, seed 0, neither stopped nor reported. */
typedef struct {
  int64_t max_evals;       /* mappings evaluated (a solver: and heads of mappings); 0: no bound */
  int64_t max_effort;      /* as max_evals, but evaluations count by how many quick ones take as long; 0: no bound.  A
                              search alone asks it, and does not count what a log holds */
  double time_limit;       /* seconds; 0: none */
  int threads;             /* 0: one for each processor */
  uint64_t seed;           /* of random numbers, where there are any */
  bool (*stop)(void *ctx); /* asked often, from any thread: true ends it soon; may be NULL */
  void (*progress)(void *ctx, const tf_progress *p); /* told now and then, from the caller's thread; may be NULL */
  void *ctx;                                         /* of both */
} tf_budget;
#endif
