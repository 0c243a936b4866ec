/* What searches and solvers ask of a model beyond whole evaluations (tileflow/model.h). */
#ifndef MODEL_EVAL_HOOKS_H
#define MODEL_EVAL_HOOKS_H
#include "model/cost/open.h"
#include "tileflow/model.h"

/* How long the last evaluation took, in quick ones: 1 for a quick one; for others a fixed part, and a share for every
 * setting looked at.  Does not depend on the machine. */
int64_t tf_model_effort(const tf_model *m);

/* Steps that the last evaluation walked; 0: it did not. */
int64_t tf_model_walked(const tf_model *m);

/* true: from now on an evaluation fails (as if a count had overflowed) where the tree has a quick count and the trip
 * counts do not permit it, instead of counting the long way.  false: counts again. */
void tf_model_quick_only(tf_model *m, bool only);

/* Of up to TF_GLANCE_ROWS rows of trip counts at once, those that the quick count of many rows applies to: bit i of the
 * result says that it does to row i, and out[i] what tf_model_eval finds for it (its effort is 1); other elements of
 * out are as they were.  The first call for a model prepares it, and allocates.  0 for trees that tf_model_eval_batch
 * evaluates row by row. */
enum { TF_GLANCE_ROWS = 32 };
uint32_t tf_model_glance(tf_model *m, const int64_t *trips, int n, tf_brief *out);

/* As tf_model_eval, for what all mappings have in common that agree with trips[] in the loops of the nodes not open,
 * and in the product of the loops of each dim below them: cycles, energy, counts and points are of the closed nodes
 * alone and so no more than any of these mappings has; open ops take no time but points over units.  Peaks hold for
 * closed nodes.  No causes (tf_why_of) after it. */
bool tf_model_partial(tf_model *m, const int64_t *trips, const tf_open *open, tf_result *out);

/* Overlap double-buffer: the first load of node n in the last evaluation, which a scope around it may hide. */
double tf_model_first_load(const tf_model *m, int n);
#endif
