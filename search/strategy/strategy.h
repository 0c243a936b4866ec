/* Strategies have the ask-and-tell interface.  They see a space (search/common/space.h) and costs,
 * and do not know what either stands for. */
#ifndef SEARCH_STRATEGY_STRATEGY_H
#define SEARCH_STRATEGY_STRATEGY_H
#include "base/arena.h"
#include "search/common/space.h"

/* Costs below TF_COST_BAD are objective values of candidates that fit; higher costs grow with how
 * far a candidate is from fitting. */
#define TF_COST_BAD 1e60

/* The outcome of a candidate, as told to a strategy. */
typedef struct {
  const int32_t *row;    /* [n] as it was asked for */
  const uint32_t *order; /* [n] which decisions were read, see tf_space_kind; NULL: all, in order */
  uint64_t id;           /* identifies the candidate; 0: none */
  double cost;           /* best cost found for it */
} tf_feedback;

enum { TF_ASKS_MOST = 32 };

/* A strategy over a space. */
typedef struct {
  /* Its state in the arena; NULL if memory ran out.  hint: a promising row of targets, NULL: none;
   * n_asks: how often it will be asked, 0: not known. */
  void *(*make)(tf_arena *a, tf_space *s, const int32_t *hint, int n_asks, tf_rng rng);
  /* Takes all decisions: the next candidate is in chosen[].  parent_id: of an earlier candidate
   * whose best trip counts are a good start for this one; 0: none.  False: the space is
   * exhausted. */
  bool (*ask)(void *state, uint64_t *parent_id);
  void (*tell)(void *state, const tf_feedback *t);
  bool batches;          /* may be asked TF_ASKS_MOST times before it is told, in the same order */
  bool ignores_feedback; /* ignores what it is told: costs need not be known before the next ask */
} tf_strategy_ops;

extern const tf_strategy_ops tf_strategy_random, tf_strategy_exhaustive, tf_strategy_ga,
    tf_strategy_mcts;

/* Asks, evaluates and tells, while more(ctx of the space) is true.  True: the space is
 * exhausted. */
bool tf_explore(const tf_strategy_ops *ops, void *state, tf_space *s, bool (*more)(void *ctx));

/* A row of the table: a strategy over shapes that allows batches, and one over the trip counts of a
 * shape. */
typedef struct {
  const char *name, *about;
  const tf_strategy_ops *outer, *inner;
  int evals_per_shape; /* evaluations per visit of a shape; 0: until its space is exhausted */
} tf_strategy;

/* The k-th strategy, NULL past the last; or by name, NULL if there is none. */
const tf_strategy *tf_strategy_at(int k);
const tf_strategy *tf_strategy_named(const char *name);
#endif
