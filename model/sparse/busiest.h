/* How much more the part that has the most of a tensor's elements has than the mean part
 * (docs/SEMANTICS.md section 8). */
#ifndef MODEL_SPARSE_BUSIEST_H
#define MODEL_SPARSE_BUSIEST_H
#include "model/sparse/odds.h"

/* The expectation of the most elements that are not zero in any of `parts` parts of `each`
 * elements, of elements that are DRAWN or fall EACH by itself.  With many elements the sum of the
 * parts is taken to be normal. */
double tf_odds_busiest(const tf_odds *o, double parts, double each);
#endif
