/* Arrays and texts of the heap that grow: of each the owner holds the start and how much is used,
 * and frees it. */
#ifndef BASE_GROW_H
#define BASE_GROW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes room for one more element in an array of n, whose start is at *start.  An array that only
 * grows by this has room up to the next power of two, so that its owner need not hold how much.
 * False if memory ran out: the array is as it was, and the caller says so where its other errors
 * go. */
#define TF_GROW(array, n) tf_grow((void *)&(array), (int64_t)(n), sizeof *(array))
bool tf_grow(void *start, int64_t n, size_t size);

/* Makes room for `need` bytes in a text, at least twice as many as there were; false as above. */
bool tf_grow_text(char **text, size_t *room, size_t need);
#endif
