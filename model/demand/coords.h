/* Sets of coordinates along one rank, with the gaps that strides leave: coordinates that an index
 * touches, or that are needed of a dim. */
#ifndef MODEL_DEMAND_COORDS_H
#define MODEL_DEMAND_COORDS_H
#include "base/arena.h"
#include "tileflow/spec.h"

/* An arithmetic progression lo, lo + step, ... of n elements. */
typedef struct {
  int64_t lo, n;
} tf_run;

/* Disjoint runs with a common step, ordered by residue, then ascending.  A set that would need more
 * than TF_MAX_RUNS of them is represented by a subset, and not exact; without memory it is empty
 * and not exact. */
typedef struct {
  int64_t step; /* >= 1 */
  int n;
  tf_run *run;
  bool exact;
} tf_coords;

enum { TF_MAX_RUNS = 1 << 14 };

/* The set lo .. lo + n - 1. */
tf_coords tf_coords_range(tf_arena *a, int64_t lo, int64_t n);
/* The number of elements; at most INT64_MAX. */
int64_t tf_coords_count(const tf_coords *s);
/* The sumset: all sums of one element of each. */
tf_coords tf_coords_sum(tf_arena *a, const tf_coords *x, const tf_coords *y);
/* Each element times c, which is not 0. */
tf_coords tf_coords_scale(tf_arena *a, const tf_coords *x, int64_t c);
/* The elements from lo to hi, both included. */
tf_coords tf_coords_clip(tf_arena *a, const tf_coords *x, int64_t lo, int64_t hi);
/* The union.  Where it cannot be represented: the larger set, not exact. */
tf_coords tf_coords_join(tf_arena *a, const tf_coords *x, const tf_coords *y);
/* The intersection.  Where it cannot be represented: empty, not exact. */
tf_coords tf_coords_meet(tf_arena *a, const tf_coords *x, const tf_coords *y);
bool tf_coords_same(const tf_coords *x, const tf_coords *y);
#endif
