/* Mappings of long graphs, composed of mappings of their ops.
 *
 * The ops, in order, are cut into runs.  Memory 1 keeps what one op of a run makes for others, and
 * one Tile above the run spreads a dim that all its ops share over the instances of that memory, so
 * that each finds what it reads.  What passes from run to run goes through the outermost memory.
 * An op's own Tiles are searched for that op by itself, as it meets an instance of memory 1: the
 * time that takes grows with the number of ops alone. */
#ifndef SEARCH_RUN_COMPOSED_H
#define SEARCH_RUN_COMPOSED_H
#include "search/common/budget_clock.h"
#include "search/common/trial.h"

/* From so many ops on a mapping is composed; where memory 1 is linked, of two. */
enum { TF_COMPOSED_FROM = 12 };

/* Whether memory 1 is a chip's, or a core's, behind links: then a dim that all ops share is worth
 * spreading over these, however few ops there are. */
bool tf_composed_linked(const tf_arch *a);

/* Searches a problem of one op. */
typedef tf_search_result *tf_search_of_op(const tf_arch *arch, const tf_workload *wl,
                                          const tf_search_opts *o, tf_diags *d);

/* Looks for the best of some such mappings with the budget of o, of which it takes a part of the
 * time; evaluations are of single ops or of the whole, and q counts them.  Fills in the tree, its
 * value and figures, but no text; false: none fits, or tensors have zeros. */
bool tf_composed(const tf_arch *arch, const tf_workload *wl, const tf_search_opts *o,
                 tf_search_of_op *search, tf_budget_clock *clock, tf_evaluator *q, tf_found *out);
#endif
