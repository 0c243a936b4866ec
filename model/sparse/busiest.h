/* How much more the part that has the most of a tensor's elements has than the mean part
 * (docs/SEMANTICS.md section 8). */
#ifndef MODEL_SPARSE_BUSIEST_H
#define MODEL_SPARSE_BUSIEST_H
#include "model/sparse/odds.h"

/* The expectation of the most elements that are not zero in any of `parts` parts of `each`
 * elements, of elements that are DRAWN or fall EACH by itself.  With many elements the sum of the
 * parts is taken to be normal. */
double tf_odds_busiest(const tf_odds *o, double parts, double each);

/* The expectation of the most tokens in any of `parts` equal parts of the experts, where each token
 * goes to `top` of them and all choices are as likely.  Of one choice, of one token and of all
 * experts that is exact (but for the sum of the parts, as above); otherwise mean and variance of a
 * part's tokens are. */
double tf_routed_busiest(double tokens, double top, double experts, double parts);
#endif
