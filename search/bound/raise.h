/* Raises the bounds of all mappings by what the on-chip capacity forces. */
#ifndef SEARCH_BOUND_RAISE_H
#define SEARCH_BOUND_RAISE_H
#include "tileflow/model.h"

/* The capacity of all inner memories and all units, in words as narrow as the workload's narrowest.
 */
double tf_bound_on_chip(const tf_arch *a, const tf_workload *wl);
/* Raises cycles and energy where so many words pass the outermost memory (tf_slope_bound at that
 * capacity): each word beyond `compulsory` counts as one of the narrowest, read or written,
 * whichever costs less. */
void tf_bound_raise(const tf_arch *a, const tf_workload *wl, double words, double compulsory,
                    tf_bounds *b);
#endif
