/* From a workload and an architecture to a kernel, as `tileflow emit` does it (docs/HOWTO-emit.md): a mapping is found
 * where none is given, the one whose kernel promises most is chosen, and its kernel is emitted. */
#ifndef TILEFLOW_PLANNER_H
#define TILEFLOW_PLANNER_H
#include "tileflow/emit.h"
#include "tileflow/search.h"

/* Evaluations where the budget says neither how many nor how long, of each of the searches that a plan makes one after
 * the other: fewer of a workload of many ops, so that the plan of a chain, of attention, of a layer takes less than
 * half a second.  A plan ends by what it tries, never by the clock: the same options give the same kernel on a busy
 * machine. */
enum {
  TF_PLANNER_WORK = 24000,
  TF_PLANNER_EFFORT = 80000 /* in quick evaluations: where each is dear, fewer are made */
};
int64_t tf_planner_evals(const tf_workload *wl); /* TF_PLANNER_WORK, shared among the ops and one more */

typedef struct {
  const char *target;     /* a name of tf_emit_target; NULL: cpu */
  tf_emit_options kernel; /* isa NULL: this computer's best.  What it says of results and measurements is not read */
  tf_objective objective; /* LATENCY: of mappings that keep the units busy alike the one that moves less, by EDP */
  const char *strategy;   /* as in tf_search_opts */
  tf_budget budget;       /* of each search.  tileflow has seed 1 where none is said */
  /* Where n_time is above 0 the kernels of so many best mappings are timed, and the fastest is the plan's.  `time`
   * fills m[i].measured of each kernels[i] (which differ), negative where it has none; false: it gives up, and so does
   * the plan.  It compiles and runs what it is given: the library starts no programs. */
  int n_time;
  bool (*time)(void *ctx, /* of the budget */
               const tf_emitted *const *kernels, int n, tf_measured *m);
} tf_planner_opts;

typedef struct {
  const tf_tree *tree; /* the mapping: `found`, or the one given; NULL: none that fits was found */
  tf_tree *found;      /* owned; NULL: nothing was open in the one given */
  tf_model *model;     /* owned: of the tree */
  tf_result result;    /* its evaluation, whose arrays the model owns; a mapping that is given need not fit */
  int64_t evals;       /* of all searches */
  tf_stop stopped_by;  /* the last search */
  int n_measured, chosen;
  tf_measured *measured; /* [n_measured] kernels that were timed, in the model's order; chosen: the one of `tree` */
} tf_planned;

/* Plans for the workload on the architecture; given: a mapping, which may be open (NULL: none).  All three are borrowed
 * for as long as the plan lives.  Once stop says so, the best so far is the plan.  NULL with errors in d, or where
 * `time` gave up. */
tf_planned *tf_planner_run(const tf_arch *arch, const tf_workload *wl, const tf_tree *given, const tf_planner_opts *o,
                           tf_diags *d);
/* The kernel of a plan that has a mapping, with the options that it was made with; as tf_emit. */
tf_emitted *tf_planned_emit(const tf_planned *p, const tf_planner_opts *o, tf_diags *d);
void tf_planned_free(tf_planned *p);
#endif
