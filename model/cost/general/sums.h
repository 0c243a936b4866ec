/* Sums over all settings of the loops above a slice, without walking them: the settings of each
 * loop fall into a few classes (full, partial, near a border), and sums over independent components
 * multiply (docs/MODEL.md, section 3; thesis Eq. 3.10, 3.11). */
#ifndef MODEL_COST_GENERAL_SUMS_H
#define MODEL_COST_GENERAL_SUMS_H
#include "model/flow/range.h"

/* sum |R| and sum |R n P| over the settings asked for. */
typedef struct {
  int64_t box, kept;
} tf_sum;

enum tf_over {
  TF_OVER_INSTANCES, /* every instance in which the step is not skipped */
  TF_OVER_GROUPS,    /* instances that share are counted once */
  TF_OVER_FIRST,     /* groups, at steps that meet an element for the first time */
  TF_OVER_WIDTH,     /* instances in use at the first step */
  TF_OVER_STEPS      /* moments: all instances together count once; no boxes */
};

/* A set of boxes, to count equal boxes of several instances once: rows in an array, and a hash
 * table of them. */
typedef struct tf_boxes {
  tf_arena *arena; /* for the arrays below, created when first needed */
  int64_t *row;
  int n, room;
  int64_t *slot; /* `past` + 1 + the row's number; up to `past`: free */
  int64_t past;  /* rows of earlier counts */
} tf_boxes;
enum {
  TF_LEAF_MAX = 1 << 15,
  TF_LEAF_UNLIKE = 1 << 11,
  TF_LEAF_FEW = 64,
  TF_LEAF_WORDS = 4 + 4 * TF_MAX_RANK
};

/* Cached sums over components of one slice in one evaluation: classes of entries, and instances and
 * groups, differ in few of them. */
typedef struct {
  uint64_t loops, zero, single, each, frozen; /* masks of the component's loops */
  int stepping, n_rank, rank; /* stepping: -1 where it is none of these loops; rank: the first */
  bool prev;
} tf_sum_key;
enum { TF_SUM_KEYS = 48 };
typedef struct tf_sum_memo {
  int n;
  tf_sum_key key[TF_SUM_KEYS];
  int64_t sum[TF_SUM_KEYS][4];
} tf_sum_memo;

/* Sums over the entries of slice s in class c (NULL: all entries).  keeps: what c->prev left is
 * still there.  False on overflow.  Sets ev->irregular where only the exact walk counts
 * correctly. */
bool tf_sum_over(tf_eval *ev, tf_scratch *w, const tf_slice *s, const tf_reuse_case *c, bool keeps,
                 enum tf_over over, tf_sum *out);
#endif
