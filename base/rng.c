/* PCG32: a 64-bit linear congruential state, its high bits xored and rotated out. */
#include "base/rng.h"

#include <assert.h>

static const uint64_t MULTIPLIER = 6364136223846793005u;

uint32_t tf_rng_u32(tf_rng *r) {
  uint64_t old = r->state;
  r->state = old * MULTIPLIER + r->increment;
  uint32_t mixed = (uint32_t)(((old >> 18) ^ old) >> 27);
  uint32_t turn = (uint32_t)(old >> 59);
  return (mixed >> turn) | (mixed << ((32 - turn) & 31));
}

tf_rng tf_rng_new(uint64_t seed, uint64_t stream) {
  tf_rng r = {0, (stream << 1) | 1};
  tf_rng_u32(&r);
  r.state += seed;
  tf_rng_u32(&r);
  return r;
}

/* Numbers below 2^32 mod n are drawn again, so that every remainder is equally likely. */
uint32_t tf_rng_below(tf_rng *r, uint32_t n) {
  assert(n >= 1);
  uint32_t first_fair = (0u - n) % n;
  uint32_t x = tf_rng_u32(r);
  while (x < first_fair)
    x = tf_rng_u32(r);
  return x % n;
}

double tf_rng_unit(tf_rng *r) {
  uint64_t high = tf_rng_u32(r) >> 5, low = tf_rng_u32(r) >> 6;
  return (double)((high << 26) | low) / 9007199254740992.0;
}
