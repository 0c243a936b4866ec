/* From a workload and an architecture to a kernel, as `tileflow emit` does it (docs/HOWTO-emit.md):
 * finds a mapping if none is given, chooses the one whose kernel is estimated fastest, and emits
 * its kernel. */
#ifndef TILEFLOW_PLANNER_H
#define TILEFLOW_PLANNER_H
#include "tileflow/emit.h"
#include "tileflow/search.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Default evaluations, if the budget limits neither number nor time, for each of the searches that
 * a plan makes: fewer for a workload of many ops, so that the plan of a chain, of attention, or of
 * a layer takes about a fifth of a second. These limits count work, not time: the same options give
 * the same kernel on a busy machine. */
enum {
  TF_PLANNER_WORK = 12000,
  TF_PLANNER_EFFORT = 40000 /* in quick evaluations: where evaluations are slow, fewer are made */
};
TF_API int64_t
tf_planner_evals(const tf_workload *wl); /* TF_PLANNER_WORK divided by the number of ops plus one */

typedef struct {
  const char *target;     /* a name of tf_emit_target; NULL: cpu */
  tf_emit_options kernel; /* isa NULL: this computer's best.  Its members for results and
                             measurements are ignored */
  tf_objective objective; /* LATENCY: among mappings that keep the units equally busy, the one that
                             moves less, by EDP */
  const char *strategy;   /* as in tf_search_opts */
  tf_budget budget;       /* of each search.  The command's default seed is 1 */
  double baseline; /* cycles that the workload takes otherwise (in several kernels); 0: none are
                    * known.  A plan that its first search leaves far behind them is not improved
                    * any further */
  /* If n_time is above 0, the kernels of so many best mappings are timed, and the fastest is
   * chosen.  `time` fills m[i].measured (seconds) for each kernels[i] (all different), negative if
   * it has no measurement; false: the plan fails.  The library itself starts no programs: the
   * callback compiles and runs the kernels. */
  int n_time;
  bool (*time)(void *ctx, /* ctx: of the budget */
               const tf_emitted *const *kernels, int n, tf_measured *m);
} tf_planner_opts;

typedef struct {
  const tf_tree *tree; /* the mapping: `found`, or the one given; NULL: none that fits was found */
  tf_tree *found;      /* owned; NULL: the given mapping had no open parts */
  char *settled;    /* owned; of tf_emit_settled, from the best that was found to the mapping; NULL:
                       that was kept */
  tf_model *model;  /* owned: a model of the tree */
  tf_result result; /* its evaluation; the model owns its arrays; a given mapping need not fit */
  int64_t evals;    /* of all searches */
  int64_t
      walked; /* steps of exact walks besides those of searches, which count them as evaluations */
  tf_stop stopped_by; /* of the last search */
  int n_measured, chosen;
  tf_measured *measured; /* [n_measured] kernels that were timed, in the model's order; chosen: the
                            index of `tree` */
} tf_planned;

/* Plans for the workload on the architecture; given: a mapping, possibly open (NULL: none).  All
 * three are borrowed as long as the plan lives.  When stop returns true, the best so far becomes
 * the plan.  NULL with errors in d, or if `time` failed. */
TF_API tf_planned *tf_planner_run(const tf_arch *arch, const tf_workload *wl, const tf_tree *given,
                                  const tf_planner_opts *o, tf_diags *d);
/* The kernel of a plan that has a mapping, with the options of the plan; as tf_emit. */
TF_API tf_emitted *tf_planned_emit(const tf_planned *p, const tf_planner_opts *o, tf_diags *d);
TF_API void tf_planned_free(tf_planned *p);

#ifdef __cplusplus
}
#endif
#endif
