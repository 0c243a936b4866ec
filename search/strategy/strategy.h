/* Strategies ask and are told; they know a space (search/common/space.h) and costs, and nothing of what either means.
 */
#ifndef SEARCH_STRATEGY_STRATEGY_H
#define SEARCH_STRATEGY_STRATEGY_H
#include "base/arena.h"
#include "search/common/space.h"

/* Costs below TF_COST_BAD are objectives of candidates that fit; others grow with what is lacking. */
#define TF_COST_BAD 1e60

/* What came of a candidate. */
typedef struct {
  const int32_t *row;    /* [n] as it was asked for */
  const uint32_t *order; /* [n] which decisions had a say, see tf_space_kind; NULL: all, in turn */
  uint64_t name;         /* of the candidate; 0: none */
  double cost;           /* the best found */
} tf_told;

/* A way to walk a space. */
typedef struct {
  /* State in the arena; NULL if memory ran out.  hint: a promising row with wishes, NULL: none; n_asks: how often it
   * will be asked, 0: not known. */
  void *(*make)(tf_arena *a, tf_space *s, const int32_t *hint, int n_asks, tf_rng rng);
  /* Takes the decisions to the end: the next candidate stands in chosen[].  like: what tell named a candidate whose
   * best is a good start for this one; 0: none.  False: nothing new is left. */
  bool (*ask)(void *state, uint64_t *like);
  void (*tell)(void *state, const tf_told *t);
  bool batches; /* may be asked again before it is told */
  bool deaf;    /* what it is told changes nothing: costs need not be known while it is asked */
} tf_way;

extern const tf_way tf_way_random, tf_way_exhaustive, tf_way_ga, tf_way_mcts;

/* Asks, finds the cost, tells, as long as more(ctx of the space) says so.  True: nothing is left to ask for. */
bool tf_explore(const tf_way *way, void *state, tf_space *s, bool (*more)(void *ctx));

/* A row of the table: one way over shapes, in batches, and one over the trip counts of a shape. */
typedef struct {
  const char *name, *about;
  const tf_way *outer, *inner;
  int evals_per_shape; /* 0: until nothing is left */
} tf_strategy;

/* The k-th strategy, NULL past the last; by name, NULL if there is none. */
const tf_strategy *tf_strategy_at(int k);
const tf_strategy *tf_strategy_named(const char *name);
#endif
