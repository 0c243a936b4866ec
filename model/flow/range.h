/* Ranges of ops and slices of tensors at one setting of the loops (bounds inference). */
#ifndef MODEL_FLOW_RANGE_H
#define MODEL_FLOW_RANGE_H
#include "model/flow/plan.h"
#include "model/tree/infer.h"

enum { TF_MAX_RANK = 16 };

/* Which settings a range is the union of: the current ones; all of the run in the current instance;
 * all of the run in any instance. */
typedef enum { TF_UNION_NONE, TF_UNION_INSTANCE, TF_UNION_ALL } tf_union_over;

/* An evaluation in progress: trip counts and steps, options for ranges, and flags set on the
 * way. */
typedef struct {
  const tf_plan *plan;
  int64_t *trip; /* [n_loops] */
  /* [op * n_loops + loop] how far an iteration moves op along the dim, in elements */
  int64_t *step;
  bool mixed;             /* ops that share a loop advance by different steps */
  struct tf_apart *apart; /* then: by which of them nodes count (apart.h); NULL: only walks count */
  bool noclip;            /* option: boxes ignore the borders of tensors */
  bool whole;             /* option: all tiles are whole, even beyond the extents */
  tf_union_over over;     /* option: the union over which settings */
  bool *stand;    /* [n_loops] option: of such a union; loops that stay at their setting; NULL:
                     none */
  bool exact;     /* option: in the exact walk, where an op with an empty range touches nothing */
  bool irregular; /* set if only the exact walk counts this correctly */
  bool demand;  /* option: while finding what a retaining scope computes; a producer without points
                   reads nothing */
  int64_t work; /* number of settings visited by the general count and the walk */
  int64_t work_most; /* option: with more settings the sums stop, as if only the walk could count */
  uint64_t frozen; /* option: while finding causes; path positions of the slice whose loops stay at
                      their first setting */
  bool masked_too; /* option: count steps that a mask would skip */
  const struct tf_kinds *kinds; /* [loop] kinds of spatial settings (kinds.h); NULL: not known */
  signed char **skip_memo; /* [node] cached results of tf_skip_out by its loops' settings (skip.h);
                              NULL: none */
  struct tf_range_keep *keep; /* ranges cached in this evaluation (range_memo.h); NULL: none */
  bool parts;                 /* some loop is parted */
  bool *parted; /* [n_loops] if `parts`: a step of the loop moves references of one box differently,
                   so that the box grows or shrinks, and each setting counts by itself */
  bool ragged;  /* set if settings that were counted together differ, and must be counted one by one
                 */
  tf_ival **made; /* [op] what a retained op computes in this run of its home scope, per output dim;
                     NULL: not applied */
} tf_eval;

/* Working storage for settings of the loops. */
typedef struct {
  int64_t *cur, *prv,
      *zero;       /* [n_loops] current settings, those at the previous entry, and zeros */
  int64_t *fixed;  /* [n_loops] settings of loops that are not summed over: 0 except at borders */
  tf_ival **made;  /* [n_ops] for ev->made */
  int64_t *pair;   /* [n_loops] corresponding loop of the slice's path; -1: none */
  uint64_t unlike; /* positions of the loops above a class's common scope that move what its two
                      m-tiles hold differently; filled by tf_class_survives */
  struct tf_boxes *boxes;   /* of the general count (sums.h); NULL: not created yet */
  struct tf_sum_memo *memo; /* of the slice that is counted (sums.h); NULL: none */
} tf_scratch;

/* The op that represents the chain of loop l for node n below it (apart.h); -1: none. */
int tf_apart_op(const tf_eval *ev, int n, int l);
static inline int tf_loop_op(const tf_eval *ev, int n, int l) {
  return ev->mixed ? tf_apart_op(ev, n, l) : ev->plan->loops[l].op;
}
/* Elements by which one iteration of loop l moves that op. */
static inline int64_t tf_step(const tf_eval *ev, int n, int l) {
  const int o = tf_loop_op(ev, n, l);
  return o < 0 ? 1 : ev->step[o * ev->plan->n_loops + l];
}

