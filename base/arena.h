/* Arena: memory for one phase, given back all at once.
 *
 * That memory has run out sticks: behind the first piece that cannot be had nothing can, however small, and
 * tf_arena_failed says so.  So a function that takes several pieces asks once, before it uses any, and a phase that
 * leaves its functions early for it tells the user once, at its end (docs/DECISIONS.md, Memory that runs out). */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H
#include <stdbool.h>
#include <stddef.h>

typedef struct tf_arena tf_arena;

/* NULL only when memory runs out; tf_arena_free(NULL) is fine. */
tf_arena *tf_arena_new(void);
void tf_arena_free(tf_arena *a);
/* Zeroed, aligned to 16, alive as long as the arena.  NULL when memory has run out, and of no arena. */
void *tf_arena_alloc(tf_arena *a, size_t bytes);
/* n * size with the product checked. */
void *tf_arena_array(tf_arena *a, size_t n, size_t size);
char *tf_arena_strndup(tf_arena *a, const char *s, size_t n);
/* Whether anything asked of it could not be had.  True of NULL: of an arena that there was no memory for. */
bool tf_arena_failed(const tf_arena *a);
#define TF_NEW(a, T) ((T *)tf_arena_alloc((a), sizeof(T)))
#define TF_ARRAY(a, T, n) ((T *)tf_arena_array((a), (n), sizeof(T)))
#endif
