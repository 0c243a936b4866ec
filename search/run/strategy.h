/* Strategies ask and are told; none sees the cost model.  One over shapes, one over the trip counts of
 * a shape; a row of the table names a pair. */
#ifndef SEARCH_RUN_STRATEGY_H
#define SEARCH_RUN_STRATEGY_H
#include "base/rng.h"
#include "search/space/shape.h"
#include "search/space/trips.h"

/* Costs below TF_COST_BAD are objectives of mappings that fit; others grow with what is lacking. */
#define TF_COST_BAD 1e60

/* Shapes.  Rows are asked for in batches: up to a batch of rows before the first is told. */
typedef struct {
  /* State in the arena; NULL if memory ran out. */
  void *(*make)(tf_arena *a, const tf_shapes *s, tf_rng rng);
  /* The next row of genes, and the shape whose best trip counts are a good start (0: none; what tell named so);
   * false: none is left. */
  bool (*ask)(void *state, uint8_t *genes, uint64_t *like);
  /* The best cost found for a row, which of its genes had a say, and its shape. */
  void (*tell)(void *state, const uint8_t *genes, const tf_reads *reads, uint64_t shape, double cost);
} tf_outer;

/* Trip counts: one evaluation is asked, then told. */
typedef struct {
  /* hint[i]: a promising choice for decision i, 0: none; n_evals: how often it will be asked. */
  void *(*make)(tf_arena *a, tf_trips *t, const int32_t *hint, int n_evals, tf_rng rng);
  /* Walks the decisions to the end, the choices left in t; false: nothing new is left. */
  bool (*ask)(void *state);
  void (*tell)(void *state, double cost);
} tf_inner;

typedef struct {
  const char *name, *about;
  const tf_outer *outer;
  const tf_inner *inner;
  int evals_per_shape; /* 0: until nothing is left */
} tf_strategy;

extern const tf_outer tf_outer_random, tf_outer_exhaustive, tf_outer_ga;
extern const tf_inner tf_inner_random, tf_inner_exhaustive, tf_inner_mcts;

/* The k-th strategy, NULL past the last; by name, NULL if there is none. */
const tf_strategy *tf_strategy_at(int k);
const tf_strategy *tf_strategy_named(const char *name);
#endif
