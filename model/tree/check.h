/* The rules that make a tree a mapping (docs/MODEL.md; the contract's model.md, section 1). */
#ifndef MODEL_TREE_CHECK_H
#define MODEL_TREE_CHECK_H
#include "model/tree/facts.h"
#include "model/tree/parse.h"

/* Reports every rule that the tree breaks. */
void tf_tree_check(tf_tree_reader *r);

#endif
