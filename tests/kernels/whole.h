/* The meaning of a workload: each op over its whole space, one after the other, in double. */
#ifndef TESTS_KERNELS_WHOLE_H
#define TESTS_KERNELS_WHOLE_H
#include "tileflow/spec.h"

/* Tensors row-major over their extents: [tensor].  Inputs hold fixed small numbers; outputs and
 * intermediates what the ops make.  Free each and the array.  NULL: out of memory. */
double **whole_new(const tf_workload *wl);
void whole_run(const tf_workload *wl, double **data);
void whole_free(const tf_workload *wl, double **data);
/* Whether the outputs are the same but for rounding: 1e-9 of 1 + the value.  What is not a number
 * in one (a row of which a mask leaves nothing) is none in the other. */
bool whole_equal(const tf_workload *wl, double **want, double **got);
int64_t whole_words(const tf_tensor *z);
/* Where in its tensor the reference reads at the point (by dim), -1: in the padding. */
int64_t whole_at(const tf_workload *wl, const tf_ref *ref, const int64_t *point);
#endif
