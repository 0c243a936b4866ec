/* Prime factors allotted by GLPK, against all the ways to allot divisors. */
#include "base/rng.h"
#include "search/exact/ilp.h"
#include "tests/unit/check.h"

/* The largest product where length i .. may still be put into the slots. */
static int64_t best_of(const int64_t *len, int n, const int64_t *room, int n_slots, int i, int s,
                       int64_t left) {
  int64_t best = 1;
  if (i == n) return 1;
  if (s == n_slots) return best_of(len, n, room, n_slots, i + 1, 0, i + 1 < n ? len[i + 1] : 1);
  for (int64_t d = 1; d <= left && d <= room[s]; d++) {
    int64_t less[8], b;
    if (left % d) continue;
    for (int k = 0; k < n_slots; k++)
      less[k] = k == s ? room[k] / d : room[k];
    b = d * best_of(len, n, less, n_slots, i, s + 1, left / d);
    best = b > best ? b : best;
  }
  return best;
}

/* Ended after a few nodes, by their number or by whoever asks: what is left is an upper bound. */
static bool at_once(void *ctx) {
  int *asked = ctx;
  return ++*asked > 2;
}

/* Many lengths with several different factors: the program that takes long (shared/review, rely 2).
 */
static void check_ended(void) {
  static const int64_t len[] = {16, 64, 3, 112, 112, 7, 7}, room[] = {2, 4, 256, 2, 4, 256};
  double most, relaxed, fewer;
  int asked = 0;
  tf_ilp_limit few = {.nodes = 50}, told = {.nodes = INT64_MAX, .over = at_once, .ctx = &asked};
  CHECK(tf_ilp_most_spread(len, 7, room, 6, &few, &most, &relaxed));
  CHECK(few.spent <= 51 && most >= 2 * 4 * 256 && most <= relaxed * (1 + 1e-6));
  CHECK(tf_ilp_most_spread(len, 7, room, 6, &told, &fewer, &relaxed));
  CHECK(asked == 3 && fewer >= most);
}

int main(void) {
  static const int64_t rooms[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32};
  tf_rng rng = tf_rng_new(5, 1);
  if (!tf_ilp_there()) {
    printf("SKIP: built without GLPK\n");
    return 0;
  }
  for (int i = 0; i < 300; i++) {
    int64_t len[3], room[4];
    double most, relaxed;
    int n = 1 + (int)tf_rng_below(&rng, 3), n_slots = 1 + (int)tf_rng_below(&rng, 3);
    for (int k = 0; k < n; k++)
      len[k] = 1 + tf_rng_below(&rng, 60);
    for (int k = 0; k < n_slots; k++)
      room[k] = rooms[tf_rng_below(&rng, 11)];
    tf_ilp_limit all = {.nodes = INT64_MAX}, few = {.nodes = tf_rng_below(&rng, 4)};
    CHECK(tf_ilp_most_spread(len, n, room, n_slots, &all, &most, &relaxed));
    const double best = (double)best_of(len, n, room, n_slots, 0, 0, len[0]);
    CHECK(most == (double)best_of(len, n, room, n_slots, 0, 0, len[0]));
    CHECK(relaxed >= most * (1 - 1e-6));
    CHECK(tf_ilp_most_spread(len, n, room, n_slots, &few, &most, &relaxed));
    CHECK(most >= best && most <= relaxed * (1 + 1e-6) && few.spent <= few.nodes + 1);
  }
  check_ended();
  double most, relaxed;
  const int64_t bad = 0, one = 1;
  tf_ilp_limit all = {.nodes = INT64_MAX};
  CHECK(!tf_ilp_most_spread(&bad, 1, &one, 1, &all, &most, &relaxed));
  CHECK(!tf_ilp_most_spread(&one, 1, &bad, 1, &all, &most, &relaxed));
  CHECK(tf_ilp_most_spread(&one, 0, &one, 0, &all, &most, &relaxed) && most == 1);
  return check_report();
}
