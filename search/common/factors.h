/* Lists of trip counts, cached. */
#ifndef SEARCH_COMMON_FACTORS_H
#define SEARCH_COMMON_FACTORS_H
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct tf_factors tf_factors;

tf_factors *tf_factors_new(tf_arena *a);
/* Trip counts worth trying for a length n, ascending, 1 and n among them: its divisors, and ceil(n / 2^k), which gives
 * tiles of 2^k with a shorter last one.  all: also those of all other tiles whose length no smaller count gives, ceil(n
 * / k); of very long ranges the longest and the shortest.  Returns how many, at most 240; 0 if memory ran out. */
int tf_factors_of(tf_factors *f, int32_t n, bool all, const int32_t **out);
#endif
