/* Every choice by lot. */
#include "search/run/strategy.h"

typedef struct {
  const tf_shapes *shapes;
  tf_rng rng;
} outer;

static void *make_outer(tf_arena *a, const tf_shapes *s, tf_rng rng) {
  outer *o = TF_NEW(a, outer);
  if (o) *o = (outer){s, rng};
  return o;
}

static bool ask_outer(void *state, uint8_t *genes, uint64_t *like) {
  *like = 0;
  outer *o = state;
  tf_shapes_random(o->shapes, &o->rng, genes);
  return true;
}

static void tell_outer(void *state, const uint8_t *genes, const tf_reads *reads, uint64_t shape, double cost) {
  (void)state, (void)genes, (void)reads, (void)shape, (void)cost;
}

const tf_outer tf_outer_random = {make_outer, ask_outer, tell_outer};

typedef struct {
  tf_trips *t;
  tf_rng rng;
} inner;

static void *make_inner(tf_arena *a, tf_trips *t, const int32_t *hint, int n_evals, tf_rng rng) {
  (void)hint, (void)n_evals;
  inner *s = TF_NEW(a, inner);
  if (s) *s = (inner){t, rng};
  return s;
}

/* A dead end starts anew; a space in which that happens again and again has nothing to offer. */
static bool ask_inner(void *state) {
  enum { TRIES = 200 };
  inner *s = state;
  int32_t domain[TF_DOMAIN_MAX];
  for (int k = 0; k < TRIES; k++) {
    int i = 0, n = 1;
    tf_trips_begin(s->t);
    for (; i < s->t->n && (n = tf_trips_domain(s->t, i, domain)) > 0; i++)
      tf_trips_take(s->t, i, domain[n == 1 ? 0 : (int)tf_rng_below(&s->rng, (uint32_t)n)]);
    if (n > 0) return true;
  }
  return false;
}

static void tell_inner(void *state, double cost) { (void)state, (void)cost; }

const tf_inner tf_inner_random = {make_inner, ask_inner, tell_inner};
