/* How many points can be computed from a number of words: what slope_bound.c needs. */
#ifndef SEARCH_BOUND_SLOPE_HBL_H
#define SEARCH_BOUND_SLOPE_HBL_H
#include <stdbool.h>
#include <stdint.h>

enum { HBL_MAX_SETS = 6 };

/* Words of one tensor: at least `fiber` for each setting of the dims in the mask; `most` words at all. */
typedef struct {
  uint64_t dims;
  double fiber, most;
} hbl_set;

/* No set of points whose words are at most `budget` in sum has more elements than this.  extents[d] for dims of `all`.
 */
double hbl_points(const hbl_set *set, int n, const int64_t *extents, uint64_t all, double budget);
#endif
