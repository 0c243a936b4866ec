/* What any mapping has to take over the links to the instances of memory 1. */
#ifndef MODEL_DEMAND_LINKS_H
#define MODEL_DEMAND_LINKS_H
#include "model/demand/demand.h"

/* Least cycles of the busiest link, so of the run.  may_wait: [op] streaming may leave it out. */
double tf_least_links(const tf_arch *a, const tf_demand *d, const bool *may_wait);
#endif
