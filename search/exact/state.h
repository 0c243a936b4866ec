/* What a worker's parts share. */
#ifndef SEARCH_EXACT_STATE_H
#define SEARCH_EXACT_STATE_H
#include "search/exact/walk.h"

enum { TF_X_MEMO = 4096, TF_X_RULES = 1024 };

/* What a mesh can be filled with, remembered. */
typedef struct {
  int64_t mesh[2];
  int32_t len[TF_X_DIMS];
  int n;
  double fill;
} tf_x_memo;

/* Whether a tree whose turning loops have this hash is legal, remembered: 0 not known, 1 legal, 2 not. */
typedef struct {
  uint64_t hash;
  int legal;
} tf_x_rule;

struct tf_x_worker {
  const tf_x_template *t;
  int number;
  tf_arena *arena;
  tf_model *model;
  tf_trips *trips;
  int *loop_op;      /* [n_loops] whose own loop it is, -1: shared */
  bool *loop_rest;   /* [n_loops] takes what is left */
  bool *loop_spread; /* [n_loops] */
  tf_x_memo *memos;
  tf_x_rule *rules;
  const tf_x_list *own; /* [n_ops] of the head at work: choices of each op's first own Tile; NULL: not known */
  double open_pj;       /* energy that the open nodes need at least; part of tf_x_bound_of */
  tf_x_task *task;
};

/* Trip counts with everything that is open in the last Tiles, and the lengths that reach each op's own Tiles. */
typedef struct {
  int64_t *trips; /* [n_loops] */
  int32_t *left;  /* [slots] */
} tf_x_state;

/* False if memory ran out; to be freed either way. */
bool tf_x_state_new(const tf_x_worker *w, tf_x_state *s);
void tf_x_state_free(tf_x_state *s);
/* Gives the ops' own loops one step each but the last, which take all that reaches them; notes what that is. */
void tf_x_complete(tf_x_worker *w, tf_x_state *s);
/* Counts one evaluation; false where the task must stop. */
bool tf_x_spend(tf_x_worker *w);

/* The most units that op o gets once Tiles 0 .. stage are chosen: those it has, and what the other Tiles on its path
 * can fill with the lengths that are left. */
double tf_x_most_units(tf_x_worker *w, int o, int stage, const tf_x_state *s);
/* The most units of kind u that all ops together get then: all there are in as many instances of the memory of the
 * scope's Tile as are chosen. */
double tf_x_all_units(const tf_x_worker *w, int u, int stage, const tf_x_state *s);
/* Of the objective, from an evaluation of what is decided. */
double tf_x_bound_of(const tf_x_worker *w, const tf_result *r);
/* Whether figures, or bounds of them, are no worse than what the task's ties allow. */
bool tf_x_ties(const tf_x_worker *w, const tf_figures *f);
/* Below the limit by more than rounding. */
bool tf_x_promises(const tf_x_worker *w, double bound);
/* Whether what is decided fits: the peaks of settled memories are those of every completion. */
bool tf_x_fits(tf_x_worker *w, const tf_x_tile *x, const tf_result *r);
/* Whether the memory of the next Tile holds what the op of a Tile touches below it. */
bool tf_x_holds(tf_x_worker *w, const tf_x_tile *x, const int32_t *left, const int32_t *inside);
/* What op o may find of intermediates where it is entered, in cycles: what its siblings left there of them. */
double tf_x_found_time(tf_x_worker *w, const tf_x_tile *x, const tf_x_state *s, const tf_result *r);
/* The same in pJ. */
double tf_x_found_pj(tf_x_worker *w, const tf_x_tile *x, const tf_x_state *s, const tf_result *r);

/* A head that needs more words than a memory holds. */
void tf_x_note_level(tf_x_worker *w, int level, int64_t need);
/* Whether the tree with these trip counts, or one in which the same loops turn, is legal. */
bool tf_x_turns_legally(tf_x_worker *w, const int64_t *trips);
/* Evaluates a mapping, and keeps it if it fits and is the best so far. */
void tf_x_leaf(tf_x_worker *w, const int64_t *trips);
#endif
