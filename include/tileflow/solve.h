/* Solvers: mappings with a proof of how good they are (docs/HOWTO-solve.md).  The exact one finds the best of a
 * stated space by enumeration with bounds. */
#ifndef TILEFLOW_SOLVE_H
#define TILEFLOW_SOLVE_H
#include "tileflow/search.h"

/* What the closed form says of the mapping it chose (thesis 3.4); orders 0: another method. */
typedef struct {
  int orders;           /* loop orders, scopes, spreads and homes for which tiles were solved */
  int fused;            /* memory that holds the intermediates; 0: each op alone */
  double formula_words; /* Algorithm 1's data volume into the first memory below the outermost, with the tiles chosen */
  double tree_words;    /* the same with partial tiles and the scope's kind as the tree has them */
  double model_words;   /* as the model counts it: words filled into that memory, and drained from it */
  double real_words;    /* the least in real numbers for that order, DV* of Eq. 3.18 */
  double rounding, limit; /* tree_words over real_words; what Eq. 3.19 allows for tiles rounded down */
  int64_t lanes[2];       /* intra-tile parameters: what the innermost mesh does at once (Eq. 3.7) */
} tf_closed_figures;

typedef struct {
  tf_objective objective;
  tf_budget budget; /* seed: of no matter */
  bool alone;       /* begin with nothing, not with what a short search finds */
} tf_solve_opts;

/* What a memory's capacity kept out of the space. */
typedef struct {
  int64_t pruned; /* mappings, or heads of mappings with all that begin so, that need more than it holds */
  int64_t least;  /* the least that any of these needs, in words; INT64_MAX: none were pruned */
} tf_solve_level;

typedef struct {
  tf_tree *tree; /* the mapping, of the architecture and workload given; NULL: none that fits was found */
  double value,
      bound; /* of the objective; bound: no mapping of the space has less, nor this one; INFINITY if it has none */
  bool everywhere; /* no mapping at all, of the space or not, is below bound */
  bool proved; /* no mapping of the space is better than this one, or, without tree, none fits; with `everywhere` none
                  at all */
  tf_figures figures;
  int64_t evals;                       /* of mappings and of heads of mappings */
  int64_t by_bound, by_mesh, by_rules; /* pruned: no better than the best; too many instances; no legal tree */
  int n_levels;
  tf_solve_level *levels; /* [n_memories] */
  int templates;          /* shapes of trees, loop orders apart */
  double seconds;
  tf_stop stopped_by; /* where it is not proved */
  int threads;
  tf_closed_figures closed; /* of tf_solve_closed */
} tf_solve_result;

/* The best mapping of the exact space.  The same result with any number of threads, unless time ran out.
 * NULL with errors in d. */
tf_solve_result *tf_solve_exact(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o, tf_diags *d);

/* The best mapping that formulas give: for each loop order the tiles of least data movement in real numbers, rounded
 * (thesis 3.4.1, 3.4.3); of these the best by the model.  bound: of every mapping (tf_bounds_of).  NULL with errors in
 * d. */
tf_solve_result *tf_solve_closed(const tf_arch *arch, const tf_workload *wl, const tf_solve_opts *o, tf_diags *d);
void tf_solve_free(tf_solve_result *r);
#endif
