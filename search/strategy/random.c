/* Random search: every choice is uniform. */
#include "search/strategy/strategy.h"

typedef struct {
  tf_space *space;
  tf_rng rng;
} sampler;

static void *make(tf_arena *a, tf_space *s, const int32_t *hint, int n_asks, tf_rng rng) {
  (void)hint, (void)n_asks;
  sampler *l = TF_NEW(a, sampler);
  if (l) *l = (sampler){s, rng};
  return l;
}

static bool ask(void *state, uint64_t *parent_id) {
  sampler *l = state;
  *parent_id = 0;
  return tf_space_random(l->space, &l->rng);
}

static void tell(void *state, const tf_feedback *t) { (void)state, (void)t; }

const tf_strategy_ops tf_strategy_random = {make, ask, tell, .batches = true,
                                            .ignores_feedback = true};
