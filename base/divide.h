/* Division that rounds up. */
#ifndef BASE_DIVIDE_H
#define BASE_DIVIDE_H
#include <stdint.h>

/* Of n >= 0, so many parts of `by` >= 1; n + by must not pass 2^63 - 1. */
static inline int64_t tf_ceil_div(int64_t n, int64_t by) { return (n + by - 1) / by; }
#endif
