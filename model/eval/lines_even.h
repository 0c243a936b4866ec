/* Lines in closed form (docs/SEMANTICS.md section 9, docs/MODEL.md section 7). */
#ifndef MODEL_EVAL_LINES_EVEN_H
#define MODEL_EVAL_LINES_EVEN_H
#include "model/cost/exact/lines.h"

/* Fills the lines of all slices in closed form, after the quick count.  False: too many, or memory
 * ran out. */
bool tf_lines_even(struct tf_model *m);
#endif
