/* Points whose reads lie inside their tensors: what slope_bound.c may count on where tensors are padded. */
#ifndef SEARCH_BOUND_SLOPE_INSIDE_H
#define SEARCH_BOUND_SLOPE_INSIDE_H
#include "model/demand/demand.h"

/* Needed points of op o all of whose reads touch an element; no more than there are. */
double slope_inside(const tf_demand *d, int o);
/* Whether, for each element that op o makes, the dims of `whole` in all their values and the other reduced dims in one
 * that is the same for all elements give reads of `ref` inside the tensor. */
bool slope_fibre(const tf_workload *wl, int o, const tf_ref *ref, uint64_t whole);
#endif
