/* Ranges of ops on the way down a tree, at one setting of its loops (bounds inference). */
#ifndef MODEL_TREE_RANGE_H
#define MODEL_TREE_RANGE_H
#include "model/tree/infer.h"

/* Arrays are over the dims of all ops: entry f->dim_from[op] + i is op's i-th dim. */
typedef struct tf_ranges {
  const tf_facts *f;
  tf_ival *now;          /* range on entry to the node that the walk has reached on the op's path */
  int64_t *steps;        /* once the op leads: product of the trip counts further in on its path */
  int64_t *all;          /* the same at the node from which it leads */
  bool middle;           /* the outermost loop of each dim stands in its middle, not at its start: */
  bool early;            /* of an even number of steps, at the earlier of the two in the middle ... */
  int other;             /* ... but for this dim, where it is the other way round; -1: none */
  int inner;             /* the later loops of each dim stand at their start (0), or in their earlier (1) or later
                            (2) middle */
  bool clash;            /* found: ops that a loop splits advance by different steps */
  const int64_t *digits; /* [loop] where each loop stands; NULL: as the other members say */
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
/* Whether some range of op o is empty: it does not run and touches nothing. */
bool tf_ranges_idle(const tf_ranges *r, int o);
#endif
