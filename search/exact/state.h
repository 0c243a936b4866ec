/* Shared by the parts of a worker. */
#ifndef SEARCH_EXACT_STATE_H
#define SEARCH_EXACT_STATE_H
#include "model/cost/open.h"
#include "search/exact/walk.h"

enum { TF_X_MEMO = 4096, TF_X_RULES = 1024 };

/* Cached result of tf_x_fill. */
typedef struct {
  int64_t mesh[2];
  int32_t len[TF_X_DIMS];
  int n;
  double fill;
} tf_x_memo;

/* Cached legality of a set of loops with more than one step (by hash): 0 unknown, 1 legal, 2
 * not. */
typedef struct {
  uint64_t hash;
  int legal;
} tf_x_rule;

struct tf_x_worker {
  const tf_x_template *t;
  int number;
  tf_arena *arena;
  const tf_tree *tree; /* the model is of its completions */
  tf_model *model;
  tf_trips *trips;
  int *loop_op;      /* [n_loops] the op whose own loop it is; -1: shared */
  bool *loop_rest;   /* [n_loops] it takes all that is left */
  bool *loop_spread; /* [n_loops] */
  tf_x_memo *memos;
  tf_x_rule *rules;
  const tf_x_list *own; /* [n_ops] for the current subproblem: choices of each op's first own Tile;
                           NULL: not known */
  double open_pj;       /* lower bound on the energy of the open nodes; part of tf_x_bound_of */
  tf_x_task *task;
};

/* Trip counts in which the last Tiles take all that is open, and the lengths that reach each op's
 * own Tiles. */
typedef struct {
  int64_t *trips; /* [n_loops] */
  int32_t *left;  /* [slots] */
} tf_x_state;

/* False if memory ran out; free it either way. */
bool tf_x_state_new(const tf_x_worker *w, tf_x_state *s);
void tf_x_state_free(tf_x_state *s);
/* Gives the ops' own loops one step each, except the last ones, which take all that is left; notes
 * how much that is. */
void tf_x_complete(tf_x_worker *w, tf_x_state *s);
/* Counts one evaluation; false where the task must stop. */
bool tf_x_spend(tf_x_worker *w);
/* Counts the evaluation just made as more than one where it took the effort of many quick ones. */
void tf_x_charge(tf_x_worker *w);
/* tf_model_partial, charged. */
bool tf_x_partial(tf_x_worker *w, const int64_t *trips, const tf_open *open, tf_result *r);

/* The most units that op o can get once Tiles 0 .. stage are chosen: those chosen, times those that
 * the remaining lengths can fill at the other Tiles on its path. */
double tf_x_most_units(tf_x_worker *w, int o, int stage, const tf_x_state *s);
/* The most units of kind u that all ops together can get then: all units of the chosen instances of
 * the memories that the children of the scope share. */
double tf_x_all_units(const tf_x_worker *w, int u, int stage, const tf_x_state *s);
/* A lower bound on the objective, from a partial evaluation. */
double tf_x_bound_of(const tf_x_worker *w, const tf_result *r);
/* Whether figures, or lower bounds of them, satisfy the task's tie condition. */
bool tf_x_meets_tie(const tf_x_worker *w, const tf_figures *f);
/* Whether a bound is below the limit by more than rounding. */
bool tf_x_below_limit(const tf_x_worker *w, double bound);
/* Whether the decided part fits: the peak of a settled memory is the same in every completion. */
bool tf_x_fits(tf_x_worker *w, const tf_x_tile *x, const tf_result *r);
/* Whether the memory of the next Tile can hold what the Tile's op touches below this one. */
bool tf_x_holds(tf_x_worker *w, const tf_x_tile *x, const int32_t *left, const int32_t *inside);
/* An upper bound on the cycles that op o saves by reuse of intermediates which its siblings left in
 * its memory. */
double tf_x_reuse_time(tf_x_worker *w, const tf_x_tile *x, const tf_x_state *s, const tf_result *r);
/* The same for energy, in pJ. */
double tf_x_reuse_pj(tf_x_worker *w, const tf_x_tile *x, const tf_x_state *s, const tf_result *r);

/* Notes for the report that a subproblem needs more words than a memory holds. */
/* need: words; INT64_MAX: only a part of the memory is too small. */
void tf_x_note_capacity(tf_x_worker *w, int level, int64_t need);
/* Whether the tree is legal with these trip counts; depends only on which loops have more than one
 * step. */
bool tf_x_is_legal(tf_x_worker *w, const int64_t *trips);
/* Evaluates a complete mapping, and keeps it if it fits and is the best so far. */
void tf_x_leaf(tf_x_worker *w, const int64_t *trips);
#endif
