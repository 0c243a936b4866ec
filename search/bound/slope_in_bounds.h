/* Counts points whose reads are inside their tensors: with padding, slope_bound.c counts only
 * these. */
#ifndef SEARCH_BOUND_SLOPE_IN_BOUNDS_H
#define SEARCH_BOUND_SLOPE_IN_BOUNDS_H
#include "model/demand/demand.h"

/* A lower bound on the needed points of op o all of whose reads touch an element. */
double slope_in_bounds(const tf_demand *d, int o);
/* Whether each element that op o produces has, for all values of the dims in `whole` (a set of
 * op o's dims, in its order) and for one value of the other reduced dims (the same for all
 * elements), reads of `ref` inside the tensor. */
bool slope_fibre(const tf_workload *wl, int o, const tf_ref *ref, uint64_t whole);
#endif
