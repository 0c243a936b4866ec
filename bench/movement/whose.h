/* What bench/movement/beside.c tells whose.c, where that is linked (-DWHOSE). */
#pragma once
#include <stddef.h>

#ifdef WHOSE
void whose_place(const char *name, const void *from, size_t bytes); /* an array */
void whose_print(void); /* a line for each array, and one for all else */
#else
static inline void whose_place(const char *name, const void *from, size_t bytes) {
  (void)name, (void)from, (void)bytes;
}
static inline void whose_print(void) {}
#endif
