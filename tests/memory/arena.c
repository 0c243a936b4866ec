/* base/arena.h once more, with a block for each piece: so that each may be the one for which there
 * is no memory. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct piece {
  struct piece *prev;
  _Alignas(16) unsigned char data[];
} piece;

struct tf_arena {
  piece *last;
  bool failed;
};

tf_arena *tf_arena_new(void) { return calloc(1, sizeof(tf_arena)); }

void tf_arena_free(tf_arena *a) {
  for (piece *p = a ? a->last : NULL, *prev; p; p = prev) {
    prev = p->prev;
    free(p);
  }
  free(a);
}

bool tf_arena_failed(const tf_arena *a) { return !a || a->failed; }

void *tf_arena_alloc(tf_arena *a, size_t bytes) {
  piece *p = !tf_arena_failed(a) && bytes < SIZE_MAX / 2 ? calloc(1, sizeof *p + bytes) : NULL;
  if (a) a->failed |= !p;
  if (!p) return NULL;
  p->prev = a->last;
  a->last = p;
  return p->data;
}

void *tf_arena_array(tf_arena *a, size_t n, size_t size) {
  return tf_arena_alloc(a, size && n > SIZE_MAX / size ? SIZE_MAX : n * size);
}

char *tf_arena_strndup(tf_arena *a, const char *s, size_t n) {
  char *copy = n == SIZE_MAX ? NULL : tf_arena_alloc(a, n + 1);
  if (copy && n) memcpy(copy, s, n);
  return copy;
}
