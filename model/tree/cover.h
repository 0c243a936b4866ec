/* The rule of cover, for all who need it: at every setting of the loops, an op's trip counts from
 * the node at which it leads down to its leaf cover the range that enters there, dim by dim.
 *
 * Which setting is the longest.  Suppose that no tensor had borders.  Then each range is longest
 * with every loop at its start, and at any other setting it lies within that range, shifted by the
 * digits times what one step of each loop moves it.  This is true of whole extents; of a part that
 * a loop cuts (shifted by its step, and no longer than the first); of an affine read (shifted by
 * the sum of its dims' shifts); of the hull of several reads if each loop moves them all alike; and
 * borders only shorten ranges, but that they pull a read in the padding alone to the nearest
 * element, maybe away from another read (`bent`: moved unlike, too).  So the range at the start,
 * without borders and within the extent, is an upper bound; where some setting reaches it, it is
 * the longest.  Otherwise, and where reads are not moved alike (then the extent is the bound),
 * settings are evaluated one by one; if they are too many, the bound counts: trip counts that do
 * not cover it are refused, although they might do. */
#ifndef MODEL_TREE_COVER_H
#define MODEL_TREE_COVER_H
#include "model/tree/range.h"

typedef struct {
  int64_t steps; /* product of the trip counts */
  int64_t bound; /* upper bound on the range */
  uint64_t mask; /* positions of the loops above on which it depends; ~0: too many */
} tf_reach;

typedef struct tf_cover {
  tf_ranges r;
  tf_reach *reach; /* [as r.now] */
  tf_shift *shift;
  int64_t *digits; /* [loop] */
} tf_cover;

/* Borrows the facts.  NULL when memory runs out. */
tf_cover *tf_cover_new(tf_arena *a, const tf_facts *f);
/* Fills `reach` for these trip counts (NULL: the tree's own).  `rest`: what is left to split, as
 * one more loop at each leaf (NULL: nothing).  All must be > 0, and products below 2^63. */
void tf_cover_begin(tf_cover *c, const int64_t *trips, const int64_t *rest);
/* The longest range of dim i of op o; or any range longer than `enough`, as soon as one is found.
 */
int64_t tf_cover_longest(tf_cover *c, int o, int i, int64_t enough);
/* The k-th loop of a node. */
typedef struct {
  int node, k;
} tf_loop_at;
/* The least trip count of a loop that leaves out no step: as many of its steps as the longest range
 * of the ops that it splits has.  trips: NULL: the tree's own; longest: [as ranges], below 1: not
 * known; *needy: the op that needs it.  0: not known. */
int64_t tf_cover_needs(const tf_facts *f, const int64_t *trips, const int64_t *longest,
                       tf_loop_at at, int *needy);
/* Whether all ranges are covered. */
bool tf_cover_all(tf_cover *c, const int64_t *trips);
#endif
