/* What of each op's dims some output of the workload needs: readers may leave parts of an intermediate out, and then no
 * mapping makes these. */
#ifndef MODEL_COST_DEMAND_H
#define MODEL_COST_DEMAND_H
#include "tileflow/spec.h"

typedef struct {
  const tf_workload *wl;
  struct {
    int64_t lo, hi; /* lo > hi: nothing */
  } * of;           /* [op * n_dims + dim]; malloc'd, the caller frees */
} tf_demand;

/* False without memory. */
bool tf_demand_of(const tf_workload *wl, tf_demand *d);
/* How many values of the dim op o needs. */
int64_t tf_demanded(const tf_demand *d, int o, int dim);
#endif
