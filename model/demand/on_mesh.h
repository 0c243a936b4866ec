/* Enumerates the spreads of a dim over the rest of a mesh. */
#ifndef MODEL_DEMAND_ON_MESH_H
#define MODEL_DEMAND_ON_MESH_H
#include <stdbool.h>
#include <stdint.h>

#include "base/checked.h"

/* Instances on each side.  Among numbers that leave the other dims as many instances, only the
 * largest is tried. */
typedef struct {
  int64_t extent, x, y; /* of the dim, >= 1; of the mesh that is left, >= 1 */
  int64_t on_x, on_y;   /* 0: before the first */
} tf_spread;

/* The next smaller number of instances that leaves more of n; 0 past the last. */
static inline int64_t tf_spread_fewer(int64_t n, int64_t instances) {
  return n / (n / instances + 1);
}

/* The next spread, from the most instances on; false after the last. */
static inline bool tf_spread_next(tf_spread *s) {
  if (s->on_y) s->on_y = tf_spread_fewer(s->y, s->on_y);
  if (s->on_y) return true;
  s->on_x = s->on_x ? tf_spread_fewer(s->x, s->on_x) : s->x < s->extent ? s->x : s->extent;
  if (!s->on_x) return false;
  const int64_t rest = tf_ceil_div(s->extent, s->on_x);
  s->on_y = s->y < rest ? s->y : rest;
  return true;
}
#endif
