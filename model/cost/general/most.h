/* The largest boxes over all settings of the loops above a node.  Where borders clip boxes, the
 * largest need not be at the first setting; and the largest sum over several boxes is at some
 * common setting. */
#ifndef MODEL_COST_GENERAL_MOST_H
#define MODEL_COST_GENERAL_MOST_H
#include "model/cost/state.h"

/* TF_MOST_FRONT: most vectors of lengths on the Pareto front of a group.  TF_MOST_THERE: in place
 * of a rank: the length is 1 where the slice is entered at all. */
enum { TF_MOST_FRONT = 32, TF_MOST_THERE = -1 };

/* Lengths that depend on common loops, and the Pareto front of the vectors of lengths that occur.
 */
typedef struct {
  int first, n; /* its lengths are which[first .. first + n) */
  int n_front;
  uint64_t loops; /* positions on the path */
} tf_most_group;

/* The search's input, filled in by the caller, and its result. */
typedef struct tf_most {
  int room;               /* capacity of the arrays below, in lengths */
  int node;               /* the node whose path is searched */
  int n;                  /* number of lengths; each with: */
  int *slice, *rank;      /* [n] slice and rank, for look(); TF_MOST_THERE: no rank */
  uint64_t *mask;         /* [n] positions of the loops that move it */
  int64_t *from, *extent; /* [n] it is clipped to [from, from + extent) */
  bool *moved_by_runs; /* [n] the position without borders also depends on what runs of a retaining
                   scope compute */
  bool bounded;        /* no length exceeds the one without borders, except for the `loose` ones */
  bool *loose;         /* [n] */
  bool uniform_steps;  /* without borders, a loop's step moves each length by the same distance at
                   any setting */
  uint64_t skip;       /* positions that look() sets itself */
  /* Computes the boxes of lengths which[0 .. n), clipped by borders; or unclipped, where ev.noclip
   * and ev.whole are set. Lengths of an empty box are 0. */
  void (*look)(struct tf_model *m, const int *which, int n, const int64_t *digits, tf_ival *out);
  const void *what;
  uint64_t loops; /* of the current group */
  int n_groups;
  tf_most_group group[TF_MAX_PATH + 1];
  int *which;     /* [n] */
  int64_t *front; /* of group g: [v * n + k] from TF_MOST_FRONT * first on */
  int64_t *len;   /* [n] current lengths of a group */
  tf_ival *at, *whole;
  int64_t *shift; /* [n * TF_MAX_PATH] */
} tf_most;

/* With room for every search of m; NULL: out of memory. */
tf_most *tf_most_new(tf_arena *a, const struct tf_model *m);
/* Finds the Pareto front of each group.  False: too many settings; only the walk can count. */
bool tf_most_find(struct tf_model *m, tf_most *q);
/* The next setting of loop l, of n, after t: with retention, one of those that are equal away from
 * borders (sums.c). */
int64_t tf_most_next(const struct tf_model *m, int node, int l, int64_t t, int64_t n);
/* Length v of group g of which[first + k]. */
static inline int64_t tf_most_len(const tf_most *q, const tf_most_group *g, int v, int k) {
  return q->front[TF_MOST_FRONT * g->first + v * g->n + k];
}
#endif
