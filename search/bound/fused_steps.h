/* Parts of the bound of one op of a graph: numbers of steps, and what short last ones spare. */
#ifndef SEARCH_BOUND_FUSED_STEPS_H
#define SEARCH_BOUND_FUSED_STEPS_H
#include <stdbool.h>
#include <stdint.h>

#include "search/bound/fused.h"

/* Numbers of steps that are alike: from lo to hi, of `len` values or more each. */
typedef struct {
  int64_t lo, hi, len;
} tf_f_steps;

typedef struct {
  int n;
  tf_f_steps of[TF_F_CLASSES];
} tf_f_classes;

int64_t tf_f_divided_up(int64_t a, int64_t b);
/* All numbers of steps of a dim, in so many classes at most; one and two steps stay alone.  False:
 * there are too many, or there is no memory. */
bool tf_f_find_classes(int64_t extent, int most, tf_f_classes *out);

/* The room of a part for steps of P on a dim. */
typedef struct {
  double slack;     /* how many times an even share of the dim a step covers, at most */
  double values;    /* and how many values */
  double instances; /* that hold the part */
} tf_f_room;

/* The share of the words that P on a dim spares, at most, with such numbers of steps; deep: ops
 * behind that may cut the dim. */
double tf_f_spared(const tf_f_steps *c, double deep, const tf_f_room *r);
/* The share of a dim of which an instance has a single step, at most, inside of a place with `out`
 * steps, where c are all steps. */
double tf_f_single(const tf_f_steps *c, const tf_f_steps *out, double deep, const tf_f_room *r);
#endif
