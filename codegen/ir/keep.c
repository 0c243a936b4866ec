#include "codegen/ir/keep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool may_be_left(const ir_range *made, int64_t n) {
  bool may = made->other == 0 || n == made->most || n == made->other;
  for (size_t i = 0; i < sizeof made->more / sizeof *made->more; i++)
    may |= n == made->more[i];
  return may;
}

/* The part of what is needed that is held, as lo .. hi; returns how many ranks reach beyond it (two
 * where nothing is held), the last of these in *open. */
static int compare(int rank, const ir_held *held, const ir_need *n, int64_t *lo, int64_t *hi,
                   int *open) {
  int beyond = held->nonempty ? 0 : 2;
  for (int r = 0; r < rank; r++) {
    lo[r] = n->lo[r] > held->lo[r] ? n->lo[r] : held->lo[r];
    hi[r] = n->hi[r] < held->hi[r] ? n->hi[r] : held->hi[r];
    if (lo[r] == n->lo[r] && hi[r] == n->hi[r]) continue;
    beyond += lo[r] < hi[r] ? 1 : 2;
    *open = r;
  }
  return beyond;
}

/* Sets what is left to compute; returns whether anything is kept. */
static bool leave(int rank, const ir_range *made, const ir_held *held, ir_need *n, int64_t *lo,
                  int64_t *hi) {
  int open = 0, beyond = compare(rank, held, n, lo, hi, &open);
  memcpy(n->new_lo, n->lo, sizeof n->lo);
  memcpy(n->new_hi, n->hi, sizeof n->hi);
  if (beyond == 0) memcpy(n->new_hi, n->lo, sizeof n->lo);
  if (beyond != 1) return beyond == 0;
  int64_t from = n->lo[open], to = n->hi[open];
  if (lo[open] == from)
    from = hi[open];
  else if (hi[open] == to)
    to = lo[open];
  if ((from == n->lo[open] && to == n->hi[open]) || !may_be_left(&made[open], to - from))
    return false;
  n->new_lo[open] = from;
  n->new_hi[open] = to;
  return true;
}

static int64_t offset(const ir_buffer *b, const int64_t *at, const int64_t *base) {
  int64_t i = 0;
  for (int r = 0; r < b->rank; r++)
    i = i * b->extent[r] + at[r] - base[r];
  return i;
}

static bool next(int rank, int64_t *at, const int64_t *lo, const int64_t *hi) {
  for (int r = rank - 1; r >= 0; r--) {
    if (++at[r] < hi[r]) return true;
    at[r] = lo[r];
  }
  return false;
}

bool ir_keep(const ir_buffer *b, const ir_range *made, ir_held *held, double *data, ir_need *n,
             ir_count *count) {
  int64_t lo[16] = {0}, hi[16] = {0}, at[16];
  bool some = true;
  for (int r = 0; r < b->rank; r++)
    some &= n->lo[r] < n->hi[r];
  memcpy(n->new_lo, n->lo, sizeof n->lo);
  memcpy(n->new_hi, n->lo, sizeof n->lo);
  if (!some) return true;
  double *after = malloc((size_t)b->words * sizeof *after);
  if (!after) return false;
  for (int64_t i = 0; i < b->words; i++)
    after[i] = NAN;
  if (leave(b->rank, made, held, n, lo, hi)) {
    memcpy(at, lo, sizeof at);
    do {
      int64_t to = offset(b, at, n->lo), from = offset(b, at, held->lo);
      after[to] = data[from];
      if (count) count->kept++, count->moved += to != from;
    } while (next(b->rank, at, lo, hi));
  }
  memcpy(data, after, (size_t)b->words * sizeof *after);
  free(after);
  held->nonempty = true;
  memcpy(held->lo, n->lo, sizeof n->lo);
  memcpy(held->hi, n->hi, sizeof n->hi);
  return true;
}
