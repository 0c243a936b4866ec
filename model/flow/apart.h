/* Ops that share a loop and advance by different steps (where loops further in differ): each goes
 * on for as many steps as cover its range, and in a step beyond these its branch of the tree is
 * idle. Branches that find nothing of each other's are counted one by one, each by its own op's
 * steps. Above them some op is active: as long as the one with the shortest steps is, if one has
 * the shortest of all loops, as ops split ranges of one length; else by inclusion and exclusion
 * over the moments at which all of some are, which are those of the one with the longest steps,
 * loop by loop. */
#ifndef MODEL_FLOW_APART_H
#define MODEL_FLOW_APART_H
#include "model/flow/range.h"

enum { TF_MOST_APART = 4 };

typedef struct tf_apart {
  int stride; /* of the arrays: the longest path */
  /* [node * stride + position] the loop's leaders (bits) that have points in the node's steps:
   * those below it, and those that read what ops there make for them */
  uint64_t *acts;
  int *op;     /* [the same] the one of them by which the node counts */
  bool *mixed; /* [n_nodes] these advance by different steps */
} tf_apart;

/* Whether some loop splits several ops. */
bool tf_shares_loops(const tf_plan *p);
/* For trees of that plan; NULL: out of memory. */
tf_apart *tf_apart_new(tf_arena *a, const tf_plan *p);
/* Whether ops that act in node n's steps advance by different steps. */
static inline bool tf_mixed_at(const tf_eval *ev, int n) {
  return ev->mixed && ev->apart->mixed[n];
}
/* Whether one of the ops that act in mixed node n's steps has points whenever another has. */
bool tf_one_longest(const tf_eval *ev, int n);
/* The ops of a mixed node of which none has; 0: more than TF_MOST_APART, or not the same for all
 * loops. */
int tf_apart_ops(const tf_eval *ev, int n, int *ops);
/* From now on the node counts by the moments at which all ops in `with` (bits of `ops`) are active;
 * 0: as before. */
void tf_apart_take(tf_eval *ev, int n, const int *ops, unsigned with);
#endif
