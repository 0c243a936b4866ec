/* A plan being made: candidates are found, ranked by the estimated cost of their kernels, and
 * timed. */
#ifndef PLANNER_PLANNER_H
#define PLANNER_PLANNER_H
#include "model/input/reader.h"
#include "model/tree/build.h"
#include "tileflow/planner.h"

/* A mapping that the plan may choose. */
typedef struct {
  double value;   /* the ranking value; the list is ascending */
  double kernel;  /* cycles by its target, of which the value is made */
  bool is_scored; /* value and kernel were computed by plan_score */
  bool refused;   /* its target makes no program of it */
  bool apart;     /* of ops each alone: ranked however many others are */
  int form;       /* of the target's own, which found it */
  double cycles;  /* by the search */
  double traffic; /* words through the outermost memory, by the search */
  tf_tree *tree;  /* NULL: the plan's own mapping, as given */
  char *text;     /* of the tree: breaks ties */
} plan_candidate;

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_tree *given;
  const tf_planner_opts *o;
  tf_emit_options kernel; /* of o, with an isa */
  bool of_one; /* of several ops: whether a program can be made is asked of the mapping of all */
  int n_time;  /* of o; 0: no timing */
  int form;    /* of the target's own, which is being searched */
  bool is_bounded; /* bounds are known */
  tf_bounds bounds;
  double until; /* when the time is over (base/clock.h); infinite: never */
  tf_diags *d;
  tf_planned *plan;
  int n;
  plan_candidate *at; /* [n] */
} planner;

/* A workload of one op of another: the same dims and tensors, of which those of other ops are idle.
 */
typedef struct {
  tf_workload workload;
  tf_op op;
  int first; /* of the ops: 0 */
  int64_t no_pad[TF_MAX_RANK];
} plan_lone;

/* Steps that the exact walk of a mapping chosen may take. */
enum { PLAN_FINAL_STEPS = 200000 };

/* Each returns false with an error in the planner's diagnostics. */
/* find.c: the best mapping becomes the plan's, the better ones candidates.  _given: completes what
 * is open in the one given.  _forms: the target's own; *any: whether there are some.  _shapes:
 * templates, or any shape. */
bool plan_find_given(planner *p);
bool plan_find_forms(planner *p, bool *any);
bool plan_find_shapes(planner *p);
/* find.c: whether an op reads what another one makes beyond its borders. */
bool plan_reads_beyond(const tf_workload *wl);
/* find.c: a mapping with nothing open is a candidate, if it fits; the first is the plan's until
 * they are ranked.  It is never walked: where no sums count it, its figures are upper bounds.
 * *effort grows by what it took. */
bool plan_add_closed(planner *p, const tf_tree *t, bool apart, int64_t *effort);
/* per_op.c: op o alone; the caller frees workload.tensors.  False: no memory. */
bool plan_isolate(const tf_workload *wl, int o, plan_lone *l);
/* per_op.c: adds the mapping of op o alone below the scope. */
void plan_put(tf_build *b, int scope, const tf_tree *t, int o);
/* per_op.c: one op after the other, each with all its loops in the memory furthest in that holds
 * its tensors.  *made: NULL if a rule forbids it. */
bool plan_whole_ops(planner *p, tf_tree **made);
/* local_search.c: candidates from `from` on are completions of `open`; adds ones that are better
 * than the best of them.
 */
bool plan_polish(planner *p, const tf_tree *open, int from);
/* halo.c: adds the first candidates once more, with what windows read of products kept from step to
 * step. */
bool plan_halos(planner *p);
/* candidates.c: fills in the candidate's kernel.  Returns its ranking value in cycles, lower is
 * better; infinite: it cannot be emitted. */
double plan_score(const planner *p, plan_candidate *c);
/* rank.c: whether a mapping of so many cycles by the model needs no kernel, as one of that value is
 * known: they are a lower bound on its own value, or kernels are dear to make. */
bool plan_cannot_win(const planner *p, double cycles, double value);
/* rank.c: whether a mapping is too far behind the baseline for any other to reach it. */
bool plan_is_lost(const planner *p, const plan_candidate *c);
/* rank.c: adopts the mapping whose kernel is estimated fastest; candidates that cannot be emitted
 * are dropped. */
bool plan_rank(planner *p);
/* time.c: adopts the mapping whose kernel is measured fastest. */
bool plan_time(planner *p);

/* candidates.c: whether the caller has said stop; whether he has, or the time is over. */
bool plan_stopped(const planner *p);
bool plan_over(const planner *p);
/* Seconds of the budget that are left; 0: they are not limited. */
double plan_seconds_left(const planner *p);
void plan_candidate_clear(plan_candidate *c);
/* Takes over the candidate; false: memory ran out, which is reported. */
bool plan_add(planner *p, plan_candidate c);
bool plan_no_memory(const planner *p);
/* Adopts a copy of the mapping, located so that messages about it can show its lines. */
bool plan_adopt(planner *p, const tf_tree *tree);
bool plan_evaluate(planner *p);
#endif
