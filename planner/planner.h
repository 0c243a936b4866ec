/* A plan in progress: candidates are found, ranked by the estimated cost of their kernels, and
 * timed. */
#ifndef PLANNER_PLANNER_H
#define PLANNER_PLANNER_H
#include "model/input/reader.h"
#include "model/tree/build.h"
#include "tileflow/planner.h"

/* A mapping that the plan may choose. */
typedef struct {
  double value;   /* the ranking value; the list is ascending */
  double kernel;  /* cycles by its target, a part of the value */
  bool is_scored; /* plan_score has set value and kernel */
  bool refused;   /* its target cannot make a program of it */
  bool per_op;    /* of ops in sequence, each planned alone: always ranked */
  int form;       /* the target's own form that found it */
  double cycles;  /* by the search */
  double traffic; /* words through the outermost memory, by the search */
  tf_tree *tree;  /* NULL: the plan's own mapping, as given */
  char *text;     /* of the tree: for breaking ties */
} plan_candidate;

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_tree *given;
  const tf_planner_opts *o;
  tf_emit_options kernel; /* o's, with an isa */
  bool single_op; /* a single op of several: whether a program can be made is tested for the mapping
                  of all ops */
  int n_time;     /* o's; 0: no timing */
  int form;       /* the target's own form that is being searched */
  bool shortest;  /* it is one of the shortest programs: no other can be made */
  bool is_bounded; /* bounds are known */
  tf_bounds bounds;
  double until; /* end of the time (base/clock.h); infinite: none */
  tf_diags *d;
  tf_planned *plan;
  int n;
  plan_candidate *candidate; /* [n] */
} planner;

/* A workload of one op of another one: with the same dims and tensors, of which those of other ops
 * are unused. */
typedef struct {
  tf_workload workload;
  tf_op op;
  int first; /* first op of the workload: 0 */
  int64_t no_pad[TF_MAX_RANK];
} plan_single_op;

/* Steps that the exact walk of a chosen mapping may take. */
enum { PLAN_FINAL_STEPS = 200000 };

/* Each returns false with an error in the planner's diagnostics. */
/* find.c: the best mapping becomes the plan's, the better ones candidates. _given: completes what
 * is open in the given mapping. _forms: the target's own forms, or those of its shortest programs;
 * *any: whether there are any.
 * _shapes: templates, or any shape. */
bool plan_find_given(planner *p);
bool plan_find_forms(planner *p, bool *any);
bool plan_find_shapes(planner *p);
/* find.c: whether an op reads another's output beyond its borders. */
bool plan_reads_beyond(const tf_workload *wl);
/* find.c: a closed mapping becomes a candidate, if it fits; the first is the plan's until they are
 * ranked. It is never walked: if sums cannot count it, its figures are upper bounds. *effort grows
 * by the effort that took. */
bool plan_add_closed(planner *p, const tf_tree *t, bool apart, int64_t *effort);
/* per_op.c: op o alone; the caller frees workload.tensors. False: out of memory. */
bool plan_isolate(const tf_workload *wl, int o, plan_single_op *l);
/* per_op.c: adds the mapping of op o alone below the scope. */
void plan_add_op(tf_build *b, int scope, const tf_tree *t, int o);
/* per_op.c: ops in sequence, each with all its loops in the innermost memory that can hold its
 * tensors. *made: NULL if a rule forbids it. */
bool plan_ops_in_sequence(planner *p, tf_tree **made);
/* local_search.c: candidates from `from` on are completions of `open`; adds completions that are
 * better than the best of them. */
bool plan_local_search(planner *p, const tf_tree *open, int from);
/* halo.c: adds variants of the first candidates that retain what windows read of products from step
 * to step. */
bool plan_halos(planner *p);
/* candidates.c: estimates the candidate's kernel. Returns its ranking value in cycles, lower is
 * better; infinite: it cannot be emitted. */
double plan_score(const planner *p, plan_candidate *c);
/* rank.c: whether a mapping of so many cycles by the model needs no kernel, as one of that value is
 * known: the cycles are a lower bound on its own value, or kernels take long to make. */
bool plan_cannot_win(const planner *p, double cycles, double value);
/* rank.c: whether a mapping is so far behind the baseline that no other will reach it. */
bool plan_is_lost(const planner *p, const plan_candidate *c);
/* rank.c: adopts the mapping whose kernel is estimated fastest; candidates that cannot be emitted
 * are dropped.  Sets `shortest` if the target can make a program of none. */
bool plan_rank(planner *p);
/* time.c: adopts the mapping whose kernel is measured fastest. */
bool plan_time(planner *p);

/* candidates.c: whether the caller has said stop; next: whether that is so, or the time is over. */
bool plan_stopped(const planner *p);
bool plan_over(const planner *p);
/* Seconds left of the budget; 0: unlimited. */
double plan_seconds_left(const planner *p);
void plan_candidate_clear(plan_candidate *c);
/* Adds the candidate and takes ownership; false: out of memory, which is reported. */
bool plan_add(planner *p, plan_candidate c);
bool plan_no_memory(const planner *p);
/* Adopts a copy of the mapping, with locations such that messages can show its lines. */
bool plan_adopt(planner *p, const tf_tree *tree);
bool plan_evaluate(planner *p);
#endif
