/* Ranges of ops on the way down a tree, at one setting of its loops (bounds inference). */
#ifndef MODEL_TREE_RANGE_H
#define MODEL_TREE_RANGE_H
#include "model/tree/infer.h"

enum { TF_SHIFT_LOOPS = 64 };

/* How far the loops above move a range: `by[k]` elements a step of the k-th loop on the way down, for k in mask. */
typedef struct {
  uint64_t mask;
  bool mixed; /* around parts that do not move alike, or too far down to be told */
  int64_t by[TF_SHIFT_LOOPS];
} tf_shift;

/* Arrays are over the dims of all ops: entry f->dim_from[op] + i is op's i-th dim. */
typedef struct tf_ranges {
  const tf_facts *f;
  tf_ival *now;          /* range on entry to the node that the walk has reached on the op's path */
  int64_t *steps;        /* once the op leads: product of the trip counts further in on its path */
  int64_t *all;          /* the same at the node from which it leads */
  const int64_t *digits; /* [loop] where each loop stands; NULL: at its start */
  const int64_t *trips;  /* [loop] trip counts; NULL: the tree's own */
  const int64_t *rest;   /* [as now] what loops that are not known split yet, as one more at the leaf; NULL: nothing */
  bool borderless;       /* boxes as if no tensor ended anywhere */
  bool apart;            /* each dim by itself: an op that has nothing to do in one counts in the others */
  tf_shift *shift;       /* [as now] how far loops move now; NULL: nobody asks */
  int depth;             /* loops entered on the way down */
  int forced;            /* number of the loop that stands at its second iteration, -1: none */
  void *user;
  /* Op o enters the node from which it leads, its range is final; NULL: not told. */
  void (*led)(struct tf_ranges *r, int o);
  /* On entry to the node, range i of op o, which does not lead there, was `before`. */
  void (*inferred)(struct tf_ranges *r, int o, int i, int node, tf_ival before);
  /* All ranges at the node are known; loops of the node not yet applied. */
  void (*entered)(struct tf_ranges *r, int node);
} tf_ranges;

/* False when memory runs out. */
bool tf_ranges_init(tf_ranges *r, tf_arena *a, const tf_facts *f);
/* Every op at its full range, as above the root. */
void tf_ranges_reset(tf_ranges *r);
/* Walks down from node, with r->now as it is there.  needs: producers in front of consumers,
 * no open trip count, products below 2^63. */
void tf_ranges_walk(tf_ranges *r, int node);
/* The same on the way from the root to node `to`, up to where its ranges are known. */
void tf_ranges_towards(tf_ranges *r, int to);
/* Whether some range of op o is empty: it does not run and touches nothing. */
bool tf_ranges_idle(const tf_ranges *r, int o);
#endif
