/* Integer arithmetic: sums and products that fail instead of wrapping; division that rounds up. */
#ifndef BASE_CHECKED_H
#define BASE_CHECKED_H
#include <stdbool.h>
#include <stdint.h>

/* False, with *out unspecified, when the result does not fit an int64_t. */
static inline bool tf_add(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_add_overflow(a, b, out);
}
static inline bool tf_sub(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_sub_overflow(a, b, out);
}
static inline bool tf_mul(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_mul_overflow(a, b, out);
}

/* Of counts, which are not negative: INT64_MAX where the result passes it. */
static inline int64_t tf_sat_add(int64_t a, int64_t b) {
  int64_t r;
  return tf_add(a, b, &r) ? r : INT64_MAX;
}
static inline int64_t tf_sat_mul(int64_t a, int64_t b) {
  int64_t r;
  return tf_mul(a, b, &r) ? r : INT64_MAX;
}

/* Of n >= 0, so many parts of `by` >= 1. */
static inline int64_t tf_ceil_div(int64_t n, int64_t by) { return n / by + (n % by != 0); }

/* The greatest common divisor; 0 is a multiple of all. */
static inline int64_t tf_gcd(int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}
#endif
