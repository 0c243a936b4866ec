/* A worker: the model of one template, and the state of a search through its choices.  Used by one
 * thread at a time. */
#ifndef SEARCH_EXACT_WALK_H
#define SEARCH_EXACT_WALK_H
#include "search/exact/exact.h"

/* How often choices were pruned, and why. */
typedef struct {
  int64_t evals, by_bound, by_mesh, by_rules;
  tf_solve_level level[16]; /* TF_MEMORIES_MAX */
} tf_x_counts;

/* The best mapping of a task: its incumbent. */
typedef struct {
  double value;
  tf_figures figures;
  tf_tree *tree; /* NULL: none yet */
} tf_x_best;

/* Choices of one Tile, by ascending bound. */
typedef struct {
  double bound;   /* lower bound on the objective; in a list of own choices: on the time of the op's
                     part, or its energy */
  int64_t no;     /* order of generation, to break ties */
  int32_t *trips; /* of the Tile's loops; in the pool */
} tf_x_choice;

typedef struct {
  tf_x_choice *list;
  int64_t n;
  tf_arena *pool;
  double least_pj; /* in a list of own choices: the least energy of any */
} tf_x_list;

/* A subproblem: one choice of a template's first Tile, the root of a subtree of the search, with a
 * bound of all its completions. */
typedef struct {
  double bound;
  int template;
  int64_t no;     /* order of generation in its template */
  int32_t *trips; /* of the Tile's loops */
} tf_x_subproblem;

typedef struct {
  tf_x_subproblem *list;
  int64_t n;
  tf_x_list own[TF_X_OPS]; /* if nothing is shared: the choices of each op's first Tile, by the time
                              of its part */
} tf_x_subproblems;

/* A tie condition: only mappings with at most `limit` of `goal` are considered. */
typedef struct {
  tf_objective goal;
  double limit;
} tf_x_side_condition;

typedef struct {
  const tf_solve_opts *opts;
  const tf_x_side_condition *tie; /* NULL: no condition */
  const tf_bounds *floor;         /* lower bounds for any mapping */
  double limit;       /* value of the incumbent: only mappings below it are searched for */
  int64_t most_evals; /* 0: no limit */
  tf_budget_clock *clock;
  /* results */
  tf_x_counts counts;
  tf_x_best best;
  bool stopped, failed; /* stopped: before the subtree was searched */
  bool unknown;         /* some mappings could not be counted: nothing is proved about them */
} tf_x_task;

typedef struct tf_x_worker tf_x_worker;
tf_x_worker *tf_x_worker_new(const tf_x_template *t, int number, tf_diags *d);
void tf_x_worker_free(tf_x_worker *w);

/* Lists all subproblems of the template whose bound is below the limit.  A template without choices
 * is evaluated. */
void tf_x_subproblems_of(tf_x_worker *w, tf_x_task *task, tf_x_subproblems *out);
/* Searches all mappings below a subproblem. */
void tf_x_below(tf_x_worker *w, tf_x_task *task, const tf_x_subproblems *of,
                const tf_x_subproblem *subproblem);
void tf_x_subproblems_free(tf_x_subproblems *h);
#endif
