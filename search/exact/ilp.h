/* Integer programs, by GLPK. */
#ifndef SEARCH_EXACT_ILP_H
#define SEARCH_EXACT_ILP_H
#include <stdbool.h>
#include <stdint.h>

/* What ends branch and bound before the optimum is proved: a number of nodes, or `over`, which is
 * called at each node (NULL: the number alone). */
typedef struct {
  int64_t nodes;
  bool (*over)(void *ctx);
  void *ctx;
  int64_t spent; /* result: nodes solved */
} tf_ilp_limit;

/* Assigns prime factors of n lengths to mesh axes (slots of `room` instances each) so that the
 * fewest instances are idle.  In logarithms the product in a slot is a sum, which makes it an
 * integer linear program (as in CoSA: Huang et al., ISCA 2021).  *most: the largest product over
 * all slots, or, if stopped by the limit, an upper bound of it; *relaxed: its upper bound by the
 * linear relaxation.  False where the program was built without GLPK, or GLPK failed. */
bool tf_ilp_most_spread(const int64_t *len, int n, const int64_t *room, int n_slots,
                        tf_ilp_limit *limit, double *most, double *relaxed);
/* Whether the program was built with GLPK. */
bool tf_ilp_there(void);
#endif
