/* Mappings in which ops run one after the other, and two of them that follow each other are to be
 * fused. */
#ifndef SEARCH_SPACE_PAIRS_H
#define SEARCH_SPACE_PAIRS_H
#include "tileflow/tree.h"

/* The tree with the child of its root at `node`, and the next one, below one Tile of the outermost
 * memory: memory 1 keeps what the first one's op makes and the second one's alone reads.  All loops
 * of the two are open, the others stay.  NULL: the root is no Seq or Shar, a child holds several
 * ops, what the first makes is read elsewhere or not by the second, the rules of trees refuse it,
 * or memory ran out. */
tf_tree *tf_pairs_fused(const tf_tree *t, int node);
#endif
