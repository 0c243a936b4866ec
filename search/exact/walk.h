/* A worker: one template's model and what it takes to walk through its choices.  One thread at a time. */
#ifndef SEARCH_EXACT_WALK_H
#define SEARCH_EXACT_WALK_H
#include "search/exact/exact.h"

/* Why and how often something was left out. */
typedef struct {
  int64_t evals, by_bound, by_mesh, by_rules;
  tf_solve_level level[16]; /* TF_MEMORIES_MAX */
} tf_x_counts;

/* The best of a task. */
typedef struct {
  bool there;
  double value;
  tf_figures figures;
  tf_tree *tree;
} tf_x_best;

/* Choices of one Tile, best bound first. */
typedef struct {
  double bound;   /* of the objective; in a list of an op's own: of the time behind the choice, or the energy */
  int64_t no;     /* in the order in which they were made */
  int32_t *trips; /* of the Tile's loops; lies in the pool */
} tf_x_choice;

typedef struct {
  tf_x_choice *list;
  int64_t n, room;
  tf_arena *pool;
  double least_pj; /* an op's own: the least energy behind a choice */
} tf_x_list;

/* A choice of the first Tile, and what no completion of it beats. */
typedef struct {
  double bound;
  int template;
  int64_t no;     /* in the order in which the template's were made */
  int32_t *trips; /* of the Tile's loops */
} tf_x_head;

typedef struct {
  tf_x_head *list;
  int64_t n, room;
  tf_x_list own[TF_X_OPS]; /* nothing shared: choices of each op's first Tile, by the time behind them */
} tf_x_heads;

/* Mappings with more of `goal` than `most` are none: what is sought is the best of those that are equal in it. */
typedef struct {
  tf_objective goal;
  double most;
} tf_x_tie;

typedef struct {
  const tf_solve_opts *opts;
  const tf_x_tie *tie;    /* NULL: every mapping counts */
  const tf_bounds *floor; /* of any mapping */
  double limit;           /* only mappings with less are looked for */
  int64_t most_evals;     /* 0: no bound */
  tf_watch *watch;
  /* found */
  tf_x_counts counts;
  tf_x_best best;
  bool cut, failed; /* cut: stopped before its end */
  bool unknown;     /* there were mappings that the model gave up counting: nothing is proved of them */
} tf_x_task;

typedef struct tf_x_worker tf_x_worker;
tf_x_worker *tf_x_worker_new(const tf_x_template *t, int number, tf_diags *d);
void tf_x_worker_free(tf_x_worker *w);

/* All choices of the template's first Tile that may lead to less than the limit.  A template without choices is
 * evaluated. */
void tf_x_heads_of(tf_x_worker *w, tf_x_task *task, tf_x_heads *out);
/* All mappings that begin with the head. */
void tf_x_below(tf_x_worker *w, tf_x_task *task, const tf_x_heads *of, const tf_x_head *head);
void tf_x_heads_free(tf_x_heads *h);
#endif
