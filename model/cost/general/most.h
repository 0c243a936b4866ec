/* The largest that boxes get, of all settings of the loops above a node.  Where borders clip them the first setting
 * need not have it; and what several boxes have together is largest at one setting. */
#ifndef MODEL_COST_GENERAL_MOST_H
#define MODEL_COST_GENERAL_MOST_H
#include "model/cost/state.h"

enum { TF_MOST_FRONT = 32 }; /* vectors of lengths of which none is the least, kept of a group */

/* Lengths that no loop ties to those of another group, and the vectors that they have somewhere, but for those
 * that another has in all lengths. */
typedef struct {
  int first, n; /* its lengths are which[first .. first + n) */
  int n_front;
  uint64_t loops; /* path positions */
} tf_most_group;

/* What is asked, filled by the caller, and what is found. */
typedef struct tf_most {
  int room;               /* lengths there is room for */
  int node;               /* whose path the loops are */
  int n;                  /* lengths asked for; of each: */
  int *slice, *rank;      /* [n] whose, for look() */
  uint64_t *mask;         /* [n] positions of the loops that move it */
  int64_t *from, *extent; /* [n] what may be left of it lies inside [from, from + extent) */
  bool steady;            /* borders aside, a loop's step moves each by as much wherever the others stand */
  uint64_t skip;          /* positions that look() sets itself */
  /* The boxes of lengths which[0 .. n), borders and all, or, where ev.noclip and ev.whole are set, whole.  What is not
   * there because another of these is empty has length 0. */
  void (*look)(struct tf_model *m, const int *which, int n, const int64_t *digits, tf_ival *out);
  const void *what;
  uint64_t loops; /* of the group that is looked at */
  int n_groups;
  tf_most_group group[TF_MAX_PATH + 1];
  int *which;     /* [n] */
  int64_t *front; /* of group g: [v * n + k] from TF_MOST_FRONT * first on */
  int64_t *len;   /* [n] of a group, at hand */
  tf_ival *at, *whole;
  int64_t *shift; /* [n * TF_MAX_PATH] */
} tf_most;

/* With room for all that m may ask; NULL: out of memory. */
tf_most *tf_most_new(tf_arena *a, const struct tf_model *m);
/* Finds the vectors of each group.  False: it would take too long, and only the walk can tell. */
bool tf_most_find(struct tf_model *m, tf_most *q);
/* Length v of group g of which[first + k]. */
static inline int64_t tf_most_len(const tf_most *q, const tf_most_group *g, int v, int k) {
  return q->front[TF_MOST_FRONT * g->first + v * g->n + k];
}
#endif
