/* Tensors whose value does not matter, as that of a softmax's maximum does not: their gradient is 0. */
#ifndef GRAD_SHIFT_H
#define GRAD_SHIFT_H
#include "model/spec/reader.h"

/* What becomes of an element when a number is added to an element of x: nothing, `times` the number is added to it, or
 * e to `times` the number is a factor of it. */
typedef struct {
  enum { GR_NONE, GR_ADDED, GR_FACTOR, GR_UNKNOWN } how;
  double times;
} gr_change;

typedef struct {
  gr_change change;
  int rank_of[TF_MAX_RANK]; /* where there is a change: rank r of x is this one of the tensor */
} gr_shift;

/* Whether every tensor t with of[t] stays the same when any numbers are added to the elements of x, in exact
 * arithmetic: then the derivative by x is 0.  Seen, say, of what is only subtracted before an exponential that only its
 * own sums divide; false where it is not seen.  of: [n_tensors]; shift: [n_tensors], to work in. */
bool gr_shift_free(const tf_workload *wl, int x, const bool *of, gr_shift *shift);
#endif
