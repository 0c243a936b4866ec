/* What instances take from their neighbours at one moment of the exact walk (docs/SEMANTICS.md section 5). */
#ifndef MODEL_COST_EXACT_HAND_H
#define MODEL_COST_EXACT_HAND_H
#include "model/cost/exact/walker.h"

/* One instance: whether and what it needs; its new words, those of them that it takes from further out, and those that
 * it hands on. */
typedef struct tf_handed {
  bool needs;
  tf_ival box[TF_MAX_RANK];
  int64_t load, rest, sent;
} tf_handed;

/* Counts them for slice i, after `needs` and `box` of all instances of its node have been filled; notes what comes to
 * each place. */
void tf_hand_on(tf_walker *e, int i);
#endif
