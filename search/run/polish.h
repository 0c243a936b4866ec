/* The best mapping found, changed step by step while that makes it better. */
#ifndef SEARCH_RUN_POLISH_H
#define SEARCH_RUN_POLISH_H
#include "search/common/budget_clock.h"
#include "search/common/trial.h"

/* How long, and for what: it ends at the goal, and after so many evaluations or what these may
 * take. */
typedef struct {
  double goal;    /* where it is met nothing better is looked for */
  int64_t evals;  /* the most */
  int64_t effort; /* that these may take; 0: some times their number */
  uint64_t seed;  /* of random moves */
} tf_polishing;

/* Descends from the tree, whose value is `value`, by moves: a factor goes from one loop to another
 * of the same dim, in one Tile, in Tiles above one another, or between a Tile and all those first
 * below its scope; neighbouring loops change places; instances go from one dim to another; a Tile
 * takes up a bypass or gives it up; a scope becomes another.  Where no move makes it better, a few
 * are made whatever they cost, and it descends from there.  Ends, too, when the watch (NULL: none)
 * is over.  Fills in the tree and its figures, but no text; false: nothing is better. */
bool tf_polished(const tf_tree *tree, double value, const tf_polishing *how, tf_budget_clock *watch,
                 tf_trying *q, tf_found *out);
#endif
