/* Ranges of ops and slices of tensors at one setting of the loops (bounds inference). */
#ifndef MODEL_FLOW_RANGE_H
#define MODEL_FLOW_RANGE_H
#include "model/flow/plan.h"

enum { TF_MAX_RANK = 16 };

/* lo .. lo + len - 1; len <= 0: empty. */
typedef struct {
  int64_t lo, len;
} tf_ival;

/* One setting of trip counts, and what is derived from it alone. */
typedef struct {
  const tf_plan *plan;
  int64_t *trip;  /* [n_loops] */
  int64_t *step;  /* [op * n_loops + loop] elements of its dim by which one iteration moves op */
  bool noclip;    /* take boxes as they would be far from every border of a tensor */
  bool whole;     /* take all tiles whole, whatever the extents leave of them */
  bool exact;     /* walking: an op with an empty range touches nothing at all */
  bool irregular; /* something was met that only the exact walk counts */
  bool demand;    /* finding what a retaining scope makes: an idle producer demands nothing */
  int64_t work;   /* places looked at by what is counted the long way */
  uint64_t still; /* finding causes: path positions of the slice whose loops stand at their first setting */
  bool ragged;    /* settings taken together turned out to differ: they must be told apart */
  tf_ival **made; /* [op] what a retained op makes in this run of its home scope, per output dim;
                     NULL: not in force */
} tf_run;

/* Settings of the loops that a count needs room for. */
typedef struct {
  int64_t *cur, *prv, *zero; /* [n_loops] now, at the entry before, at their start */
  int64_t *fixed;            /* [n_loops] where loops stand that are not counted over: 0 but at borders */
  int64_t *top;              /* [n_loops] the best setting so far, where one is looked for */
  tf_ival **made;            /* [n_ops] for run->made */
  int64_t *pair;             /* [n_loops] loop of the slice's path that stands for it, -1 */
  struct tf_boxes *boxes;    /* of the general count (sums.h); NULL: the above is not there yet */
} tf_scratch;

/* Elements by which one iteration of loop l moves the op that stands for its chain. */
static inline int64_t tf_step(const tf_run *run, int l) {
  const tf_plan *p = run->plan;
  return p->loops[l].op < 0 ? 1 : run->step[p->loops[l].op * p->n_loops + l];
}

/* Fills run->step from run->trip.  Returns false if a product passes 2^63 - 1; sets irregular
 * where ops that share a loop would advance differently. */
bool tf_run_steps(tf_run *run);

/* The range of dim d of op o on entry to node n, loops above n at dg[loop id]. */
tf_ival tf_dim_range(const tf_run *run, int o, int d, int n, const int64_t *dg);
/* The range that reaches loop l: after all loops further out on its chain. */
tf_ival tf_loop_range(const tf_run *run, int l, const int64_t *dg);
/* Iterations of loop l that happen. */
int64_t tf_turns(const tf_run *run, int l, const int64_t *dg);
/* Rank r of the slice: bounding box over its touches, clipped to the tensor. */
tf_ival tf_slice_rank(const tf_run *run, const tf_slice *s, int r, const int64_t *dg);
/* Rank r of the box that one reference of op o touches on entry to node n. */
tf_ival tf_touch_rank(const tf_run *run, tf_touch t, int r, int n, const int64_t *dg);

/* The last setting of temporal loop path->loops[k] that happens, with the spatial loops of its chain
 * further inside (positions in `mask`) where they stand. */
int64_t tf_last_setting(tf_run *run, const tf_path *path, int k, uint64_t mask, const int64_t *dg);
tf_ival tf_common_part(tf_ival a, tf_ival b);
/* What is left of `len` elements in one of the `trip` instances that take `step` each. */
int64_t tf_cut(int64_t len, int64_t trip, int64_t step);

/* Whether op o has nothing to do on entry to node n. */
bool tf_op_idle(const tf_run *run, int o, int n, const int64_t *dg);

/* Path positions (of node n's path) on which the above depend. */
uint64_t tf_dim_mask(const tf_plan *p, int o, int d, int n);
uint64_t tf_slice_mask(const tf_plan *p, const tf_slice *s, int r);
/* Of the range with which op o enters the node below which it leads. */
uint64_t tf_base_mask(const tf_plan *p, int o, int d);
/* Of what is demanded of rank r of op o's output below node n. */
uint64_t tf_demand_mask(const tf_plan *p, int o, int r, int n);
#endif
