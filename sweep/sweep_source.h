/* The work queue: gives out pieces and collects results.  All workers, threads and other processes,
 * use it; the store belongs to one owner, who takes results from the queue. */
#ifndef SWEEP_SWEEP_SOURCE_H
#define SWEEP_SWEEP_SOURCE_H
#include <pthread.h>

#include "sweep/point.h"
#include "sweep/sweep_plan.h"

enum { SWEEP_PIECE = 64 };

/* Points to be computed, all of one machine. */
typedef struct {
  int64_t i; /* machine, in the order of the plan */
  int n;
  int64_t point[SWEEP_PIECE];
  int64_t work[SWEEP_PIECE]; /* [n] index into grid.jobs */
  bool skip;                 /* these need not be solved: each gets a row with state SKIPPED */
} sweep_piece;

typedef struct sweep_item {
  struct sweep_item *next;
  sweep_found found;
} sweep_item;

typedef struct {
  sweep_plan *plan;
  const tf_sweep_opts *opts;
  int piece; /* points to a piece */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int64_t next, next_work; /* the next to be given out */
  int64_t first_open;      /* machines before it are done */
  int64_t in_front;        /* number of machines on the front */
  sweep_front front;
  bool decided;             /* plan.ruled_out[next] is known */
  double end;               /* time after which no piece is given out; 0: no limit */
  bool ended;               /* stopped or failed: no piece is given out any more */
  bool broken;              /* memory ran out */
  int workers;              /* active workers */
  sweep_item *first, *last; /* the queue of results */
  int queued;
} sweep_source;

bool sweep_source_make(sweep_source *s, sweep_plan *p, const tf_sweep_opts *o);
void sweep_source_free(sweep_source *s);
/* The next piece; false: there are no more.  Waits if it depends on results that are missing. */
bool sweep_source_take(sweep_source *s, sweep_piece *out);
/* Adds a result to the plan and to the queue, which takes it over.  item NULL: the point was
 * abandoned. */
void sweep_source_give(sweep_source *s, sweep_item *item);
/* All queued results, in any order; waits until there is one, `seconds` have passed, or no worker
 * is left (*over). */
sweep_item *sweep_source_results(sweep_source *s, double seconds, bool *over);
void sweep_source_end(sweep_source *s);
/* Registers or unregisters workers. */
void sweep_source_workers(sweep_source *s, int more);
#endif
