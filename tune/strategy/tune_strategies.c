/* The table of strategies. */
#include <string.h>

#include "tune/strategy/tune_strategy.h"

static const tune_strategy *const strategies[] = {
    &tune_strategy_q,      &tune_strategy_anneal, &tune_strategy_every, &tune_strategy_cga,
    &tune_strategy_taught, &tune_strategy_model,  &tune_strategy_random};

const tune_strategy *tune_strategy_at(int k) {
  return k >= 0 && k < (int)(sizeof strategies / sizeof *strategies) ? strategies[k] : NULL;
}

const tune_strategy *tune_strategy_named(const char *name) {
  for (int k = 0; tune_strategy_at(k); k++)
    if (!strcmp(tune_strategy_at(k)->name, name)) return tune_strategy_at(k);
  return NULL;
}
