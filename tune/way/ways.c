/* The table of strategies. */
#include <string.h>

#include "tune/way/way.h"

static const tune_strategy *const ways[] = {&tune_way_q,     &tune_way_anneal, &tune_way_every,
                                            &tune_way_cga,   &tune_way_taught, &tune_way_model,
                                            &tune_way_random};

const tune_strategy *tune_way_at(int k) {
  return k >= 0 && k < (int)(sizeof ways / sizeof *ways) ? ways[k] : NULL;
}

const tune_strategy *tune_strategy_named(const char *name) {
  for (int k = 0; tune_way_at(k); k++)
    if (!strcmp(tune_way_at(k)->name, name)) return tune_way_at(k);
  return NULL;
}
