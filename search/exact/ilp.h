/* Integer programs, by GLPK. */
#ifndef SEARCH_EXACT_ILP_H
#define SEARCH_EXACT_ILP_H
#include <stdbool.h>
#include <stdint.h>

/* What ends branch and bound before the best is proved: a number of nodes, or `over`, which is
 * asked at each node (NULL: nothing else). */
typedef struct {
  int64_t nodes;
  bool (*over)(void *ctx);
  void *ctx;
  int64_t spent; /* result: nodes solved */
} tf_ilp_limit;

/* Assigns prime factors of n lengths to mesh axes (slots of `room` instances each) so that the
 * fewest instances are idle.  The logarithms of the factors in a slot add up, which makes it an
 * integer linear program (as in CoSA: Huang et al., ISCA 2021).  *most: the largest product over
 * all slots, or, where the limit ended it, an upper bound of that; *relaxed: an upper bound of it,
 * by the linear relaxation.  False where the tool was built without GLPK, or GLPK failed. */
bool tf_ilp_most_spread(const int64_t *len, int n, const int64_t *room, int n_slots,
                        tf_ilp_limit *limit, double *most, double *relaxed);
/* Whether the tool was built with GLPK. */
bool tf_ilp_there(void);
#endif
