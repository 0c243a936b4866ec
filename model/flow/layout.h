/* Whether an m-tile can reuse what the previous one left in its memory: only if both spread over
 * instances in the same way (the layout), and no reduction is spread over instances, whose partial
 * sums are written out. */
#ifndef MODEL_FLOW_LAYOUT_H
#define MODEL_FLOW_LAYOUT_H
#include "model/flow/range.h"

/* Whether the content that c->prev left is still valid: same layout, reduction not spread. */
bool tf_class_survives(tf_eval *ev, tf_scratch *w, const tf_slice *s, const tf_reuse_case *c);
/* Fills ev->parts and ev->parted: loops that move one reference of an m-tile, or one read of a
 * producer's output, but not another, so that their hull grows and shrinks.  Sets ev->irregular
 * where only the walk can count that: together with masks, borders, or retention. */
void tf_find_parted(tf_eval *ev, tf_scratch *w);
/* Whether some loop on which a rank of a slice depends does not move it because terms of an index
 * cancel: near a border that cuts the range of one of the terms they do not. */
bool tf_terms_cancel(tf_eval *ev, tf_scratch *w);
/* Whether a loop splits ranges of several ops that are not equally long, so that one op has no step
 * left where another has: only the walk can count that. */
bool tf_leaders_part(tf_eval *ev, tf_scratch *w);
/* Whether m-tile slices i and j (indices) have the same spatial loops below their common scope. */
bool tf_layouts_agree(tf_eval *ev, tf_scratch *w, int i, int j);
#endif
