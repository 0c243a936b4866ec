/* Solvers: mappings with a proof of how good they are (docs/HOWTO-solve.md).  The exact solver
 * finds the best mapping of a stated space by branch and bound. */
#ifndef TILEFLOW_SOLVE_H
#define TILEFLOW_SOLVE_H
#include "tileflow/search.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TF_CLOSED_OPS = 16
}; /* most ops that the closed form fuses; of more it gives the mapping that fuses nothing */

/* The closed form's figures of the mapping that it chose (thesis 3.4); orders 0: another method. */
typedef struct {
  int orders; /* loop orders, scopes, spatial loops and homes for which tiles were solved */
  int fused;  /* memory that holds the intermediates; 0: each op alone */
  double formula_words; /* Algorithm 1's data volume into the first memory below the outermost, with
                           the tiles chosen */
  double tree_words;    /* the same with partial tiles and the scope's kind as in the tree */
  double model_words;   /* by the model: words filled into that memory, and drained from it */
  double real_words;    /* the least for that order in real numbers, DV* of Eq. 3.18 */
  double rounding,
      limit;        /* tree_words / real_words; and what Eq. 3.19 allows for tiles rounded down */
  int64_t lanes[2]; /* intra-tile parameters: what the innermost mesh computes at once (Eq. 3.7) */
} tf_closed_figures;

typedef struct {
  tf_objective objective;
  tf_budget budget; /* the seed is not used */
  bool alone;       /* start without an incumbent from a short search */
  int64_t after; /* evaluations, of what the budget leaves, for a search of all mappings that begins
                    with the result where that is not near the bound; with a time limit, as many as
                    it allows.  Where the first mappings are not near it, half of the budget is left
                    for that.  0: none */
  const char *exportable; /* a name of tf_export_format: only mappings that tf_export_write takes;
                             NULL: any */
} tf_solve_opts;

/* What the capacities of a memory and of its parts excluded from the space. */
typedef struct {
  int64_t pruned; /* mappings, or heads of mappings with all their completions, that need more than
                     it holds */
  int64_t least;  /* the least that any of these needs, in words; INT64_MAX: none was excluded */
} tf_solve_level;

typedef struct {
  tf_tree *tree; /* the mapping, of the architecture and workload given; NULL: none that fits was
                    found */
  double value;  /* of the objective; INFINITY without tree */
  double bound;  /* lower bound of the objective for any mapping */
  bool proved;   /* no mapping at all is better than this one */
  /* The same within the solver's space (docs/HOWTO-solve.md).  space_bound: no mapping of the space
   * is below it; it is above value where the mapping lies outside of the space and is better than
   * all that lie inside; INFINITY: none of the space fits.  space_proved: the mapping lies in the
   * space, or is proved to be the best of all, and no mapping of the space is better; without tree,
   * none of the space fits. */
  double space_bound;
  bool space_proved;
  /* Whether what is said of that space holds with all trip counts; else with those that divide.
   * trips_bound: no mapping of the space with all of them is below it, as far as was searched:
   * space_bound, or `bound` where nothing more is known. */
  bool all_trips;
  double trips_bound;
  /* Whether it holds with all trip counts and all bypasses, too; and what no mapping of that space
   * is below. */
  bool bypasses;
  double bypass_bound;
  tf_figures figures;
  int64_t evals; /* of mappings and of heads of mappings */
  /* Pruned because no better than the incumbent; too many instances; no legal tree. */
  int64_t by_bound, by_mesh, by_rules;
  int n_levels;
  tf_solve_level *levels; /* [n_memories] */
  int templates;          /* shapes of trees, irrespective of loop orders */
  double seconds;
  tf_stop stopped_by; /* EXHAUSTED: the space was searched, or enough of it for a proof */
  int threads;
  tf_closed_figures closed; /* of tf_solve_closed */
} tf_solve_result;

/* The best mapping of the exact space.  The same result with any number of threads, unless a time
 * limit ended it. NULL with errors in d. */
TF_API tf_solve_result *tf_solve_exact(const tf_arch *arch, const tf_workload *wl,
                                       const tf_solve_opts *o, tf_diags *d);

/* The best closed-form mapping: for each loop order the tiles of least data movement in real
 * numbers, rounded (thesis 3.4.1, 3.4.3); of these the best by the model.  bound: for every mapping
 * (tf_bounds_of).  NULL with errors in d. */
TF_API tf_solve_result *tf_solve_closed(const tf_arch *arch, const tf_workload *wl,
                                        const tf_solve_opts *o, tf_diags *d);
TF_API void tf_solve_free(tf_solve_result *r);

/* A proof that tileflow-certify reads, which shares no code with this library
 * (docs/CERTIFICATE.md): the mapping given, which may lie outside of the space, costs `value`; no
 * mapping of the space with all trip counts and bypasses is below `bound`, and none whatever below
 * `floor`. */
typedef struct {
  char *text;
  size_t len;
  double value, bound, floor; /* of the objective; EDP in pJ times cycles */
  int64_t boxes;              /* of mappings that were looked at */
} tf_certificate;
typedef struct {
  tf_objective objective;
  double known;     /* a bound of the space that a solver found (EDP in pJ times cycles); 0: none */
  tf_budget budget; /* max_evals: boxes of mappings (0: four million), so many for each bound that
                       is tried; stop */
} tf_certificate_opts;
/* Whether the op is of the class that has certificates; else false with an error in d that says
 * which has. */
TF_API bool tf_certifiable(const tf_arch *arch, const tf_workload *wl, tf_diags *d);
/* Proves that the mapping is as good as any of the space; else what is known, or less.  False with
 * errors in d: the op is not of the class that has certificates, or memory ran out.  The text is
 * freed by tf_certificate_free. */
TF_API bool tf_certify(const tf_tree *tree, const tf_certificate_opts *o, tf_certificate *out,
                       tf_diags *d);
TF_API void tf_certificate_free(tf_certificate *c);

#ifdef __cplusplus
}
#endif
#endif
