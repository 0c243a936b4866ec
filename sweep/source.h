/* The source of work: hands out pieces, takes what became of them.  Whoever works - threads, and other processes later
 * - asks here; the store belongs to one owner, who takes results from the queue. */
#ifndef SWEEP_SOURCE_H
#define SWEEP_SOURCE_H
#include <pthread.h>

#include "sweep/plan.h"
#include "sweep/point.h"

enum { SWEEP_PIECE = 64 };

/* Points to be found, all of one machine. */
typedef struct {
  int64_t i; /* machine, in the order of the plan */
  int n;
  int64_t point[SWEEP_PIECE];
  int64_t work[SWEEP_PIECE]; /* [n] index into grid.works */
  bool skip;                 /* these need not be solved: each gets a row that says so */
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
  int64_t next, next_work; /* what is handed out next */
  int64_t first_open;      /* machines before it are done */
  int64_t in_front;        /* of how many machines the front is */
  sweep_front front;
  bool decided;             /* plan.ruled_out[next] is */
  double end;               /* no piece is handed out after this; 0: no limit */
  bool ended;               /* stopped, or broken: no piece is handed out any more */
  bool broken;              /* memory ran out */
  int workers;              /* at work */
  sweep_item *first, *last; /* the queue */
  int queued;
} sweep_source;

bool sweep_source_make(sweep_source *s, sweep_plan *p, const tf_sweep_opts *o);
void sweep_source_free(sweep_source *s);
/* The next piece; false: there is none any more.  Waits where what decides it is not known yet. */
bool sweep_source_take(sweep_source *s, sweep_piece *out);
/* What became of a point: into the plan and the queue, which owns it then.  item NULL: it was given up. */
void sweep_source_give(sweep_source *s, sweep_item *item);
/* All that is queued, in any order; waits until there is something, `seconds` pass, or no worker is left.  *over: none
 * is. */
sweep_item *sweep_source_results(sweep_source *s, double seconds, bool *over);
void sweep_source_end(sweep_source *s);
/* A worker comes, or leaves. */
void sweep_source_workers(sweep_source *s, int more);
#endif
