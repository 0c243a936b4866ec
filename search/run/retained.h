/* Mappings that make a part of an intermediate more than once, with scopes that retain it. */
#ifndef SEARCH_RUN_RETAINED_H
#define SEARCH_RUN_RETAINED_H
#include "search/common/trial.h"

/* Looks for a mapping below `value`: the tree, where home scopes retain what it makes more than
 * once, of all such intermediates or of one.  What is padded is not, and what only a long walk
 * counts is left out.  Fills in the tree and its figures, but no text; false: there is none. */
bool tf_retained(const tf_tree *tree, double value, tf_trying *q, tf_found *out);
#endif
