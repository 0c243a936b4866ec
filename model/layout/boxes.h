/* The lines that a box of elements touches, in a time that its lengths hardly change: rows of it
 * that lie alike in lines and banks are counted together. */
#ifndef MODEL_LAYOUT_BOXES_H
#define MODEL_LAYOUT_BOXES_H
#include "model/layout/place.h"

/* As tf_touched_by, of a box (less a box).  False: it falls into too many pieces. */
bool tf_touched_box(const tf_places *p, const int64_t *at, int64_t shift, const tf_elements *c,
                    tf_line_set *s, tf_touched *t);
#endif
