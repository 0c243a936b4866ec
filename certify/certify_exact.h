/* Exact arithmetic: integers of 128 bits, and fixed-point numbers in them (units of 2^-36).  What
 * does not fit ends the check: no certificate passes by an overflow. */
#ifndef CERTIFY_CERTIFY_EXACT_H
#define CERTIFY_CERTIFY_EXACT_H
#include <stdint.h>

__extension__ typedef __int128 wide;

enum { POINT = 36 };
#define ONE ((wide)1 << POINT) /* the number 1 in fixed point */

/* A number of the file: num / den, of at most 62 bits each, in lowest terms.  den 0: no limit. */
typedef struct {
  int64_t num, den;
} ratio;

wide plus(wide a, wide b);
wide times(wide a, wide b);
/* a b / c of numbers that are not negative, rounded down and up; b and c below 2^62. */
wide scaled(wide a, int64_t b, int64_t c);
wide scaled_up(wide a, int64_t b, int64_t c);
/* The product of two numbers in fixed point. */
wide product(wide a, wide b);
/* a r, and a / r, which is 0 where r has no limit. */
wide of(wide a, ratio r);
wide over(wide a, ratio r);

static inline wide most(wide a, wide b) { return a > b ? a : b; }
static inline wide least(wide a, wide b) { return a < b ? a : b; }
static inline wide ceiling(wide a, wide b) { return (a + b - 1) / b; }
#endif
