/* What a machine scores over its workloads, and machines that none beats. */
#ifndef SWEEP_SCORE_H
#define SWEEP_SCORE_H
#include "sweep/grid/grid.h"

/* What is known of one machine: figures and bounds of its works, in the order of grid.works. */
typedef struct {
  double (*figures)[TF_N_GOALS]; /* NAN: none */
  double (*bounds)[TF_N_GOALS];
  uint8_t *state; /* 1 + tf_point_state; 0: not known */
} sweep_works;

/* Scores and bounds by goal.  Sums are of exact products and are rounded once, so a sum of bounds is never above that
 * of figures which are not below them.  score NAN: a workload has no mapping. */
void sweep_score(const tf_sweep_grid *g, const sweep_works *w, double score[TF_N_GOALS], double bound[TF_N_GOALS]);

/* Whether a beats b: nowhere more, and somewhere less; of equal ones the lower number beats, and each itself. */
bool sweep_beats(const tf_sweep_grid *g, const double *a, int64_t a_no, const double *b, int64_t b_no);

/* The factor that a result may be above a bound and still stand for it: 1 + `within`; of area, which is known, 1. */
double sweep_slack(const tf_sweep_grid *g, tf_goal goal);

typedef struct {
  int n, room;
  bool bad; /* memory ran out, or `most` was passed */
  int most; /* 0: no limit */
  double (*score)[TF_N_GOALS];
  int64_t *no;
} sweep_front;
/* Adds it unless it is beaten, and drops what it beats.  Scores that are not all numbers are never added. */
void sweep_front_add(const tf_sweep_grid *g, sweep_front *f, const double *score, int64_t no);
/* Whether a machine of the front has no more area than these bounds and at most `within` above each other one, where
 * the sweep says how much that is: no mapping on a machine of these bounds could be better by more than that. */
bool sweep_front_covers(const tf_sweep_grid *g, const sweep_front *f, const double *bound);
bool sweep_front_beats(const tf_sweep_grid *g, const sweep_front *f, const double *score, int64_t no);
void sweep_front_free(sweep_front *f);
#endif
