/* Sums over all settings of the loops above a slice, without walking them: settings fall into a few
 * classes per loop (full, partial, near a border), and loops that do not meet multiply
 * (model.md, "The closed form"; thesis Eq. 3.10, 3.11). */
#ifndef MODEL_COST_SUMS_H
#define MODEL_COST_SUMS_H
#include "model/cost/range.h"

/* sum |R| and sum |R n P| over the settings asked for. */
typedef struct {
  int64_t box, kept;
} tf_sum;

enum tf_over {
  TF_OVER_INSTANCES, /* every instance in which the step happens */
  TF_OVER_GROUPS,    /* instances that share count once */
  TF_OVER_FIRST,     /* groups, and only the steps that meet an element for the first time */
  TF_OVER_WIDTH,     /* instances in use at the first step */
  TF_OVER_STEPS      /* moments: all instances together once, no boxes */
};

/* Scratch of an evaluation: digits of the loops, now and at the entry before. */
typedef struct {
  int64_t *cur, *prv, *zero; /* [n_loops] */
  int64_t *fixed;            /* [n_loops] where loops stand that are not counted over: 0 but at borders */
  int64_t *top;              /* [n_loops] the best setting so far, where one is looked for */
  tf_ival **made;            /* [n_ops] for run->made */
  int64_t *pair;             /* [n_loops] loop of the slice's path that stands for it, -1 */
  tf_arena *arena;           /* for what follows, when first needed; NULL: the above is not there yet */
  int64_t *leaf;             /* boxes met, for counting distinct ones */
  int n_leaf, leaf_room;
  int64_t *slot; /* hash of these: met + 1 + its number; up to `met`: free */
  int64_t met;
} tf_scratch;
enum { TF_LEAF_MAX = 1 << 15, TF_LEAF_FEW = 64, TF_LEAF_WORDS = 4 + 4 * TF_MAX_RANK };

/* For entries of slice s in class c (NULL: all entries); keeps: what c->prev left is still there.
 * False on overflow.  Sets run->irregular where only the exact walk counts right. */
bool tf_sum_over(tf_run *run, tf_scratch *w, const tf_slice *s, const tf_pclass *c, bool keeps, enum tf_over over,
                 tf_sum *out);
/* Whether what c->prev left is still there: same layout, reduction not spread. */
bool tf_class_survives(tf_run *run, tf_scratch *w, const tf_slice *s, const tf_pclass *c);
/* Whether some loop moves one reference of an m-tile, or one read of what a producer makes, and not another, so that
 * the box around them grows and shrinks: only the walk counts that. */
bool tf_touches_part(tf_run *run, tf_scratch *w);
/* Whether m-tile slices i and j (indices) have the same spatial loops below their common scope. */
bool tf_layouts_agree(tf_run *run, tf_scratch *w, int i, int j);
#endif
