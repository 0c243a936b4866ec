/* The order of machines, what of each is known, and which need not be solved.
 *
 * Machines are begun in the order of their bounds, the most promising first.  Whether the i-th needs to be solved is
 * decided by what the first sweep_plan_horizon(i) machines came to, and by nothing else: so the decision, and from
 * which neighbour's mapping a search begins, are the same with any number of threads and after any interruption. */
#ifndef SWEEP_PLAN_H
#define SWEEP_PLAN_H
#include "sweep/score.h"

typedef struct {
  const tf_sweep *s;
  bool prune;       /* machines whose bounds are beaten are not solved; else the order is that of their numbers */
  int64_t n;        /* machines of this run */
  int64_t *machine; /* [n] in the order in which they are begun */
  int64_t *sorted;  /* [n] the same ascending */
  int32_t *place;   /* [n] of sorted: where in the order */
  double (*bound)[TF_N_GOALS]; /* [n] prune: no mappings on it score less; NAN: its input is not sound */
  double (*score)[TF_N_GOALS]; /* [n] once it is done */
  sweep_works *works;          /* [n] of those that are not done */
  int32_t *left;               /* [n] works not known yet */
  bool *ruled_out;             /* [n] prune, once decided: beaten by its bounds alone */
  char **mapping;              /* [n * n_works] of searches: what they found; NULL: nothing, or no search */
  int64_t done;                /* points that are known */
} sweep_plan;

/* Lists the machines of a shard (0 of 0: all) and, where it prunes, finds their bounds.  False with an error in d. */
bool sweep_plan_make(sweep_plan *p, const tf_sweep *s, const tf_sweep_opts *o, tf_diags *d);
void sweep_plan_free(sweep_plan *p);

/* How many of the first machines must be done before the i-th is decided. */
int64_t sweep_plan_horizon(const sweep_plan *p, int64_t i);
/* Where in the order a machine stands; -1: not in this run. */
int64_t sweep_plan_find(const sweep_plan *p, int64_t machine);
/* Takes a result.  False: out of memory. */
bool sweep_plan_take(sweep_plan *p, const tf_sweep_row *r);
/* The mapping that a search of the i-th machine begins with; NULL: none of its neighbours has one. */
const char *sweep_plan_start(const sweep_plan *p, int64_t i, int64_t work);
#endif
