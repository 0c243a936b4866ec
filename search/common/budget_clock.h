/* A budget in use: its clock, and whether the run has been told to stop. */
#ifndef SEARCH_COMMON_BUDGET_CLOCK_H
#define SEARCH_COMMON_BUDGET_CLOCK_H
#include <stdatomic.h>

#include "tileflow/budget.h"

/* Shared by all threads of a run. */
typedef struct {
  const tf_budget *budget;
  double start;   /* tf_now() */
  atomic_int why; /* 0: go on; else 1 + the tf_stop */
} tf_budget_clock;

void tf_clock_begin(tf_budget_clock *w, const tf_budget *of);
double tf_clock_seconds(const tf_budget_clock *w);
/* Whether the caller's stop() asks to end now. */
bool tf_clock_asked(const tf_budget_clock *w);
/* Whether to end: stop() or the clock says so, or said so to any thread before. */
bool tf_clock_over(tf_budget_clock *w);
/* Why it ended, once it is over. */
static inline tf_stop tf_clock_why(tf_budget_clock *w) {
  return (tf_stop)(atomic_load(&w->why) - 1);
}
/* Reports progress to the caller; fills in the elapsed seconds. */
void tf_clock_report(const tf_budget_clock *w, tf_progress p);

/* The number of threads that the budget asks for. */
int tf_budget_threads(const tf_budget *b);
#endif
