/* Leaps of the exact walk: iterations of a temporal loop that repeat the one before.
 *
 * An iteration moves the box of every slice by the same distance as the one before it, wherever
 * nothing is cut off: no range that the loop splits ends, and no box crosses the border of a padded
 * tensor.  If the memories then hold after an iteration what they held before it, moved by that
 * distance, the next iteration moves the same words and leaves the same, moved once more; and so on
 * until something is cut off.  Such iterations are counted by one product, so that the walk takes
 * time by the kinds of iterations and not by their number.
 *
 * Ops may share a loop with different steps.  Then slices that find each other in one memory are
 * moved unlike: the walk leaps if those that have met lay apart along a rank in which they move
 * further apart.  Ops past their end have no say. */
#ifndef MODEL_COST_EXACT_LEAP_H
#define MODEL_COST_EXACT_LEAP_H
#include "model/cost/exact/walker.h"

/* What leaps need, for e->leaps; NULL: out of memory, or too much is held for leaps to pay. */
struct tf_leaps *tf_leaps_new(tf_arena *a, const tf_walker *e);

/* Tells that iteration i of temporal loop l has been walked.  Returns the last iteration that has
 * been counted: i, or a later one, as far as the walk may leap.  Clears e->ok where a counter
 * overflows. */
int64_t tf_leap_after(tf_walker *e, int l, int64_t i);

/* Tells that tile slice i is about to enter this box, and what it finds in its place. */
void tf_leap_met(tf_walker *e, int i, const tf_held *found, const tf_ival *box);
#endif
