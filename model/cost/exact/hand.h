/* Words that instances take from their neighbours at one moment of the exact walk
 * (docs/SEMANTICS.md section 5). */
#ifndef MODEL_COST_EXACT_HAND_H
#define MODEL_COST_EXACT_HAND_H
#include "model/cost/exact/walker.h"
#include "model/cost/peers.h"

/* Counts the words of slice i that instances take and hand on, after `needs` and `box` of all
 * instances of its node are filled in; records what comes to each place. */
void tf_hand_on(tf_walker *e, int i);
#endif
