/* Solvers: mappings with a proof of how good they are (docs/HOWTO-solve.md).  The exact one finds the best of a
 * stated space by enumeration with bounds. */
#ifndef TILEFLOW_SOLVE_H
#define TILEFLOW_SOLVE_H
#include "tileflow/search.h"

typedef struct {
  int64_t evals;
  double seconds, best, bound; /* best: INFINITY while nothing fits */
} tf_solve_progress;

typedef struct {
  tf_objective objective;
  int threads;       /* 0: one for each processor */
  double time_limit; /* seconds; 0: none */
  int64_t max_evals; /* 0: none */
  bool alone;        /* begin with nothing, not with what a short search finds */
  bool (*stop)(void *ctx);                                 /* may be NULL */
  void (*progress)(void *ctx, const tf_solve_progress *p); /* may be NULL */
  void *ctx;
} tf_solve_opts;

/* What a memory's capacity kept out of the space. */
typedef struct {
  int64_t pruned; /* mappings, or heads of mappings with all that begin so, that need more than it holds */
  int64_t least;  /* the least that any of these needs, in words; INT64_MAX: none were pruned */
} tf_solve_level;

typedef struct {
  char *text;          /* the mapping, as tf_tree_parse reads it; NULL: none that fits was found */
  double value, bound; /* of the objective; bound: no mapping of the space has less; INFINITY if it has none */
  bool proved;         /* no mapping of the space is better than this one, or, without text, none fits */
  tf_figures figures;
  int64_t evals;       /* of mappings and of heads of mappings */
  int64_t by_bound, by_mesh, by_rules; /* pruned: no better than the best; too many instances; no legal tree */
  int n_levels;
  tf_solve_level *levels; /* [n_memories] */
  int templates;       /* shapes of trees, loop orders apart */
  double seconds;
  tf_stop stopped_by;  /* where it is not proved */
  int threads;
} tf_solve_result;

/* The best mapping of the exact space.  The same result with any number of threads, unless time ran out.
 * NULL with errors in d. */
tf_solve_result *tf_solve_exact(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o,
                                tf_diags *d);
void tf_solve_free(tf_solve_result *r);
#endif
