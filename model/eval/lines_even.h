/* Lines in closed form (docs/SEMANTICS.md section 9, docs/MODEL.md section 7). */
#ifndef MODEL_EVAL_LINES_EVEN_H
#define MODEL_EVAL_LINES_EVEN_H
#include "model/cost/exact/lines.h"

/* Fills the lines of all slices in closed form, after the quick count.  False: too many, or memory
 * ran out. */
bool tf_lines_even(struct tf_model *m);
/* Fills those of each slice of a tile that has lines, by sum_tile, and of each op's operands, by
 * sum_leaf, on the op's unit.  False: one of them gave up, or memory ran out. */
bool tf_lines_each(struct tf_model *m, bool (*sum_tile)(struct tf_model *m, int i),
                   bool (*sum_leaf)(struct tf_model *m, int i, const tf_unit *unit));
#endif
