/* A cache of a task's evaluations: strategies ask for the same trip counts again. */
#ifndef SEARCH_RUN_REPEAT_H
#define SEARCH_RUN_REPEAT_H
#include <stdint.h>

#include "base/arena.h"

typedef struct {
  bool filled;  /* the entry is filled in */
  bool refused; /* by the rules of trees, although the model counts it */
  double cost;
  int64_t effort, spent; /* charged for the evaluation */
} tf_outcome;

typedef struct tf_repeats tf_repeats;

/* Remembers at most `most` rows of n_loops trip counts, of which later ones replace earlier ones.
 * NULL: memory ran out. */
tf_repeats *tf_repeats_new(tf_arena *a, int n_loops, int64_t most);
/* The entry of these trip counts: filled in where `filled`; else empty, to be filled in at once. */
tf_outcome *tf_repeats_find(tf_repeats *r, const int64_t *trips);
#endif
