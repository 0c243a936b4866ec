#include "certify/certify_exact.h"

#include "certify/certify.h"

static const char beyond[] = "a number of more than 127 bits";

wide plus(wide a, wide b) {
  wide sum;
  if (__builtin_add_overflow(a, b, &sum)) refuse(beyond);
  return sum;
}

wide times(wide a, wide b) {
  wide product;
  if (__builtin_mul_overflow(a, b, &product)) refuse(beyond);
  return product;
}

/* a = q c + r: a b / c = q b + r b / c, and r b is below 2^124. */
wide scaled(wide a, int64_t b, int64_t c) { return plus(times(a / c, b), a % c * b / c); }

wide scaled_up(wide a, int64_t b, int64_t c) {
  return plus(times(a / c, b), ceiling(a % c * b, c));
}

wide product(wide a, wide b) {
  return plus(times(a, b / ONE), scaled(a, (int64_t)(b % ONE), (int64_t)ONE));
}

wide of(wide a, ratio r) { return scaled(a, r.num, r.den); }

wide over(wide a, ratio r) { return r.den ? scaled(a, r.den, r.num) : 0; }
