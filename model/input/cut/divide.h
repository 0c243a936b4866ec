/* Shared by the files that cut dims. */
#ifndef MODEL_INPUT_CUT_DIVIDE_H
#define MODEL_INPUT_CUT_DIVIDE_H
#include "model/input/cut/cut.h"

/* AGAIN: a dim was cut, and everything is to be looked at anew.  NEVER: reported. */
typedef enum { CUT_DONE, CUT_AGAIN, CUT_NEVER } cut_outcome;

/* Who divides: the text, or a read of a tensor that is made in parts. */
typedef struct {
  tf_loc at;
  const tf_ref *read; /* NULL: the text */
} cut_asker;

bool cut_fail_form(const tf_cutting *c, const tf_affine *a, tf_loc at);
/* The index as it is written, over parts.  False after an error. */
bool cut_form(const tf_cutting *c, const tf_index *x, tf_loc at, tf_affine *out);
/* out = e / m, rounded down.  A part that has steps within m and beyond it is cut. */
cut_outcome cut_divide(tf_cutting *c, const tf_affine *e, int64_t m, const cut_asker *by,
                       tf_affine *out);

/* The parts over which a made tensor's rank is indexed by `a`, the innermost first, each with its
 * weight; 0 where they do not meet each coordinate once. */
int cut_rank_parts(const tf_cutting *c, const tf_affine *a, tf_term *part);
/* The index e of such a rank as one for each of its n parts, the outermost first. */
cut_outcome cut_spread(tf_cutting *c, const tf_affine *e, const tf_term *part, int n,
                       const cut_asker *by, tf_affine *out);
/* Writes dims, ops and their reads over the parts.  False without memory or past a limit. */
bool cut_apply(tf_cutting *c);
#endif
