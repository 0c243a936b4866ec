/* Tries retention in mappings that make a part of an intermediate more than once. */
#ifndef SEARCH_RUN_RETAINED_H
#define SEARCH_RUN_RETAINED_H
#include "search/common/trial.h"

/* Looks for a mapping below `value`: the tree with home scopes that retain what it makes more than
 * once, of all such intermediates or of one.  Padded intermediates, and trees that only a long walk
 * could count, are left out.  Fills in the tree and its figures, but no text; false: there is
 * none. */
bool tf_retained(const tf_tree *tree, double value, tf_evaluator *q, tf_found *out);
#endif
