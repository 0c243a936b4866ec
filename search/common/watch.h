/* A budget at work: its clock, and whether it has been told to stop. */
#ifndef SEARCH_COMMON_WATCH_H
#define SEARCH_COMMON_WATCH_H
#include <stdatomic.h>

#include "tileflow/budget.h"

/* One for all threads of a run. */
typedef struct {
  const tf_budget *of;
  double start;   /* tf_now() */
  atomic_int why; /* 0: go on; 1 + tf_stop */
} tf_watch;

void tf_watch_begin(tf_watch *w, const tf_budget *of);
double tf_watch_seconds(const tf_watch *w);
/* Whether stop() says so now. */
bool tf_watch_asked(const tf_watch *w);
/* Whether to end: stop() or the clock says so, or has said so to any thread. */
bool tf_watch_over(tf_watch *w);
/* Why it ended, once it is over. */
static inline tf_stop tf_watch_why(tf_watch *w) { return (tf_stop)(atomic_load(&w->why) - 1); }
/* What is said of how far it is; fills in the seconds. */
void tf_watch_report(const tf_watch *w, tf_progress p);

/* Threads the budget asks for. */
int tf_budget_threads(const tf_budget *b);
#endif
