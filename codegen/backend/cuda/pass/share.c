/* Places a block's shared buffers: buffers that are live at different times, with a barrier
 * between, share memory. */
#include "codegen/backend/cuda/pass/pass.h"

enum { LINE = 128 }; /* alignment of buffers in bytes */

/* A buffer of a part, and its live range: the first and the last of the block's statements that
 * access it. */
typedef struct {
  int buffer, first, last;
  int64_t offset, bytes;
} life;

/* Whether all threads synchronise at the end of the statement. */
static bool ends_in_barrier(const ir_stmt *s) {
  if (s->kind == IR_WAIT || s->kind == IR_BARRIER) return true;
  if (s->kind != IR_FOR) return false;
  return s->loop.map == IR_WARP || (s->body.n && ends_in_barrier(s->body.s[s->body.n - 1]));
}

/* Whether they synchronise between the two statements, or right after the first; past the end the
 * search continues with the next block. */
static bool synchronises_between(const ir_body *b, int from, int to) {
  for (int i = from; i != to; i = (i + 1) % b->n)
    if (ends_in_barrier(b->s[i])) return true;
  return false;
}

static bool may_share(const ir_body *b, const life *x, const life *y) {
  if (x->last > y->last) return may_share(b, y, x);
  return x->last < y->first && synchronises_between(b, x->last, y->first) &&
         synchronises_between(b, y->last, x->first);
}

/* The lowest offset at which no buffer with an overlapping live range lies. */
static void place_lowest(const ir_body *b, life *all, int n) {
  life *const x = &all[n];
  x->offset = 0;
  for (int i = 0; i < n; i++)
    if (x->offset < all[i].offset + all[i].bytes && all[i].offset < x->offset + x->bytes &&
        !may_share(b, x, &all[i])) {
      x->offset = all[i].offset + all[i].bytes;
      i = -1; /* the buffers before it may lie there, too */
    }
}

static life life_of(const ir_program *p, const ir_stmt *part, int buffer) {
  const ir_body *b = &part->body;
  life x = {.buffer = buffer,
            .first = b->n,
            .bytes = (cu_bytes(&p->buffers[buffer]) + LINE - 1) / LINE * LINE};
  for (int i = 0; i < b->n; i++)
    if (cu_touches(p, &b->s[i], 1, buffer)) {
      x.first = i < x.first ? i : x.first;
      x.last = i;
    }
  return x;
}

int64_t cu_share(const ir_program *p, const ir_stmt *part, int64_t *offset) {
  enum { MOST = 64 };
  life all[MOST];
  int64_t bytes = 0;
  int n = 0;
  if (cu_is_groups(part)) return 0;
  for (int i = 0; i < p->n_buffers; i++) {
    if (p->buffers[i].space != CU_SHARED) continue;
    life x = life_of(p, part, i);
    if (x.first == part->body.n) continue;
    if (n < MOST) {
      all[n] = x;
      place_lowest(&part->body, all, n);
      x = all[n++];
    } else {
      x.offset = bytes; /* after all others */
    }
    if (offset) offset[i] = x.offset;
    if (x.offset + x.bytes > bytes) bytes = x.offset + x.bytes;
  }
  return bytes;
}
