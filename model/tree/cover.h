/* The rule of cover, for all who ask: at every setting of the loops the trip counts of an op, from the node from which
 * it leads down to its leaf, reach the range that enters there, dim by dim.
 *
 * Ranges at a setting.  Say that no tensor had borders.  Then with every loop at its start each range is as long as it
 * ever is, and what another setting makes of it lies within that range moved by the digits times what one step of each
 * loop moves it: true of whole extents, of a part that a loop cuts (moved by its step, and no longer than the first),
 * of an affine read (moved by the sum of what its dims are), of what lies around several reads if one loop moves them
 * all alike, and borders only take away.  So the range at the start, borders aside and within the extent, is a bound;
 * where it is reached, at the start or elsewhere, it is the longest.  Elsewhere, and where reads are not moved alike
 * (then the extent is the bound), settings are looked at one by one; where they are too many, the bound counts: trips
 * that fall short of it are refused, though they might do. */
#ifndef MODEL_TREE_COVER_H
#define MODEL_TREE_COVER_H
#include "model/tree/range.h"

typedef struct {
  int64_t steps; /* product of the trip counts */
  int64_t bound; /* no range is longer */
  uint64_t mask; /* loops above, by their place on the way down, that have a say; ~0: too many */
} tf_reach;

typedef struct tf_cover {
  tf_ranges r;
  tf_reach *reach; /* [as r.now] */
  tf_shift *shift;
  int64_t *digits; /* [loop] */
} tf_cover;

/* Borrows the facts.  NULL when memory runs out. */
tf_cover *tf_cover_new(tf_arena *a, const tf_facts *f);
/* Fills reach for these trip counts (NULL: the tree's own) and, as one more loop at each leaf, what is left to split
 * (NULL: nothing); all above 0, products below 2^63. */
void tf_cover_begin(tf_cover *c, const int64_t *trips, const int64_t *rest);
/* The longest range of dim i of op o; or, as soon as one is met, some range longer than `enough`. */
int64_t tf_cover_longest(tf_cover *c, int o, int i, int64_t enough);
/* Whether all ranges are reached. */
bool tf_cover_all(tf_cover *c, const int64_t *trips);
#endif
