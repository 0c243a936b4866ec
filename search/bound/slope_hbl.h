/* How many points can be computed from a number of words, for slope_bound.c. */
#ifndef SEARCH_BOUND_SLOPE_HBL_H
#define SEARCH_BOUND_SLOPE_HBL_H
#include <stdbool.h>
#include <stdint.h>

enum { HBL_MAX_SETS = 6 };

/* Words of one tensor: at least `fiber` words for each setting of the dims in the set, of an op's
 * dims in its order; `most` words in total. */
typedef struct {
  uint64_t dims;
  double fiber, most;
} hbl_set;

/* An upper bound on the number of points whose words sum up to at most `budget`.  extents:
 * of the op's dims. */
double hbl_points(const hbl_set *set, int n, const int64_t *extents, int n_dims, double budget);
#endif
