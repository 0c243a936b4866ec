/* The table of strategies, and the loop in which they run. */
#include <string.h>

#include "search/strategy/strategy.h"
#include "tileflow/search.h"

enum { PER_SHAPE = 10 };

static const tf_strategy rows[] = {
    {"ga-mcts", "genes by a genetic algorithm, trip counts by Monte Carlo tree search",
     &tf_strategy_ga, &tf_strategy_mcts, PER_SHAPE},
    {"mcts", "random genes, trip counts by Monte Carlo tree search", &tf_strategy_random,
     &tf_strategy_mcts, PER_SHAPE},
    {"ga", "genes by a genetic algorithm, random trip counts", &tf_strategy_ga, &tf_strategy_random,
     PER_SHAPE},
    {"random", "random genes, random trip counts", &tf_strategy_random, &tf_strategy_random,
     PER_SHAPE},
    {"exhaustive", "every shape in turn, every trip count of the space", &tf_strategy_exhaustive,
     &tf_strategy_exhaustive, 0},
};

bool tf_explore(const tf_strategy_ops *ops, void *state, tf_space *s, bool (*more)(void *ctx)) {
  uint64_t like;
  while (more(s->ctx)) {
    if (!ops->ask(state, &like)) return true;
    ops->tell(state, &(tf_feedback){.row = s->chosen, .cost = s->cost(s->ctx)});
  }
  return false;
}

const tf_strategy *tf_strategy_at(int k) {
  return k >= 0 && k < (int)(sizeof rows / sizeof rows[0]) ? &rows[k] : NULL;
}

const tf_strategy *tf_strategy_named(const char *name) {
  for (int k = 0; tf_strategy_at(k); k++)
    if (!strcmp(tf_strategy_at(k)->name, name)) return tf_strategy_at(k);
  return NULL;
}

const char *tf_search_strategy(int k, const char **about) {
  const tf_strategy *s = tf_strategy_at(k);
  if (s && about) *about = s->about;
  return s ? s->name : NULL;
}
