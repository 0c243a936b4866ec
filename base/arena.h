/* Arena: memory for one phase, freed as a whole.
 *
 * A failed allocation is sticky: every later one fails, too, however small, and tf_arena_failed
 * says so.  A function that makes several allocations therefore checks once, before it uses any;
 * and a phase reports to the user once, at its end (docs/DECISIONS.md, Memory that runs out). */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H
#include <stdbool.h>
#include <stddef.h>

typedef struct tf_arena tf_arena;

/* NULL only when memory runs out; tf_arena_free(NULL) is allowed. */
tf_arena *tf_arena_new(void);
void tf_arena_free(tf_arena *a);
/* Zeroed, aligned to 16 bytes, valid as long as the arena.  NULL when memory has run out, or if the
 * arena is NULL. */
void *tf_arena_alloc(tf_arena *a, size_t bytes);
/* n * size with the product checked. */
void *tf_arena_array(tf_arena *a, size_t n, size_t size);
char *tf_arena_strndup(tf_arena *a, const char *s, size_t n);
/* Whether any allocation failed.  True of NULL, an arena that could not be allocated itself. */
bool tf_arena_failed(const tf_arena *a);
#define TF_NEW(a, T) ((T *)tf_arena_alloc((a), sizeof(T)))
#define TF_ARRAY(a, T, n) ((T *)tf_arena_array((a), (n), sizeof(T)))
#endif
