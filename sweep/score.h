/* Scores of machines over their workloads, and the Pareto front. */
#ifndef SWEEP_SCORE_H
#define SWEEP_SCORE_H
#include "sweep/grid/grid.h"

/* What is known about one machine: figures and bounds of its jobs, in the order of grid.jobs. */
typedef struct {
  double (*figures)[TF_N_GOALS]; /* NAN: none */
  double (*bounds)[TF_N_GOALS];
  uint8_t *state; /* 1 + tf_point_state; 0: not known */
} sweep_jobs;

/* Scores and bounds by goal.  Sums are of exact products and rounded once, so that a sum of bounds
 * never exceeds that of figures which are not below them.  score NAN: a workload has no mapping. */
void sweep_score(const tf_sweep_grid *g, const sweep_jobs *w, double score[TF_N_GOALS],
                 double bound[TF_N_GOALS]);

/* Whether a dominates b: nowhere greater, and somewhere less; among equal ones the lower number
 * dominates, and each itself. */
bool sweep_beats(const tf_sweep_grid *g, const double *a, int64_t a_no, const double *b,
                 int64_t b_no);

/* The factor by which a result may exceed a bound and still count as attaining it: 1 + `within`; 1
 * for area, which is known. */
double sweep_slack(const tf_sweep_grid *g, tf_goal goal);

typedef struct {
  int n;
  bool bad; /* memory ran out, or `most` was exceeded */
  int most; /* 0: no limit */
  double (*score)[TF_N_GOALS];
  int64_t *no;
} sweep_front;
/* Adds it unless it is dominated, and removes what it dominates.  Scores with NANs are never added.
 */
void sweep_front_add(const tf_sweep_grid *g, sweep_front *f, const double *score, int64_t no);
/* Whether a machine on the front has no more area than these bounds, and is at most `within` above
 * each other one (if the sweep gives a `within`): no mapping on a machine with these bounds could
 * be better by more than that. */
bool sweep_front_covers(const tf_sweep_grid *g, const sweep_front *f, const double *bound);
bool sweep_front_beats(const tf_sweep_grid *g, const sweep_front *f, const double *score,
                       int64_t no);
void sweep_front_free(sweep_front *f);
#endif
