/* Steps that a mask skips (model/input/masked.h).  A step of a Tile or scope is skipped, in all its
 * instances at once, if no op below it produces anything that is needed there: all these ops depend
 * on the mask, and the box around the points of all instances is outside of the band. Leaves are
 * skipped with their parent.
 *
 * A band is convex, and a step moves a box in one direction.  So, with the loops outside it fixed,
 * the settings of a loop that are not skipped are contiguous: the previous step is one setting
 * back, as without a mask; only the start and the end of a loop differ. */
#ifndef MODEL_FLOW_SKIP_H
#define MODEL_FLOW_SKIP_H
#include "model/flow/range.h"
#include "model/input/masked.h"

/* The facts of a node.  One that is not skipped on its own, like a leaf, has the facts of the node
 * above it. */
typedef struct {
  bool may;       /* it may be skipped */
  int decided_at; /* the node on which it depends: itself, or an ancestor */
  int op; /* an op of the mask below it, whose ranges are those of all if no loop is uneven or mixed
           */
  uint64_t l, q;  /* positions on its path of the loops that split the mask's dims */
  uint64_t mixed; /* those of them that split the dims of some ops below it, and not of others */
} tf_skip;

typedef struct tf_skips {
  tf_mask mask;
  tf_skip *node;          /* [n_nodes] */
  tf_ival part_l, part_q; /* what all ops of the mask compute of its dims in the whole run */
  bool none;              /* no part of that is in the band */
  bool l_meets, q_meets;  /* every such l has a q in the band; every q has an l */
} tf_skips;

/* The range of one of the mask's dims in a step: in the first instance, and, as far as spatial
 * loops spread it, up to `end`.  Each instance counts as if it had as much as the first, within the
 * box of the enclosing step.  So the box moves in one direction, whatever remainder spatial loops
 * leave. */
typedef struct {
  tf_ival first;
  int64_t end, spread;
} tf_skip_box;

/* Fills p->skips; NULL where nothing is ever skipped.  False: out of memory. */
bool tf_skips_new(tf_arena *a, tf_plan *p);

/* Positions on node n's path: temporal loops whose settings decide whether it is skipped. */
uint64_t tf_skip_loops(const tf_plan *p, int n);
/* For such a loop: the settings that are not skipped; and those of them in which the mask keeps
 * every point of every instance, so that no step inside them is skipped (none: inner_last <
 * inner_first). */
typedef struct {
  int64_t first, last, inner_first, inner_last;
} tf_unmasked;
/* For loop k on node n's path, with those outside it as set. */
tf_unmasked tf_skip_unmasked(const tf_eval *ev, int n, int k, const int64_t *dg);
/* Whether the loops of the mask's dims above node n divide their ranges. */
bool tf_skip_divides(const tf_eval *ev, int n);
/* The distance from the box's q to its l, with the temporal loops outside position k as set.  If
 * the loops divide their ranges, what is skipped further in depends on this distance only. */
int64_t tf_skip_distance(const tf_eval *ev, int n, int k, const int64_t *dg);
/* Whether node n's step is skipped, in all its instances at once. */
bool tf_skip_out(const tf_eval *ev, int n, int64_t *dg); /* dg is changed, and restored */
/* The least and the most distance from a q to an l in the box of such a step; false: it is empty.
 * *cut: the box ends before the last instance would, so it does not move as the first does.  dg: as
 * above. */
bool tf_skip_span(const tf_eval *ev, int n, int64_t *dg, int64_t *least, int64_t *most, bool *cut);
/* Caches its results in ev->skip_memo from now on, as far as memory allows: for callers that query
 * every step while trip counts stay the same.  The arena holds them. */
void tf_skip_memo_new(tf_arena *a, tf_eval *ev);
/* Whether node n's step is skipped at every earlier setting of the loops in `again` (of
 * tf_skip_loops), with the others as set, or slice s is not touched there in the instance that is
 * set (NULL: any instance counts).  dg: as above. */
bool tf_skip_first(const tf_eval *ev, int n, uint64_t again, const tf_slice *s, int64_t *dg);
/* Whether only the walk can count what is left out.  zero: settings of all loops, all 0. */
bool tf_skip_uneven(const tf_eval *ev, const int64_t *zero);
#endif
