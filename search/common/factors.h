/* Lists of divisors, made when first asked for. */
#ifndef SEARCH_COMMON_FACTORS_H
#define SEARCH_COMMON_FACTORS_H
#include <stdint.h>

#include "base/arena.h"

typedef struct tf_factors tf_factors;

tf_factors *tf_factors_new(tf_arena *a);
/* Trip counts worth trying on n, ascending, 1 and n among them: its divisors, and where these are
 * `few` or less also ceil(n / 2^k), which leaves tiles of 2^k.  0 if memory ran out. */
int tf_factors_of(tf_factors *f, int32_t n, int few, const int32_t **out);
#endif
