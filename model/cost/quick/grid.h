/* Internal to the quick count: places on a line at equal steps, and the parts of boxes at these
 * places that a border leaves. */
#ifndef MODEL_COST_QUICK_GRID_H
#define MODEL_COST_QUICK_GRID_H
#include "model/flow/plan.h"

/* The places sum of step_i * digit_i, all steps positive, the longest first.  For the loops from i
 * on: their number, the last place, and the sum of the places. */
typedef struct {
  int n;
  int64_t step[TF_MAX_PATH + 1], trip[TF_MAX_PATH + 1];
  int64_t all[TF_MAX_PATH + 1], span[TF_MAX_PATH + 1], sum[TF_MAX_PATH + 1];
} tf_grid;

/* Adds a loop; returns the place of its lowest digit. */
int64_t tf_grid_add(tf_grid *g, int64_t step, int64_t trip);
/* Fills all, span and sum once all loops are there. */
void tf_grid_sum_up(tf_grid *g);
/* The sum over all places of the part inside a tensor 0 .. extent - 1, of a box of length len that
 * begins there, shifted by lo. */
int64_t tf_grid_clipped(const tf_grid *g, int64_t lo, int64_t len, int64_t extent);
/* The longest such part over all places. */
int64_t tf_grid_longest(const tf_grid *g, int64_t lo, int64_t len, int64_t extent);
#endif
