/* Places blocks with live ranges in one arena. Blocks are placed one after the other, each as low
 * as the live ones placed before allow, so that the order decides. Several orders are tried, and
 * the best one is improved by local search: a block at the peak is placed earlier, or two are
 * swapped. It ends when the peak equals the largest live set, which is a lower bound, or at the
 * work limit. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/rng.h"
#include "net/net.h"

enum { ORDERS = 4, WORK = 16000000, MOST_TRIES = 20000 };

typedef struct {
  const net_block *b;
  int n;
  int *order, *low; /* the current order; placed blocks, lowest first */
  int64_t *offset;
} placing;

/* ---- one order ------------------------------------------------------------------------------ */
static bool overlap(const net_block *a, const net_block *b) {
  return a->from <= b->to && b->from <= a->to;
}

/* Places block i below, between or above the `put` ones placed before. */
static void put_block(placing *p, int i, int put) {
  int64_t at = 0;
  for (int k = 0; k < put; k++) {
    const net_block *x = &p->b[p->low[k]];
    if (!overlap(x, &p->b[i])) continue;
    if (p->offset[p->low[k]] >= at + p->b[i].size) break;
    const int64_t end = p->offset[p->low[k]] + x->size;
    if (end > at) at = end;
  }
  p->offset[i] = at;
  int k = put;
  for (; k > 0 && p->offset[p->low[k - 1]] > at; k--)
    p->low[k] = p->low[k - 1];
  p->low[k] = i;
}

static int64_t put_all(placing *p) {
  int64_t peak = 0;
  for (int k = 0; k < p->n; k++) {
    const int i = p->order[k];
    put_block(p, i, k);
    if (p->offset[i] + p->b[i].size > peak) peak = p->offset[i] + p->b[i].size;
  }
  return peak;
}

/* ---- orders --------------------------------------------------------------------------------- */
typedef struct {
  double key;
  int i;
} ranked;

static int by_key(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? 1 : -1;
  return (x->i > y->i) - (x->i < y->i);
}

static double key_of(const net_block *b, int how) {
  const double size = (double)b->size, life = b->to - b->from + 1;
  const double keys[ORDERS] = {size, size * life, life, -(double)b->from};
  return keys[how];
}

static void sort_by(const placing *p, int how, ranked *r, int *order) {
  for (int i = 0; i < p->n; i++)
    r[i] = (ranked){key_of(&p->b[i], how), i};
  qsort(r, (size_t)p->n, sizeof *r, by_key);
  for (int i = 0; i < p->n; i++)
    order[i] = r[i].i;
}

/* Moves a block that ends at the peak to an earlier position. */
static void move_earlier(placing *p, int64_t peak, tf_rng *rng) {
  int tops = 0, at = 0;
  for (int k = 0; k < p->n; k++) {
    const int i = p->order[k];
    if (p->offset[i] + p->b[i].size == peak && tf_rng_below(rng, (unsigned)++tops) == 0) at = k;
  }
  const int to = at ? (int)tf_rng_below(rng, (unsigned)at) : 0, i = p->order[at];
  memmove(p->order + to + 1, p->order + to, (size_t)(at - to) * sizeof *p->order);
  p->order[to] = i;
}

/* Swaps two blocks. */
static void swap(placing *p, tf_rng *rng) {
  int *x = &p->order[tf_rng_below(rng, (unsigned)p->n)],
      *y = &p->order[tf_rng_below(rng, (unsigned)p->n)];
  const int i = *x;
  *x = *y;
  *y = i;
}

int64_t net_most_alive(const net_block *b, int n) {
  int64_t most = 0;
  for (int i = 0; i < n; i++) { /* the live set is largest at the start of some block */
    int64_t alive = 0;
    for (int k = 0; k < n; k++)
      if (b[k].from <= b[i].from && b[i].from <= b[k].to) alive += b[k].size;
    if (alive > most) most = alive;
  }
  return most;
}

typedef struct {
  int64_t peak;
  int *order;
  int64_t *offset;
} placed;

static void keep_order(const placing *p, int64_t peak, placed *best) {
  if (peak > best->peak) return;
  best->peak = peak;
  memcpy(best->order, p->order, (size_t)p->n * sizeof *p->order);
  memcpy(best->offset, p->offset, (size_t)p->n * sizeof *p->offset);
}

bool net_place(tf_arena *a, const net_block *b, int n, int64_t *offset, int64_t *peak) {
  placing p = {
      .b = b, .n = n, .order = TF_ARRAY(a, int, (size_t)n), .low = TF_ARRAY(a, int, (size_t)n)};
  placed best = {.peak = INT64_MAX, .order = TF_ARRAY(a, int, (size_t)n), .offset = offset};
  ranked *r = TF_ARRAY(a, ranked, (size_t)n);
  p.offset = TF_ARRAY(a, int64_t, (size_t)n);
  if (!p.order || !p.low || !best.order || !r || !p.offset) return false;
  const int64_t least = net_most_alive(b, n);
  for (int how = 0; how < ORDERS && best.peak > least; how++) {
    sort_by(&p, how, r, p.order);
    keep_order(&p, put_all(&p), &best);
  }
  tf_rng rng = tf_rng_new(1, 17);
  const int64_t tries = WORK / ((int64_t)n * n + 1);
  for (int64_t k = 0; k < tries && k < MOST_TRIES && best.peak > least; k++) {
    memcpy(p.order, best.order, (size_t)n * sizeof *p.order);
    put_all(&p);
    for (unsigned moves = 1 + tf_rng_below(&rng, 3); moves > 0; moves--) {
      if (k % 2)
        swap(&p, &rng);
      else
        move_earlier(&p, best.peak, &rng);
    }
    keep_order(&p, put_all(&p), &best);
  }
  *peak = n ? best.peak : 0;
  assert(*peak >= least);
  return true;
}
