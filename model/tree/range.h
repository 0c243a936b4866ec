/* Ranges of ops on the way down a tree, at one setting of its loops (bounds inference). */
#ifndef MODEL_TREE_RANGE_H
#define MODEL_TREE_RANGE_H
#include "model/tree/infer.h"

enum { TF_SHIFT_LOOPS = 64 };

/* How far the loops above move a range: `per_step[k]` elements per step of the k-th loop on the way
 * down, for k in mask. */
typedef struct {
  uint64_t mask;
  bool mixed; /* a hull of parts that do not move alike, or too deep to be tracked */
  bool bent;  /* settings of which all is padding may move it otherwise: to the nearest element */
  int64_t per_step[TF_SHIFT_LOOPS];
} tf_shift;

/* The loops that move the two by different amounts, or may do so. */
uint64_t tf_shifts_part(const tf_shift *a, const tf_shift *b);

/* What moves one read of op o along an index; needs r->shift. */
struct tf_ranges;
void tf_index_shift(const struct tf_ranges *r, int o, const tf_index *x, tf_shift *s);

/* Arrays are over the dims of all ops: entry f->dim_from[op] + i is op's i-th dim. */
typedef struct tf_ranges {
  const tf_facts *f;
  tf_ival *range;        /* range on entry to the node that the walk has reached on the op's path */
  int64_t *steps;        /* once the op leads: product of the trip counts further in on its path */
  int64_t *lead_steps;   /* the same at the node from which it leads */
  const int64_t *digits; /* [loop] settings of the loops; NULL: all at their start */
  const int64_t *trips;  /* [loop] trip counts; NULL: the tree's own */
  const int64_t *rest; /* [as range] what is left to split by loops not known yet, as one more loop
                          at the leaf; NULL: nothing */
  bool borderless;     /* boxes as if tensors had no borders */
  bool per_dim; /* each dim by itself: an op that is empty in one dim still counts in the others */
  tf_shift *shift; /* [as range] how far loops move `range`; NULL: not computed */
  int depth;       /* loops entered on the way down */
  int forced;      /* number of the loop that is at its second iteration; -1: none */
  void *user;
  /* Called when op o enters the node from which it leads, with its range final; NULL: not called.
   */
  void (*led)(struct tf_ranges *r, int o);
  /* Called on entry to the node: range i of op o, which does not lead there, was `before`. */
  void (*inferred)(struct tf_ranges *r, int o, int i, int node, tf_ival before);
  /* Called when all ranges at the node are known, before its loops are applied. */
  void (*entered)(struct tf_ranges *r, int node);
} tf_ranges;

/* False when memory runs out. */
bool tf_ranges_init(tf_ranges *r, tf_arena *a, const tf_facts *f);
/* Sets every op to its full range, as above the root. */
void tf_ranges_reset(tf_ranges *r);
/* Walks down from node, starting with r->range.  Needs producers before consumers, no open trip
 * count, products below 2^63. */
void tf_ranges_walk(tf_ranges *r, int node);
/* Walks from the root to node `to` only, up to where its ranges are known. */
void tf_ranges_towards(tf_ranges *r, int to);
#endif
