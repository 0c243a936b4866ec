/* Iterated local search from a mapping, by small changes of its tree. */
#ifndef SEARCH_RUN_TREE_LOCAL_SEARCH_H
#define SEARCH_RUN_TREE_LOCAL_SEARCH_H
#include "search/common/budget_clock.h"
#include "search/common/trial.h"

/* When it ends: at the goal, or after so many evaluations or so much effort. */
typedef struct {
  double goal;    /* where it is met, nothing better is looked for */
  int64_t evals;  /* the most */
  int64_t effort; /* of these; 0: proportional to their number */
  uint64_t seed;  /* of random moves */
} tf_local_search_opts;

/* Descends from the tree, whose value is `value`, by moves: a factor goes from one loop to another
 * of the same dim, in one Tile, in Tiles above one another, or between a Tile and all those first
 * below its scope; neighbouring loops are exchanged; instances go from one dim to another; a Tile
 * gets or loses a bypass; a scope changes its kind; another memory keeps an intermediate.  In a
 * local optimum a few moves are made whatever they cost, and it descends from there.  Ends, too,
 * when the clock (or NULL) is over.  Fills in the tree and its figures, but no text; false: nothing
 * is better. */
bool tf_tree_local_search(const tf_tree *tree, double value, const tf_local_search_opts *how,
                          tf_budget_clock *clock, tf_evaluator *q, tf_found *out);
#endif