/* Fills ev->step from ev->trip.  False if a product exceeds 2^63 - 1; sets irregular if ops that
 * share a loop advance by different steps and are not apart. */
bool tf_eval_steps(tf_eval *ev);

/* The range of dim d of op o on entry to node n, loops above n at dg[loop id]. */
tf_ival tf_dim_range(const tf_eval *ev, int o, int d, int n, const int64_t *dg);
/* The range of op o, which loop l splits, that reaches l: after all loops further out on its chain.
 */
tf_ival tf_split_range(const tf_eval *ev, int o, int l, const int64_t *dg);
/* The same for the op below node n that represents the chain. */
tf_ival tf_loop_range(const tf_eval *ev, int n, int l, const int64_t *dg);
/* The number of non-empty iterations of loop l: as many as cover the range that reaches it. */
int64_t tf_nonempty_steps(const tf_eval *ev, int n, int l, const int64_t *dg);
/* The most of these of any op that the loop splits. */
int64_t tf_most_steps(const tf_eval *ev, int l, const int64_t *dg);
/* Rank r of the slice: the hull of its touches, clipped to the tensor.  A touch that is outside of
 * the tensor in another rank still counts here: see below. */
tf_ival tf_slice_rank(const tf_eval *ev, const tf_slice *s, int r, const int64_t *dg);
/* The box of the slice: the hull of its touches, without those that are wholly in the padding.
 * False: it is empty, and all its ranks are {0, 0}. */
bool tf_slice_box(const tf_eval *ev, const tf_slice *s, const int64_t *dg, tf_ival *box);
/* Whether some touches of the slice are wholly in the padding along rank r, and others are not:
 * then the box differs from its ranks taken one by one. */
bool tf_slice_partly_outside(const tf_eval *ev, const tf_slice *s, int r, const int64_t *dg);
/* Rank r of the box that one reference of op o touches on entry to node n. */
tf_ival tf_touch_rank(const tf_eval *ev, tf_touch t, int r, int n, const int64_t *dg);

/* Writes to dg the last setting of every loop above node n at which some op that it splits has
 * work, each given the settings of those further out; 0 for other loops. */
void tf_last_steps(const tf_eval *ev, int n, int64_t *dg);
/* The last setting of the temporal loop at position k of node n's path that is not empty, with the
 * spatial loops of its chain further in (positions in `mask`) as set. */
int64_t tf_last_setting(tf_eval *ev, int n, int k, uint64_t mask, const int64_t *dg);
/* The part of `len` elements that one of `trip` instances, which take `step` each, gets. */
int64_t tf_instance_part(int64_t len, int64_t trip, int64_t step);

/* Whether op o has an empty range, hence no points, on entry to node n. */
bool tf_op_idle(const tf_eval *ev, int o, int n, const int64_t *dg);
/* Whether some op whose reads or writes make up the slice has points on entry to its node. */
bool tf_slice_touched(const tf_eval *ev, const tf_slice *s, const int64_t *dg);

/* Path positions (of node n's path) on which these ranges depend: of a dim of op o at node n. */
uint64_t tf_dim_mask(const tf_plan *p, int o, int d, int n);
uint64_t tf_slice_mask(const tf_plan *p, const tf_slice *s, int r);
/* Whether the loop at position k of the path moves rank r, without borders and retention: not if
 * the terms of an index cancel, although the mask has it. */
bool tf_slice_moved(const tf_plan *p, const tf_slice *s, int r, int k);
/* Whether it moves parts of the rank differently, so that the hull of all may stay. */
bool tf_slice_pulled(const tf_plan *p, const tf_slice *s, int r, int k);
/* Of the range with which op o enters the node from which it leads. */
uint64_t tf_base_mask(const tf_plan *p, int o, int d);
/* Of the part of rank r of op o's output that is needed below node n. */
uint64_t tf_demand_mask(const tf_plan *p, int o, int r, int n);
#endif
