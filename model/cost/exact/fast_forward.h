/* Fast-forwarding in the exact walk: iterations of a temporal loop that repeat the previous one are
 * not walked.
 *
 * An iteration moves the box of every slice by the same distance as the one before it, as long as
 * nothing is cut off: no range that the loop splits ends, and no box crosses the border of a padded
 * tensor.  If the memories then hold after an iteration what they held before it, moved by that
 * distance, the next iteration moves the same words and leaves the same contents, moved once more;
 * and so on until something is cut off.  Such iterations are counted by one product, so the time of
 * the walk depends on the kinds of iterations, not on their number.
 *
 * Ops may share a loop with different steps.  Then slices that find each other in one memory move
 * by different distances: the walk does so if those that have met are apart along a rank in which
 * they move further apart.  Ops past their end do not matter. */
#ifndef MODEL_COST_EXACT_FAST_FORWARD_H
#define MODEL_COST_EXACT_FAST_FORWARD_H
#include "model/cost/exact/walker.h"

/* The state of leaps, for e->fast_forward; NULL: out of memory, or so much is held that leaps do
 * not pay. */
struct tf_fast_forward *tf_fast_forward_new(tf_arena *a, const tf_walker *e);

/* To be called after iteration i of temporal loop l was walked.  Returns the last iteration that
 * has been counted: i, or a later one, as far as iterations repeat.  Clears e->ok if a counter
 * overflows. */
int64_t tf_fast_forward_after(tf_walker *e, int l, int64_t i);

/* To be called before tile slice i enters this box, with what it finds in its place. */
void tf_fast_forward_met(tf_walker *e, int i, const tf_held *found, const tf_ival *box);
#endif
