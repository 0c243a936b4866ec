/* Lists of trip counts, cached. */
#ifndef SEARCH_COMMON_FACTORS_H
#define SEARCH_COMMON_FACTORS_H
#include <stdint.h>

#include "base/arena.h"

typedef struct tf_factors tf_factors;

tf_factors *tf_factors_new(tf_arena *a);
/* Which trip counts.  TF_DIVISORS: divisors of n.  TF_WITH_TILES: also ceil(n / 2^k), which gives
 * tiles of 2^k and a shorter last one.  TF_WITH_ALL: where n has few divisors, also ceil(n / k) for
 * every other tile length k that no smaller count gives; of very long ranges only the longest and
 * the shortest tiles.  TF_ROUNDED: divisors of tf_rounded(n), which takes as many steps of each
 * length as n. */
typedef enum { TF_DIVISORS, TF_WITH_TILES, TF_WITH_ALL, TF_ROUNDED } tf_factors_kind;
enum { TF_ROUND = 16 };
/* n rounded up to a multiple of TF_ROUND where n has few divisors; else n. */
int32_t tf_rounded(int32_t n);
/* Trip counts worth trying for a length n, ascending, 1 and n among them.  Returns how many, at
 * most 240; 0 if memory ran out. */
int tf_factors_of(tf_factors *f, int32_t n, tf_factors_kind kind, const int32_t **out);
#endif
