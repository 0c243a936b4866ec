/* The lines of one set at all places to which loops bring it: places that differ by whole lines
 * touch as many, so that they are counted by what is left of their addresses, never one by one. */
#ifndef MODEL_LAYOUT_SUM_H
#define MODEL_LAYOUT_SUM_H
#include "model/layout/place.h"

enum { TF_SUM_LOOPS = 64 };

/* A loop at settings from, from + 1, .. (n of them), of which each moves the set by so many
 * coordinates. */
typedef struct {
  int64_t from, n;
  int64_t by[TF_PLACE_RANKS];
} tf_place_loop;

/* Sums over all settings of the loops; at: the coordinates of the set's lower end where all stand
 * at 0, in the tensor. False: a sum passes 2^63 - 1, there would be too much to look at, or memory
 * ran out (s->starved). */
bool tf_touched_sum(const tf_places *p, const int64_t *at, const tf_elements *c,
                    const tf_place_loop *loops, int n_loops, tf_line_set *s, tf_touched *sum);
#endif
