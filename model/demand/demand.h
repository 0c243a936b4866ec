/* Which coordinates of each op's dims some output of the workload depends on.  Readers may skip
 * parts of an intermediate, which then no execution has to compute. */
#ifndef MODEL_DEMAND_DEMAND_H
#define MODEL_DEMAND_DEMAND_H
#include "model/demand/coords.h"
#include "model/input/masked.h"

/* Every point of an op whose dims all lie in these sets is needed.  Some points outside may be
 * needed, too: where references to an intermediate differ in more than one rank, or two of its
 * ranks move together, the sets are subsets of what is needed. */
typedef struct {
  const tf_workload *wl;
  tf_arena *arena;
  tf_coords *sets; /* [op * n_dims + dim] */
  bool masked; /* of the ops in mask.fully_masked, points outside of the band are not needed even if
                * their dims lie in the sets */
  tf_mask mask;
} tf_demand;

/* False without memory.  Free it in either case. */
bool tf_demand_of(const tf_workload *wl, tf_demand *d);
void tf_demand_free(tf_demand *d);
const tf_coords *tf_demand_dims(const tf_demand *d, int op); /* [dim] */
/* The number of needed values of a dim of op o; and of its needed points. */
int64_t tf_demanded(const tf_demand *d, int op, int dim);
double tf_demanded_points(const tf_demand *d, int op);
/* For an op in mask.fully_masked: the number of needed pairs of the mask's dims; a lower bound
 * where the sets have gaps. */
double tf_demanded_pairs(const tf_demand *d, int op);

/* The least share of an op's points that a mask leaves, over all ops: 1 without a mask, 0 if memory
 * ran out. */
double tf_demand_share(const tf_workload *wl);

/* Elements of tensor z that needed points read, each once: read in every execution.  A lower bound
 * where the sets above are subsets, where ranks that move together have too many settings, or where
 * more than 8 references differ; otherwise exact.  -1: it exceeds 2^63 - 1. */
int64_t tf_demand_touched(const tf_demand *d, int z);
/* The part of a tensor that a reference of op o touches, rank by rank; false if its ranks move
 * together. */
bool tf_demand_part(const tf_demand *d, int o, const tf_ref *ref, tf_coords *part);
/* Whether the mask removes some of what a reference of op o touches: it moves with both of the
 * mask's dims. */
bool tf_demand_in_band(const tf_demand *d, int o, const tf_ref *ref);
/* Whether only units of kind u can do the op's work; divisions do not count, as they may be
 * deferred. */
bool tf_needs_unit(const tf_arch *a, const tf_op *op, int u);
/* Elements of an output of the workload that any mapping computes: all, except for rows that a mask
 * leaves nothing of. -1: it exceeds 2^63 - 1. */
int64_t tf_demand_made(const tf_demand *d, int z);
#endif
