/* Steps that a mask leaves nothing of (model/spec/masked.h).  A step of a Tile or scope, in all its instances at once,
 * is left out if nobody needs what any op below makes there: all these ops follow from the mask, and the box around the
 * points of all instances lies outside of the band.  Leaves run with the node that they hang from.
 *
 * A band is convex, and a step moves a box one way: of the settings of a loop, those outside it standing, those that
 * happen have no gaps.  So the step before is the one at hand less one, as without a mask; what differs is where a loop
 * starts, and where it ends. */
#ifndef MODEL_FLOW_SKIP_H
#define MODEL_FLOW_SKIP_H
#include "model/flow/range.h"
#include "model/spec/masked.h"

/* Of a node; of one that decides nothing, as leaves, what holds of the node above it. */
typedef struct {
  bool may;      /* it may be left out */
  int at;        /* the node that decides: itself, or one above */
  int op;        /* an op of the mask below it: where no loop is uneven its ranges are those of all */
  uint64_t l, q; /* positions on its path of the loops that split the ranges of the mask's dims */
} tf_skip;

typedef struct tf_skips {
  tf_mask mask;
  tf_skip *node; /* [n_nodes] */
  bool whole;    /* ranges of the mask's dims begin as the whole dims: all that is made along them is read */
  bool meets;    /* so, and every l has a q, and every q an l */
} tf_skips;

/* Fills p->skips: NULL where nothing is ever left out.  False: out of memory. */
bool tf_skips_new(tf_arena *a, tf_plan *p);

/* Positions of node n's path: temporal loops whose settings decide whether it is left out. */
uint64_t tf_skip_loops(const tf_plan *p, int n);
/* Of such a loop: the settings that happen, and those of them in which the mask leaves every point of every instance,
 * so that no step inside is left out (none: inner_last < inner_first). */
typedef struct {
  int64_t first, last, inner_first, inner_last;
} tf_live;
/* Of loop k on node n's path, those outside it where they stand. */
tf_live tf_skip_live(const tf_eval *ev, int n, int k, const int64_t *dg);
/* Whether the loops of the mask's dims above node n divide their ranges. */
bool tf_skip_divides(const tf_eval *ev, int n);
/* How far the box's l begins from its q, the temporal loops outside position k where they stand: what is left out
 * further in depends on no more, if the loops divide their ranges. */
int64_t tf_skip_distance(const tf_eval *ev, int n, int k, const int64_t *dg);
/* Whether node n's step is left out: all its instances at once. */
bool tf_skip_out(const tf_eval *ev, int n, int64_t *dg); /* dg: changed, and as before in the end */
/* Whether node n's step does not happen at any earlier setting of the loops in `again` (of tf_skip_loops), the others
 * where they stand.  dg: as above. */
bool tf_skip_first(const tf_eval *ev, int n, uint64_t again, int64_t *dg);
/* Whether only the walk can tell what is left out. */
bool tf_skip_uneven(const tf_eval *ev);
#endif
