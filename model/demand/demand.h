/* What of each op's dims some output of the workload needs: readers may leave parts of an intermediate out, and then no
 * execution need make these. */
#ifndef MODEL_DEMAND_DEMAND_H
#define MODEL_DEMAND_DEMAND_H
#include "model/demand/coords.h"
#include "model/spec/masked.h"

/* Every point of an op whose dims all lie in these sets is needed.  Some that lie outside may be, too: where references
 * to an intermediate differ in more than one rank, or two of its ranks move together, the sets are a part of what is
 * needed. */
typedef struct {
  const tf_workload *wl;
  tf_arena *arena;
  tf_coords *of; /* [op * n_dims + dim] */
  bool masked; /* of the ops in mask.vain, points outside of the band are not needed, though their dims lie in the sets
                */
  tf_mask mask;
} tf_demand;

/* False without memory.  To be freed whatever it returns. */
bool tf_demand_of(const tf_workload *wl, tf_demand *d);
void tf_demand_free(tf_demand *d);
const tf_coords *tf_demand_dims(const tf_demand *d, int op); /* [dim] */
/* How many values of the dim op o needs, and how many points. */
int64_t tf_demanded(const tf_demand *d, int op, int dim);
double tf_demanded_points(const tf_demand *d, int op);
/* Of an op in mask.vain: how many pairs of the mask's dims; no more than that where the sets have gaps. */
double tf_demanded_pairs(const tf_demand *d, int op);

/* Elements of tensor z that needed points read, each once: in every execution these are read.  Exact but for the sets
 * above, and where ranks that move together have too many settings, or more than 8 references differ; then no more than
 * there are. -1: they pass 2^63 - 1. */
int64_t tf_demand_touched(const tf_demand *d, int z);
/* The part of a tensor that a reference of op o touches, rank by rank; false where its ranks move together. */
bool tf_demand_part(const tf_demand *d, int o, const tf_ref *ref, tf_coords *part);
/* Whether the mask leaves out some of what a reference of op o touches: it moves with both its dims. */
bool tf_demand_in_band(const tf_demand *d, int o, const tf_ref *ref);
/* Elements of an output of the workload that are made, whatever the mapping: all, but for rows that a mask leaves
 * nothing of.  -1: they pass 2^63 - 1. */
int64_t tf_demand_made(const tf_demand *d, int z);
#endif
