/* The best mapping that a bounded number of evaluations finds: the exact solver first, then the
 * search from what that found, with what either proved (docs/HOWTO-solve.md). */
#ifndef TILEFLOW_BEST_H
#define TILEFLOW_BEST_H
#include "tileflow/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  tf_objective objective;
  /* max_evals: of solver and search together; 0: TF_BEST_EVALS, of n ops, more than three, 3/n of
   * that, or with a time_limit no bound.  A search's evaluation that takes long counts as several,
   * but where no mapping is found half of max_evals are tried, however long they take.
   * max_effort is not used. */
  tf_budget budget;
  const char *exportable; /* a name of tf_export_format: only mappings that tf_export_write takes;
                             NULL: any */
  const tf_tree *const *starts; /* [n_starts] borrowed: mappings of the same architecture and
                                   workload to beat; the search begins with them, too */
  int n_starts;
} tf_best_opts;

enum { TF_BEST_EVALS = 100000 };

/* What is proved has the meaning that it has in tf_solve_result. */
typedef struct {
  tf_tree *tree;      /* NULL: none that fits was found */
  double value;       /* of the objective; INFINITY without tree */
  const char *method; /* by which it was found: "exact", or the strategy of the search; of a start:
                         "given" */
  int start;          /* the start that it is, where nothing better was found; else -1 */
  double bound;       /* lower bound of the objective for any mapping */
  bool proved;        /* no mapping at all is better than this one */
  bool space; /* the solver could search its space; else what follows is that of all mappings */
  double space_bound;
  bool space_proved;
  bool all_trips, bypasses;
  double trips_bound;
  tf_figures figures;
  int64_t evals, solver_evals; /* of both, of the solver */
  double seconds;
  tf_stop stopped_by; /* PROVED where nothing is better */
  int threads;
} tf_best_result;

/* The same result with any number of threads, unless a time limit ended it.  NULL with errors in d.
 */
TF_API tf_best_result *tf_best_find(const tf_arch *arch, const tf_workload *wl,
                                    const tf_best_opts *o, tf_diags *d);
TF_API void tf_best_free(tf_best_result *r);

/* The mapping on its machine as tensors lie best (docs/FORMATS.md, `layout`) in the memories that
 * have lines: of each tensor and memory in turn the orders of up to four ranks (of more, each rank
 * as the fastest), with the fastest one cut by a power of two or not, as long as one lowers the
 * objective, or energy times delay where that stays, up to 4000 evaluations.  Begins with the
 * layouts that the machine has. */
typedef struct {
  tf_arch *arch; /* with these layouts; all else is the tree's, which must outlive it */
  tf_tree *tree;
  double value; /* of the objective; 0: the mapping could not be counted, or takes too long to walk,
                   and nothing was tried */
  double before;      /* of the mapping begun with as tensors lay; 0: as `value` */
  const char *method; /* the strategy of the search that found the mapping; NULL: it is the one
                         begun with */
  int64_t evals;
  double seconds;
  tf_stop stopped_by; /* of tf_layouts_search; else EXHAUSTED, or BUDGET after the 4000th */
} tf_layouts_result;
TF_API tf_layouts_result *tf_layouts_best(const tf_tree *tree, tf_objective objective, tf_diags *d);

/* The same of mapping and layouts together: begins with the mapping, searches others of the
 * workload, or completions of `given`, and lays out the best of these, within the budget. */
typedef struct {
  tf_objective objective;
  const char *exportable; /* as in tf_search_opts */
  const tf_tree *given;   /* borrowed; NULL: all mappings */
  tf_budget budget;       /* progress is not told */
} tf_layouts_opts;
TF_API tf_layouts_result *tf_layouts_search(const tf_tree *tree, const tf_layouts_opts *o,
                                            tf_diags *d);
TF_API void tf_layouts_free(tf_layouts_result *r);

#ifdef __cplusplus
}
#endif
#endif
