/* The order of machines, what is known about each, and which need not be solved.
 *
 * Machines are begun in the order of their bounds, the most promising first.  Whether the i-th
 * needs to be solved depends only on the results of the first sweep_plan_horizon(i) machines: so
 * that decision, and the neighbour whose mapping a search begins with, are the same with any number
 * of threads and after any interruption. */
#ifndef SWEEP_SWEEP_PLAN_H
#define SWEEP_SWEEP_PLAN_H
#include "sweep/score.h"

typedef struct {
  const tf_sweep *s;
  bool prune; /* machines with dominated bounds are not solved; otherwise machines are begun by
                 number */
  int64_t n;  /* machines of this run */
  int64_t *machine;            /* [n] in the order in which they are begun */
  int64_t *sorted;             /* [n] the same, ascending */
  int32_t *place;              /* [n] position in the order of sorted[i] */
  double (*bound)[TF_N_GOALS]; /* [n] with prune: lower bounds on its scores; NAN: its input is not
                                  valid */
  double (*score)[TF_N_GOALS]; /* [n] once it is done */
  sweep_jobs *jobs;            /* [n] for machines that are not done */
  int32_t *left;               /* [n] jobs whose results are missing */
  bool *ruled_out;             /* [n] with prune, once decided: excluded by its bounds alone */
  char **mapping;              /* [n * n_jobs] mappings that searches found; NULL: none */
  int64_t done;                /* points whose results are known */
} sweep_plan;

/* Lists the machines of a shard (0 of 0: all) and, where it prunes, computes their bounds.  False
 * with an error in d. */
bool sweep_plan_make(sweep_plan *p, const tf_sweep *s, const tf_sweep_opts *o, tf_diags *d);
void sweep_plan_free(sweep_plan *p);

/* How many machines at the front of the order must be done before the i-th is decided. */
int64_t sweep_plan_horizon(const sweep_plan *p, int64_t i);
/* The position of a machine in the order; -1: not in this run. */
int64_t sweep_plan_find(const sweep_plan *p, int64_t machine);
/* Adds a result.  False: out of memory. */
bool sweep_plan_take(sweep_plan *p, const tf_sweep_row *r);
/* The mapping with which a search of the i-th machine begins; NULL: none of its neighbours has one.
 */
const char *sweep_plan_start(const sweep_plan *p, int64_t i, int64_t work);
#endif
