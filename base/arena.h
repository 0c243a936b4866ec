/* Arena: memory for one phase, given back all at once. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H
#include <stddef.h>

typedef struct tf_arena tf_arena;

/* NULL only when memory runs out; tf_arena_free(NULL) is fine. */
tf_arena *tf_arena_new(void);
void tf_arena_free(tf_arena *a);
/* Zeroed, aligned to 16, alive as long as the arena.  NULL when memory runs out. */
void *tf_arena_alloc(tf_arena *a, size_t bytes);
/* n * size with the product checked. */
void *tf_arena_array(tf_arena *a, size_t n, size_t size);
char *tf_arena_strndup(tf_arena *a, const char *s, size_t n);
#define TF_NEW(a, T) ((T *)tf_arena_alloc((a), sizeof(T)))
#define TF_ARRAY(a, T, n) ((T *)tf_arena_array((a), (n), sizeof(T)))
#endif
