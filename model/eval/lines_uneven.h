/* Lines in closed form where loops leave a remainder or borders clip boxes (docs/MODEL.md section
 * 7). */
#ifndef MODEL_EVAL_LINES_UNEVEN_H
#define MODEL_EVAL_LINES_UNEVEN_H
#include "model/cost/exact/lines.h"

/* Fills the lines of all slices in closed form, after a count by closed sums.  False: these do not
 * tell, there are too many, or memory ran out. */
bool tf_lines_uneven(struct tf_model *m);
#endif
