/* Tensors in one arena: none overlaps another that is alive beside it, and the arena is the largest
 * live set or little more.  Of small cases, against every order there is. */
#include "base/rng.h"
#include "net/net.h"
#include "tests/unit/check.h"

enum { MOST = 120 };

static void check_apart(const net_block *b, const int64_t *offset, int n, int64_t peak) {
  bool apart = true;
  int64_t end = 0;
  for (int i = 0; i < n; i++) {
    if (offset[i] + b[i].size > end) end = offset[i] + b[i].size;
    apart = apart && offset[i] >= 0;
    for (int k = 0; k < i; k++)
      if (b[i].from <= b[k].to && b[k].from <= b[i].to)
        apart = apart && (offset[i] + b[i].size <= offset[k] || offset[k] + b[k].size <= offset[i]);
  }
  CHECK(apart);
  CHECK_I64(peak, end);
}

/* The least peak there is: random blocks one above those beside it, in every order. */
static int64_t least_of_all(const net_block *b, int n, int64_t *offset, unsigned put, int64_t peak,
                            int64_t best) {
  if (peak >= best) return best;
  if (put == (1u << n) - 1) return peak;
  for (int i = 0; i < n; i++) {
    if (put >> i & 1) continue;
    int64_t at = 0;
    for (int k = 0; k < n; k++)
      if ((put >> k & 1) && b[i].from <= b[k].to && b[k].from <= b[i].to &&
          offset[k] + b[k].size > at)
        at = offset[k] + b[k].size;
    offset[i] = at;
    best = least_of_all(b, n, offset, put | 1u << i, at + b[i].size > peak ? at + b[i].size : peak,
                        best);
  }
  return best;
}

/* As networks have them: most live for a step or two, some for long. */
static void draw(tf_rng *rng, net_block *b, int n, int steps) {
  for (int i = 0; i < n; i++) {
    const int from = (int)tf_rng_below(rng, (unsigned)steps);
    const int life = 1 + (int)tf_rng_below(rng, tf_rng_below(rng, 4) ? 3 : (unsigned)steps);
    b[i] = (net_block){64 * (1 + (int64_t)tf_rng_below(rng, tf_rng_below(rng, 2) ? 8 : 200)), from,
                       from + life};
  }
}

/* What a recurrent network passes on: four gates' sums, and from each pair of these a state, which
 * the step before still holds.  Nothing fits into the largest live set, for each state would have
 * to lie in one of three places, and at an end of the row the next one has none: no arena is within
 * a tenth of it. */
static void recurrent(void) {
  enum { STEPS = 9, GATES = 4 * 1024, STATE = 1024 };
  net_block b[STEPS];
  for (int i = 0; i < STEPS; i++)
    b[i] = (net_block){i % 2 ? STATE : GATES, i, i + 2};
  int64_t offset[STEPS], own[STEPS], peak = 0;
  tf_arena *a = tf_arena_new();
  CHECK(net_place(a, b, STEPS, offset, &peak));
  check_apart(b, offset, STEPS, peak);
  CHECK_I64(net_most_alive(b, STEPS), 2 * GATES + STATE);
  CHECK_I64(least_of_all(b, STEPS, own, 0, 0, INT64_MAX), 2 * GATES + 2 * STATE);
  CHECK_I64(peak, 2 * GATES + 2 * STATE);
  tf_arena_free(a);
}

int main(void) {
  static net_block b[MOST];
  static int64_t offset[MOST];
  recurrent();
  tf_rng rng = tf_rng_new(4, 9);
  double worst = 1, worst_small = 1;
  int equal = 0, cases = 0;
  for (int k = 0; k < 230; k++) {
    const bool small = k < 200;
    const int n = small ? 1 + (int)tf_rng_below(&rng, 7) : 10 + (int)tf_rng_below(&rng, MOST - 10);
    draw(&rng, b, n, small ? 6 : n / 2 + 2);
    tf_arena *a = tf_arena_new();
    int64_t peak = 0, own[8];
    CHECK(net_place(a, b, n, offset, &peak));
    check_apart(b, offset, n, peak);
    const int64_t least = net_most_alive(b, n),
                  best = small ? least_of_all(b, n, own, 0, 0, INT64_MAX) : least;
    CHECK(peak >= least && best >= least);
    if (small) CHECK_I64(peak, best);
    CHECK((double)peak <= 1.1 * (double)least || peak == best);
    worst = fmax(worst, (double)peak / (double)least);
    if (small) worst_small = fmax(worst_small, (double)best / (double)least);
    equal += peak == least;
    cases++;
    tf_arena_free(a);
  }
  printf(
      "# %d of %d at the largest live set; at worst %.3f of it (the best there is: up to %.3f)\n",
      equal, cases, worst, worst_small);
  return check_report();
}
