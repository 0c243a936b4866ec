/* What a task has evaluated lately: trip counts are asked for again, and then cost what they cost.
 */
#ifndef SEARCH_RUN_REPEAT_H
#define SEARCH_RUN_REPEAT_H
#include <stdint.h>

#include "base/arena.h"

typedef struct {
  bool there;   /* it may be recalled */
  bool refused; /* by the rules of trees, though the model counts it */
  double cost;
  int64_t effort, spent; /* what the evaluation is charged */
} tf_outcome;

typedef struct tf_repeats tf_repeats;

/* Remembers at most `most` rows of n_loops trip counts, and of these later ones rather than earlier
 * ones.  NULL: memory ran out. */
tf_repeats *tf_repeats_new(tf_arena *a, int n_loops, int64_t most);
/* The place of these trip counts: what is known of them where `there`; else empty, to be filled in
 * at once. */
tf_outcome *tf_repeats_find(tf_repeats *r, const int64_t *trips);
#endif
