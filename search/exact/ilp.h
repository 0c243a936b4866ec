/* Integer programs, by GLPK. */
#ifndef SEARCH_EXACT_ILP_H
#define SEARCH_EXACT_ILP_H
#include <stdbool.h>
#include <stdint.h>

/* Prime factors of n lengths are allotted to the slots of meshes (an axis each, `room` instances): the
 * logarithms of what a slot takes add up, which makes it a linear program (as CoSA: Huang et al., ISCA 2021).
 * *most: the largest product of all slots together; *relaxed: the same where factors may be cut to pieces, no less.
 * False where the tool was built without GLPK, or it failed. */
bool tf_ilp_most_spread(const int64_t *len, int n, const int64_t *room, int n_slots, double *most, double *relaxed);
/* Whether the tool was built with GLPK. */
bool tf_ilp_there(void);
#endif
