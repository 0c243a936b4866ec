/* Trees in which the ops run in phases, all trip counts open: a Seq of phases, between which memory
 * 1 keeps the intermediates, below one Tile that spreads the dims shared by all ops over that
 * memory's instances.  A phase is one op below Tiles of its own, so that it reads its inputs in
 * blocks of any shape; or several *parts* side by side (Pipe) below a shared Tile of memory 1.  A
 * part is a sequence of consecutive ops on one kind of unit. */
#ifndef SEARCH_SPACE_PHASES_H
#define SEARCH_SPACE_PHASES_H
#include "tileflow/tree.h"

/* The number of partitions of the ops into phases, with and without bypassed outputs; 0: the ops
 * run on one kind of unit, or are no chain. */
int tf_phases_ways(const tf_arch *arch, const tf_workload *wl);
/* The tree of the k-th; NULL: a rule refuses it, or memory ran out. */
tf_tree *tf_phases_tree(const tf_arch *arch, const tf_workload *wl, int k);
#endif
