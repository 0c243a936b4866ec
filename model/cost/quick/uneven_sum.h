/* Internal to the count of uneven loops: one sum over the settings of the loops above a slice. */
#ifndef MODEL_COST_QUICK_UNEVEN_SUM_H
#define MODEL_COST_QUICK_UNEVEN_SUM_H
#include "model/cost/quick/uneven_plan.h"
#include "model/cost/state.h"

/* What is summed over: settings of the loops on the path of a slice. */
typedef struct {
  const tf_even_slice *v; /* without ranks: settings are counted */
  const tf_chain_groups *groups;
  int node;
  uint64_t zero; /* positions: temporal loops at their first, spatial ones of which only the first instance counts */
  int carry;     /* the loop that has stepped, -1: none; those inside it are among `zero` */
  /* what left the content that is found there; NULL: nothing did */
  const tf_even_slice *q;
  int from;     /* its node */
  bool sibling; /* it is another m-tile's; then: */
  int n_common; /* positions up to here are common to both paths */
} tf_uneven_sum;

/* Sums of the boxes, and of what is found of them, with more positions at their first setting.  join: positions of
 * spatial loops of which several bring the same box; it counts once. */
typedef struct {
  uint64_t zero, join;
  int64_t box, kept;
} tf_uneven_total;

enum { TF_UNEVEN_SUMS = 9 };

typedef struct {
  int n;
  tf_uneven_total of[TF_UNEVEN_SUMS];
} tf_uneven_sums;

/* A sum over a plain group, as its fields in tf_uneven_sum say. */
typedef struct {
  struct tf_model *m;
  const tf_uneven_node *n;
  const tf_path *path;
  const tf_chain_group *g;
  uint64_t zero;
  int carry;
} tf_plain_sum;

/* The sum of the boxes of such a group, and with `finds` of what the slice itself has left of them at the entry before.
 * False: its digits must be chosen one by one. */
bool tf_uneven_plain(const tf_plain_sum *x, bool finds, int64_t *all, int64_t *kept);
/* Fills all sums.  False: only the general count can tell. */
bool tf_uneven_sum_up(struct tf_model *m, const tf_uneven_sum *what, tf_uneven_sums *sums);
/* The longest that borders leave of the one rank of a group of w.  False: only the general count can tell. */
bool tf_uneven_longest(struct tf_model *m, const tf_uneven_sum *w, const tf_chain_group *g, int64_t *len);
#endif
