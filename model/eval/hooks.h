/* Internal interface of a model for searches and solvers, in addition to tileflow/model.h. */
#ifndef MODEL_EVAL_HOOKS_H
#define MODEL_EVAL_HOOKS_H
#include "model/cost/open.h"
#include "tileflow/model.h"

/* The effort of the last evaluation in units of a quick one: 1 for a quick one, 4 if its tiles may
 * be partial; for others a fixed part, and a share for every setting visited.  Independent of the
 * computer. */
int64_t tf_model_effort(const tf_model *m);
enum { TF_EFFORT_PARTIAL = 4 };

/* Steps that the last evaluation walked; 0: it did not walk.  In a budget of evaluations they count
 * as one more evaluation for each TF_WALKED_AN_EVAL. */
int64_t tf_model_walked(const tf_model *m);
enum { TF_WALKED_AN_EVAL = 64 };
static inline int64_t tf_model_walked_evals(const tf_model *m) {
  return tf_model_walked(m) / TF_WALKED_AN_EVAL;
}

/* Sets the most settings that the sums of an evaluation may visit before they leave it to the walk;
 * initially 2^28.  Together with a walk limit of 0, every evaluation is short. */
void tf_model_sum_limit(tf_model *m, int64_t settings);

/* From now on, where the quick count applies, every step is taken to have a whole tile, as by
 * tf_model_estimate: figures are those of ranges that the last tiles fill, and r->estimated is set
 * if one does not.  Several times as fast as counting partial tiles; for rankings. */
void tf_model_whole_tiles(tf_model *m);

/* From now on, where the quick count applies, a row that does not fit is not counted: its result
 * has only the words held and the violations. */
void tf_model_fits_first(tf_model *m);

/* The figures of one row in a batch call. */
typedef struct {
  tf_brief brief;
  double nodes;   /* sum of the cycles of all nodes, each of which is at most that of the whole */
  int64_t effort; /* as tf_model_effort */
} tf_quick_row;

/* Evaluates up to TF_QUICK_ROWS rows of trip counts at once.  Bit i of the result: the quick count
 * applies to row i, and out[i] is the result of tf_model_eval for it; other elements of out are
 * unchanged.  The first call for a model prepares it, and allocates.  Returns 0 for trees that
 * tf_model_eval_batch evaluates row by row. */
enum { TF_QUICK_ROWS = 32 };
uint32_t tf_model_quick_rows(tf_model *m, const int64_t *trips, int n, tf_quick_row *out);

/* Evaluates a partial mapping: as tf_model_eval, for what is common to all mappings that agree with
 * trips[] in the loops of closed nodes, and in the product of the loops of each dim below these.
 * Cycles, energy, counts and points are of the closed nodes alone, hence lower bounds; open ops
 * count only their points over their units.  Peaks hold for closed nodes.  tf_why_of must not be
 * called after it. */
bool tf_model_partial(tf_model *m, const int64_t *trips, const tf_open *open, tf_result *out);

/* From now on evaluations walk (model/cost/exact), even where a count applies. */
void tf_model_to_walk(tf_model *m);

/* With double buffering: the cycles of the first load of node n in the last evaluation, which a
 * scope around it may hide. */
double tf_model_first_load(const tf_model *m, int n);
#endif
