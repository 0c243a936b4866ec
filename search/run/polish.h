/* The best mapping found, changed step by step while that makes it better. */
#ifndef SEARCH_RUN_POLISH_H
#define SEARCH_RUN_POLISH_H
#include "search/common/retain.h"
#include "search/common/watch.h"

/* Descends from the tree, whose value is `value`, by moves: a factor goes from one loop to another of the same dim, in
 * one Tile, in Tiles above one another, or between a Tile and all those first below its scope; neighbouring loops
 * change places; instances go from one dim to another; a Tile takes up a bypass or gives it up; a scope becomes
 * another.  Where no move makes it better, a few are made whatever they cost, and it descends from there.  Ends at q's
 * goal, after `most` evaluations or what these may take, or when the watch (NULL: none) is over.  Fills in the tree and
 * its figures, but no text; false: nothing is better. */
bool tf_polished(const tf_tree *tree, double value, int64_t most, tf_watch *watch, tf_trying *q, tf_found *out);
#endif
