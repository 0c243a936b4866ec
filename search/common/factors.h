/* Lists of divisors, cached. */
#ifndef SEARCH_COMMON_FACTORS_H
#define SEARCH_COMMON_FACTORS_H
#include <stdint.h>

#include "base/arena.h"

typedef struct tf_factors tf_factors;

tf_factors *tf_factors_new(tf_arena *a);
/* Trip counts worth trying for a length n, ascending, 1 and n among them: its divisors, and, where there are at most
 * `few` of these, also ceil(n / 2^k), which gives tiles of 2^k.  Returns how many; 0 if memory ran out. */
int tf_factors_of(tf_factors *f, int32_t n, int few, const int32_t **out);
#endif
