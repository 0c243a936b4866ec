/* Fusion of two consecutive ops in a mapping that runs ops one after another. */
#ifndef SEARCH_SPACE_PAIRS_H
#define SEARCH_SPACE_PAIRS_H
#include "tileflow/tree.h"

/* The tree with the child of its root at `node`, and the next one, below one Tile of the outermost
 * memory: memory 1 keeps what the first one's op makes and only the second one's reads.  All loops
 * of the two are open, the other loops stay.  NULL: the root is no Seq or Shar, a child holds
 * several ops, the result of the first is read elsewhere or not by the second, a rule refuses the
 * tree, or memory ran out. */
tf_tree *tf_pairs_fused(const tf_tree *t, int node);

/* Trees of a workload of two ops in which all instances of the memory that feeds their units
 * together hold what the first makes and the second reads: where it has more room than another
 * memory further out.  Up to two dims share each side of a mesh.  Those that seem to move the
 * fewest words come first; each to be freed.  Returns how many. */
enum { TF_PAIRS_HELD = 24 };
int tf_pairs_held(const tf_arch *arch, const tf_workload *wl, tf_tree *trees[TF_PAIRS_HELD]);
#endif
