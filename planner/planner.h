/* A plan on the way: candidates are found, ranked by what their kernels cost, and timed. */
#ifndef PLANNER_PLANNER_H
#define PLANNER_PLANNER_H
#include "tileflow/planner.h"

/* A mapping that the plan may choose. */
typedef struct {
  double value;   /* what they are ranked by; the list ascends */
  bool is_scored; /* value is plan_score's */
  double cycles;  /* as the search counts them */
  tf_tree *tree;  /* NULL: the plan's own mapping, as it was given */
  char *text;     /* of the tree: orders those of equal value */
} plan_candidate;

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_tree *given;
  const tf_planner_opts *o;
  tf_emit_options kernel; /* of o, with an isa */
  int n_time;             /* of o; 0: nobody is there to time them */
  tf_diags *d;
  tf_planned *plan;
  int n;
  plan_candidate *at; /* [n] */
} planner;

/* Each returns false with an error in the planner's diagnostics. */
/* find.c: the best mapping becomes the plan's, the better ones are candidates. */
bool plan_find(planner *p);
/* polish.c: candidates from there on are completions of `open`; better ones than the best of them join. */
bool plan_polish(planner *p, const tf_tree *open, int from);
/* rank.c: what a candidate is ranked by: cycles, the less the better; infinite: it cannot be emitted. */
double plan_score(const planner *p, const plan_candidate *c);
/* the mapping becomes the plan's whose kernel promises most; candidates that cannot be emitted are left out. */
bool plan_rank(planner *p);
/* time.c: the mapping becomes the plan's whose kernel is the fastest. */
bool plan_time(planner *p);

/* plan.c: */
bool plan_stopped(const planner *p);
void plan_candidate_clear(plan_candidate *c);
bool plan_no_memory(const planner *p);
/* Makes a copy of the mapping the plan's, with a place where what is said of it can show its lines. */
bool plan_adopt(planner *p, const tf_tree *tree);
bool plan_evaluate(planner *p);
#endif
