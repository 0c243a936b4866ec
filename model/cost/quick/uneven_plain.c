/* Sums over chains of which each splits just what the one before leaves, so that tiles have nothing in common: the
 * settings of a chain whose digits are below the bound's (uneven_sum.c) all have a full tile, and one, whose digits are
 * the bound's, has what is left. */
#include "model/cost/quick/uneven_sum.h"

/* A chain's settings: so many with a full tile, and `ends` (0 or 1) with the last. */
typedef struct {
  int64_t below, ends, full, last;
} kinds;

/* The settings of a chain that splits a range of this length. */
static kinds kinds_of(const tf_plain_sum *x, const tf_path_chain *of, int64_t len) {
  const tf_turn *t = of->turn, *const end = t + of->n_turn;
  if (t == end) return (kinds){0, 1, len, len};
  const uint64_t carry = x->carry < 0 ? 0 : UINT64_C(1) << x->carry;
  const bool even = t->trip * t->step == len, longest = len == of->len;
  kinds k = {even, !even, len, 0};
  int64_t rest = len - 1;
  for (; t < end; t++) {
    const int64_t n = x->zero & t->bit ? 1 : t->trip, first = t->bit == carry;
    k.below *= n - first;
    k.full = t->step;
    if (!k.ends) continue;
    const int64_t bound = longest ? t->bound : rest / t->step, most = bound < n ? bound : n;
    if (most > first) k.below += most - first;
    k.ends = bound >= first && bound < n;
    rest -= bound * t->step;
  }
  k.last = rest + 1;
  return k;
}

/* The sum over chain i and those inside it, where what enters chain i is so long. */
static int64_t sum_from(const tf_plain_sum *x, int i, int64_t len) {
  if (i == x->g->n_plain) return x->g->n_rank ? len : 1;
  const kinds k = kinds_of(x, &x->n->chain[x->g->plain[i]], len);
  int64_t sum = k.below ? k.below * sum_from(x, i + 1, k.full) : 0;
  if (k.ends) sum += sum_from(x, i + 1, k.last);
  return sum;
}

/* Whether every chain divides what it splits. */
static bool divides(const tf_plain_sum *x, int64_t len) {
  for (int i = 0; i < x->g->n_plain; i++) {
    const tf_path_chain *of = &x->n->chain[x->g->plain[i]];
    if (!of->n_turn) continue;
    if (of->turn[0].trip * of->turn[0].step != len) return false;
    len = of->turn[of->n_turn - 1].step;
  }
  return true;
}

bool tf_uneven_plain(const tf_plain_sum *x, bool finds, int64_t *all, int64_t *kept) {
  const tf_path_chain *first = &x->n->chain[x->g->plain[0]];
  const int64_t len = first->len;
  if (!(x->g->positions & x->n->turning)) { /* one setting */
    *all = *kept = x->g->n_rank ? len : 1;
    return true;
  }
  const uint64_t on = x->carry < 0 ? 0 : x->g->positions & x->n->turning;
  const bool steps = x->carry >= 0 && on >> x->carry & 1; /* one of its loops carries: the tile is another */
  const bool back = on & x->path->temporal & ~UINT64_C(0) << (x->carry < 0 ? 0 : x->carry) << 1;
  if (finds && !steps && back && !divides(x, len)) return false; /* some were at the same tile before */
  *all = sum_from(x, 0, len);
  *kept = steps || back ? 0 : *all;
  return true;
}
