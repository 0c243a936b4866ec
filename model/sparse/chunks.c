#include "model/sparse/chunks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/input/dims.h"

static double words_in(const tf_tensor *t, const tf_chunks *b) {
  double n = 1;
  for (int r = 0; r < t->rank; r++)
    n *= (double)b->len[r];
  return n;
}

static double none_of(tf_odds_kind kind, double share, double all, double count) {
  const tf_odds o = tf_odds_of(kind, share, all);
  return tf_odds_none(&o, count);
}

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b, b = rest;
  }
  return a;
}

/* The probability that `len` elements from `at` on along a rank with n of every m are zero. */
static double none_along(const tf_density *d, int64_t at, int64_t len) {
  double p = 1;
  for (int64_t end = at + len; at < end && p > 0;) {
    const int64_t next = at - at % d->m + d->m, to = next < end ? next : end;
    p *= none_of(TF_ODDS_DRAWN, d->share, (double)d->m, (double)(to - at));
    at = to;
  }
  return p;
}

/* n of every m: rows of the box are in groups of their own.  Where boxes begin within groups
 * repeats after so many. */
static double some_structured(const tf_tensor *t, const tf_chunks *b) {
  const tf_density *d = &t->density;
  const int64_t len = b->len[d->rank], all = t->extent[d->rank] / len,
                period = d->m / common_divisor(d->m, len), n = all < period ? all : period;
  const double rows = words_in(t, b) / (double)len;
  double none = 0;
  for (int64_t i = 0; i < n; i++)
    none += pow(none_along(d, i * len, len), rows) / (double)n;
  return 1 - none;
}

/* Of the boxes along a rank, in how many blocks of a side each lies: `few`, or one more. */
typedef struct {
  double few, more; /* more: the share with one more */
} spread;

static spread blocks_along(int64_t extent, int64_t len, int64_t side) {
  const int64_t all = extent / len, few = (len - 1) / side + 1,
                period = side / common_divisor(side, len), n = all < period ? all : period;
  int64_t more = 0;
  for (int64_t i = 0; i < n; i++)
    more += (i * len + len - 1) / side - i * len / side + 1 > few;
  return (spread){(double)few, (double)more / (double)n};
}

static double some_blocks(const tf_tensor *t, const tf_chunks *b) {
  const tf_density *d = &t->density;
  spread along[16];
  double per = 1, none = 0;
  int uneven[16], n = 0;
  for (int r = 0; r < t->rank; r++) {
    along[r] = blocks_along(t->extent[r], b->len[r], d->tile[r]);
    if (along[r].more > 0) uneven[n++] = r;
    per *= (double)d->tile[r];
  }
  const double all = (double)tf_tensor_words(t) / per;
  for (uint32_t way = 0; way < 1u << n; way++) {
    double blocks = 1, share = 1;
    for (int r = 0; r < t->rank; r++)
      blocks *= along[r].few;
    for (int i = 0; i < n; i++) {
      const spread *s = &along[uneven[i]];
      share *= way >> i & 1 ? s->more : 1 - s->more;
      if (way >> i & 1) blocks *= (s->few + 1) / s->few;
    }
    if (share > 0) none += share * none_of(TF_ODDS_DRAWN, d->share, all, round(blocks));
  }
  return 1 - none;
}

/* The number of the box, among those beside each other, that element e is in. */
static int64_t box_of(const tf_tensor *t, const tf_chunks *b, int64_t e) {
  int64_t at = 0, n = 1;
  for (int r = t->rank - 1; r >= 0; r--) {
    at += e % t->extent[r] / b->len[r] * n;
    n *= t->extent[r] / b->len[r];
    e /= t->extent[r];
  }
  return at;
}

/* Counts the boxes with an element that is listed; -1: there is no memory. */
static double count_known(const tf_tensor *t, const tf_chunks *b) {
  const int64_t row = t->rank ? t->extent[t->rank - 1] : 1,
                along = t->rank ? b->len[t->rank - 1] : 1,
                all = tf_tensor_words(t) / (int64_t)words_in(t, b);
  unsigned char *has = calloc((size_t)all, 1);
  double n = 0;
  if (!has) return -1;
  for (int i = 0; i < t->density.n_runs; i++)
    for (int64_t e = t->density.runs[i].from, to = t->density.runs[i].to; e < to;) {
      const int64_t at = box_of(t, b, e),
                    left = along - e % row % along; /* up to the box's end along the last rank */
      n += !has[at];
      has[at] = 1;
      e += left;
    }
  free(has);
  return n / (double)all;
}

static double some_known(const tf_tensor *t, const tf_chunks *b) {
  const double some = count_known(t, b);
  return some < 0 ? 1 : some;
}

static double find_some(const tf_sparse *s, int z, const tf_chunks *b, bool *exact) {
  const tf_tensor *t = &s->tensors[z];
  const double share = s->share[z], words = words_in(t, b), all = (double)tf_tensor_words(t);
  const tf_fall fall = t->density.fall;
  if (fall == TF_FALL_GUESSED) {
    *exact = false;
    return 1 - none_of(TF_ODDS_EACH, share, 0, words);
  }
  if (fall == TF_FALL_UNIFORM) return 1 - none_of(TF_ODDS_DRAWN, share, all, words);
  if (!b->grid) {
    *exact = false;
    return fmin(1, share * words);
  }
  if (fall == TF_FALL_BLOCKS) return some_structured(t, b);
  return fall == TF_FALL_TILES ? some_blocks(t, b) : some_known(t, b);
}

static bool is_kept(const tf_chunks_memo *memo, int at, int z, const tf_chunks *b, int rank) {
  return memo->kept[at].tensor == z + 1 && memo->kept[at].of.grid == b->grid &&
         !memcmp(memo->kept[at].of.len, b->len, (size_t)rank * sizeof *b->len);
}

double tf_sparse_some(const tf_sparse *s, int z, const tf_chunks *b, tf_chunks_memo *memo,
                      bool *exact) {
  const int rank = s->wl->tensors[z].rank;
  uint64_t hash = (uint64_t)z * 2 + b->grid;
  if (s->share[z] >= 1) return 1;
  for (int r = 0; r < rank; r++)
    hash = (hash ^ (uint64_t)b->len[r]) * UINT64_C(0x9e3779b97f4a7c15), hash ^= hash >> 32;
  int at = (int)(hash % (TF_CHUNKS_KEPT / 2)) * 2;
  bool known = is_kept(memo, at, z, b, rank);
  if (!known && is_kept(memo, at + 1, z, b, rank)) at++, known = true;
  if (!known && memo->kept[at].tensor)
    at++; /* the second place is for those that come after the first */
  if (!known) {
    memo->kept[at].exact = true;
    memo->kept[at].some = find_some(s, z, b, &memo->kept[at].exact);
    memo->kept[at].tensor = z + 1;
    memo->kept[at].of = *b;
  }
  *exact &= memo->kept[at].exact;
  return memo->kept[at].some;
}
