/* Sets of small numbers as words of 64 bits. */
#ifndef BASE_BITS_H
#define BASE_BITS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 64-bit words that a set over 0 .. n - 1 needs. */
static inline size_t tf_bits_words(size_t n) { return (n + 63) / 64; }
static inline bool tf_bits_has(const uint64_t *set, int i) { return set[i / 64] >> (i % 64) & 1; }
static inline void tf_bits_add(uint64_t *set, int i) { set[i / 64] |= UINT64_C(1) << (i % 64); }
#endif
