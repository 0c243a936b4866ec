#include "codegen/ir/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_box(int rank, const ir_held *a, const ir_held *b) {
  bool all = a->nonempty && b->nonempty;
  for (int r = 0; r < rank && all; r++)
    all = a->lo[r] == b->lo[r] && a->hi[r] == b->hi[r];
  return all;
}

/* The offset of an element in a half that holds the box; -1: it is not in it. */
static int64_t offset_in(const ir_buffer *b, const ir_held *h, const int64_t *at) {
  int64_t i = 0;
  for (int r = 0; r < b->rank; r++) {
    if (!h->nonempty || at[r] < h->lo[r] || at[r] >= h->hi[r]) return -1;
    i = i * b->extent[r] + at[r] - h->lo[r];
  }
  return i;
}

typedef struct {
  ir_source source;
  ir_count *count;
  bool ok;
} filling;

/* Fills `to` with the box: from `from` what that holds of it (`held`), the rest from the outer
 * memory. */
static void fill_box(const ir_buffer *b, const ir_held *box, double *to, const ir_held *held,
                     const double *from, filling *f) {
  int64_t at[16], i = 0, all = 1;
  for (int r = 0; r < b->rank; r++)
    f->ok &= box->hi[r] - box->lo[r] <= b->extent[r], all *= box->hi[r] - box->lo[r];
  for (i = 0; i < all && f->ok; i++) {
    int64_t left = i;
    for (int r = b->rank - 1; r >= 0; r--) {
      at[r] = box->lo[r] + left % (box->hi[r] - box->lo[r]);
      left /= box->hi[r] - box->lo[r];
    }
    int64_t there = offset_in(b, held, at);
    const double *v = there >= 0 ? &from[there] : f->source.element(f->source.ctx, at);
    if (!(f->ok = v != NULL)) return;
    to[offset_in(b, box, at)] = *v;
    if (!f->count) continue;
    f->count->copied += there < 0;
    f->count->moved += there >= 0;
  }
}

/* Makes the current half hold the box. */
static bool make_hold(const ir_buffer *b, ir_staged *s, double *data, const ir_held *now,
                      filling *f) {
  ir_held *held = &s->held[s->half];
  double *to = data + s->half * b->words,
         *old = malloc((size_t)(b->words ? b->words : 1) * sizeof *old);
  if (!old) return false;
  memcpy(old, to, (size_t)b->words * sizeof *old);
  for (int64_t i = 0; i < b->words; i++)
    to[i] = NAN;
  fill_box(b, now, to, held, old, f);
  *held = *now;
  free(old);
  return f->ok;
}

bool ir_stage(const ir_buffer *b, ir_staged *s, double *data, const ir_held *now,
              const ir_held *then, ir_source source, ir_count *count) {
  filling f = {source, count, true};
  if (!now->nonempty) { /* the tile does not touch the tensor */
    s->held[s->half].nonempty = s->ahead = false;
    return true;
  }
  if (s->ahead && same_box(b->rank, &s->held[1 - s->half], now)) s->half = 1 - s->half;
  s->ahead = false;
  if (!same_box(b->rank, &s->held[s->half], now) && !make_hold(b, s, data, now, &f)) return false;
  if (!then || !then->nonempty || same_box(b->rank, now, then)) return true;
  const int64_t other = 1 - s->half;
  int64_t before = count ? count->copied : 0;
  fill_box(b, then, data + other * b->words, now, data + s->half * b->words, &f);
  s->held[other] = *then;
  s->ahead = true;
  if (count) count->ahead += count->copied - before;
  return f.ok;
}
