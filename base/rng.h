/* Seeded random streams: PCG-XSH-RR 64/32.
 * Source: M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
 * Algorithms for Random Number Generation", HMC-CS-2014-0905, section 6.3. */
#ifndef BASE_RNG_H
#define BASE_RNG_H
#include <stdint.h>

typedef struct {
  uint64_t state, increment; /* increment is odd and selects the stream */
} tf_rng;

/* The same seed and stream give the same numbers on every machine. */
tf_rng tf_rng_new(uint64_t seed, uint64_t stream);
uint32_t tf_rng_u32(tf_rng *r);
/* Uniform over 0 .. n - 1; n >= 1. */
uint32_t tf_rng_below(tf_rng *r, uint32_t n);
/* Uniform over [0, 1), with 53 random bits. */
double tf_rng_unit(tf_rng *r);
#endif
