/* Trees in which the ops run in phases, all trip counts open: a Seq of phases, between which memory
 * 1 keeps what passes, below one Tile that spreads what all ops share over that memory's instances.
 * A phase is one op below Tiles of its own, so that it reads its inputs in parts of any shape; or
 * several *parts* side by side (Pipe) below a Tile of memory 1 that they share.  A part is a row of
 * consecutive ops on one kind of unit. */
#ifndef SEARCH_SPACE_PHASES_H
#define SEARCH_SPACE_PHASES_H
#include "tileflow/tree.h"

/* How many ways there are to cut the ops into phases, and to bypass outputs; 0: the ops run on one
 * kind of unit, or are no chain. */
int tf_phases_ways(const tf_arch *arch, const tf_workload *wl);
/* The k-th; NULL: the rules of trees refuse it, or memory ran out. */
tf_tree *tf_phases_tree(const tf_arch *arch, const tf_workload *wl, int k);
#endif
