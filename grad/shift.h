/* Tensors whose value does not matter, like the maximum of a softmax: their gradient is 0. */
#ifndef GRAD_SHIFT_H
#define GRAD_SHIFT_H
#include "model/input/reader.h"

/* The change of an element when a number is added to an element of x: none; `times` the number is
 * added; or it is multiplied by e to `times` the number. */
typedef struct {
  enum { GR_NONE, GR_ADDED, GR_FACTOR, GR_UNKNOWN } kind;
  double times;
} gr_change;

typedef struct {
  gr_change change;
  int rank_of[TF_MAX_RANK]; /* where there is a change: rank r of x is this one of the tensor */
} gr_shift;

/* Whether every tensor t with of[t] stays the same, in exact arithmetic, when any numbers are added
 * to the elements of x: then the derivative by x is 0.  Proves it, for example, where x is only
 * subtracted before an exponential that only its own sums divide; false where there is no such
 * proof.  of: [n_tensors]; shift: [n_tensors] of working storage. */
bool gr_shift_free(const tf_workload *wl, int x, const bool *of, gr_shift *shift);
#endif
