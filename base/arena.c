/* Arena of linked blocks; a block that is too small is followed by one twice as large. */
#include "base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, FIRST_BLOCK = 4096, LARGEST_STEP = 1 << 20 };

typedef struct block {
  struct block *prev;
  size_t used, size; /* bytes of data */
  _Alignas(16) unsigned char data[];
} block;

struct tf_arena {
  block *last;
  bool failed;
};

tf_arena *tf_arena_new(void) { return calloc(1, sizeof(tf_arena)); }

void tf_arena_free(tf_arena *a) {
  if (!a) return;
  for (block *b = a->last; b;) {
    block *prev = b->prev;
    free(b);
    b = prev;
  }
  free(a);
}

/* A zeroed block with room for at least `bytes`, linked as the last; NULL without memory. */
static block *add_block(tf_arena *a, size_t bytes) {
  size_t size = a->last ? a->last->size * 2 : FIRST_BLOCK;
  if (size > LARGEST_STEP) size = LARGEST_STEP;
  if (size < bytes) size = bytes;
  if (size > SIZE_MAX - sizeof(block)) return NULL;
  block *b = calloc(1, sizeof(block) + size);
  if (!b) return NULL;
  b->prev = a->last;
  b->size = size;
  a->last = b;
  return b;
}

bool tf_arena_failed(const tf_arena *a) { return !a || a->failed; }

static void *fail(tf_arena *a) {
  if (a) a->failed = true;
  return NULL;
}

void *tf_arena_alloc(tf_arena *a, size_t bytes) {
  if (tf_arena_failed(a) || bytes > SIZE_MAX - ALIGN) return fail(a);
  size_t need = (bytes + ALIGN - 1) / ALIGN * ALIGN;
  if (need == 0) need = ALIGN;
  block *b = a->last;
  if (!b || b->size - b->used < need) b = add_block(a, need);
  if (!b) return fail(a);
  void *p = b->data + b->used;
  assert((uintptr_t)p % ALIGN == 0 && b->size - b->used >= need);
  b->used += need;
  return p;
}

void *tf_arena_array(tf_arena *a, size_t n, size_t size) {
  if (size != 0 && n > SIZE_MAX / size) return fail(a);
  return tf_arena_alloc(a, n * size);
}

char *tf_arena_strndup(tf_arena *a, const char *s, size_t n) {
  if (n == SIZE_MAX) return fail(a);
  char *copy = tf_arena_alloc(a, n + 1);
  if (copy && n) memcpy(copy, s, n);
  return copy;
}
