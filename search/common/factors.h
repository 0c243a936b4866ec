/* Lists of trip counts, cached. */
#ifndef SEARCH_COMMON_FACTORS_H
#define SEARCH_COMMON_FACTORS_H
#include <stdint.h>

#include "base/arena.h"

typedef struct tf_factors tf_factors;

tf_factors *tf_factors_new(tf_arena *a);
/* Which trip counts: divisors; also ceil(n / 2^k), which gives tiles of 2^k with a shorter last
 * one; where there are few divisors, also those of all other tiles whose length no smaller count
 * gives, ceil(n / k): of very long ranges the longest and the shortest.  Rounded: the divisors of
 * tf_rounded(n), of which n takes as many steps of a length. */
typedef enum { TF_DIVISORS, TF_WITH_TILES, TF_WITH_ALL, TF_ROUNDED } tf_factors_kind;
enum { TF_ROUND = 16 };
/* A length that has few divisors, rounded up to a multiple of TF_ROUND; others as they are. */
int32_t tf_rounded(int32_t n);
/* Trip counts worth trying for a length n, ascending, 1 and n among them.  Returns how many, at
 * most 240; 0 if memory ran out. */
int tf_factors_of(tf_factors *f, int32_t n, tf_factors_kind kind, const int32_t **out);
#endif
