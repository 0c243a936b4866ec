/* Sets of coordinates along one rank, with the gaps that strides leave: what an index touches, what is needed of a dim.
 */
#ifndef MODEL_DEMAND_COORDS_H
#define MODEL_DEMAND_COORDS_H
#include "base/arena.h"
#include "tileflow/spec.h"

/* lo, lo + step, ...: n of them. */
typedef struct {
  int64_t lo, n;
} tf_run;

/* Disjoint runs of one step, by residue and then ascending.  Where a set would take more than TF_MAX_RUNS of them it is
 * a part of what it should be, and not exact; without memory it is empty and not exact. */
typedef struct {
  int64_t step; /* >= 1 */
  int n;
  tf_run *run;
  bool exact;
} tf_coords;

enum { TF_MAX_RUNS = 1 << 14 };

/* lo .. lo + n - 1 */
tf_coords tf_coords_range(tf_arena *a, int64_t lo, int64_t n);
/* How many; INT64_MAX at most. */
int64_t tf_coords_count(const tf_coords *s);
/* The sums of one element of each. */
tf_coords tf_coords_sum(tf_arena *a, const tf_coords *x, const tf_coords *y);
/* c times each; c is not 0. */
tf_coords tf_coords_scale(tf_arena *a, const tf_coords *x, int64_t c);
/* Those from lo to hi, both included. */
tf_coords tf_coords_clip(tf_arena *a, const tf_coords *x, int64_t lo, int64_t hi);
/* Both together.  Where that cannot be written the larger one, and not exact. */
tf_coords tf_coords_join(tf_arena *a, const tf_coords *x, const tf_coords *y);
/* Those that both have.  Where that cannot be written: none, and not exact. */
tf_coords tf_coords_meet(tf_arena *a, const tf_coords *x, const tf_coords *y);
bool tf_coords_same(const tf_coords *x, const tf_coords *y);

/* What an index makes of the coordinates of its dims: of[dim]. */
tf_coords tf_coords_image(tf_arena *a, const tf_index *ix, const tf_coords *of);
#endif
