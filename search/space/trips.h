/* The trip counts of one tree as a space: one decision per loop, with domains that earlier choices
 * narrow by coverage, fan-out and capacity. */
#ifndef SEARCH_SPACE_TRIPS_H
#define SEARCH_SPACE_TRIPS_H
#include "base/arena.h"
#include "search/common/space.h"
#include "tileflow/tree.h"

/* coef * (len[slot] - 1): what one dim of an op adds to the extent of a rank.  In a check, slot is
 * an index into the check's own list. */
typedef struct {
  int slot;
  int32_t coef;
} tf_sterm;

/* A box of a tensor.  Each rank has 1 + the sum of its terms, less what may be padding for every
 * position of the box; at least 1, at most clip. */
typedef struct {
  int n_terms;
  const tf_sterm *terms;
  int32_t clip, less;
} tf_srank;

typedef struct {
  int n_ranks;
  const tf_srank *ranks;
  double bits; /* of one element, doubled if it is double-buffered */
} tf_sbox;

/* An inferred length: the largest of the ranks (what readers need), at most clip; without ranks:
 * clip itself; copy >= 0: that slot's length. */
typedef struct {
  int slot, copy;
  int n_ranks;
  const tf_srank *ranks;
  int32_t clip;
} tf_sinfer;

/* A capacity check: the least that a memory must hold, with the lengths listed as small as they can
 * become. */
typedef struct {
  double capacity_bits;
  int n_boxes;
  const tf_sbox *boxes;
  int n_slots;
  const int *slots;
} tf_scheck;

/* A check that a decision may violate, by the lengths known when it is taken. */
typedef struct {
  const tf_scheck *check;
  const int32_t *divide; /* [check->n_slots] product of the fixed trip counts after it; 0: an open
                            loop can still divide the length down to 1 */
  const bool *own; /* [check->n_slots] the decision divides a length for which that is not so */
} tf_sfit;

/* One loop.  Loops with a written trip count are decisions with one choice. */
typedef struct {
  int loop; /* its number in tf_model_eval's order */
  int dim;
  tf_axis axis;
  int32_t trip;  /* the written trip count; 0: open */
  int32_t max;   /* most that the mapping allows; 0: no bound */
  int n_choices; /* choices written as ?{...}, ascending; 0: none */
  const int32_t *choices;
  int n_slots;
  const int *slots;           /* lengths it divides */
  const int32_t *fixed_after; /* [n_slots] product of the fixed loops after it */
  const int32_t *room_after;  /* [n_slots] upper bound on the product of the open loops after it */
  int32_t mesh;               /* spatial: instances along the axis */
  int32_t share; /* of these, its branch's part if branches run at once (mesh_share.c); else mesh */
  int node;      /* its Tile */
  int n_same_mesh; /* decisions above it that share this mesh */
  const int *same_mesh;
  int n_infer; /* lengths to be inferred before this decision */
  const tf_sinfer *infer;
  int n_fits;
  const tf_sfit *fits;
  uint64_t key; /* hash of level, axis, dim and place in the tree: identifies the corresponding loop
                   in other trees */
  uint64_t unit_key;           /* the same for corresponding loops of ops on one kind of unit */
  int first_alike, next_alike; /* decisions of equal unit_key, ascending; -1: the last */
  int op;                      /* the op that ends its branch */
  bool affects_producer;       /* it divides lengths on which a producer's range depends */
} tf_decision;

typedef struct tf_trips {
  tf_space space; /* decisions in the order in which they are taken */
  tf_arena *arena;
  const tf_tree *tree;
  tf_decision *decision;
  int n_loops, n_slots;
  int32_t *begin; /* [n_slots] lengths at the root */
  bool even;      /* offers only counts that divide */
  bool rounded;   /* or only those that divide lengths rounded up (tf_rounded) */
  /* state of one walk */
  int32_t *len;     /* [n_slots] */
  int64_t *trips;   /* [n_loops] for tf_model_eval */
  int32_t *scratch; /* [entries of the largest check] */
  int ready;        /* decisions whose inferences are done */
  bool dead_end; /* some length that no loop divides is longer than 1: this prefix has no candidate
                  */
  struct tf_factors *factors;
  /* for the rule of cover (cover.c) */
  const struct tf_facts *facts;
  struct tf_cover *cover;
  int *known; /* [op] the decision before which its ranges are inferred; -1: known from the start */
  bool *undivided; /* [n_slots] no loop divides the length */
  bool late_range; /* some op's range is known only after the last decision */
  bool by_rule;    /* ranges are inferred by the rule of cover itself, not by `infer` */
  int64_t *rest;   /* [n_slots] */
  int64_t *probe;  /* [n_loops] */
  int64_t *steps;  /* [n_slots] what loops cover of each dim: the product of its op's counts and its
                      rest */
  int64_t *bound;  /* [n_slots] what they must cover: the longest range, or a bound on it */
  struct tf_probe *program; /* computes steps and bound; NULL: the tree is walked for them */
  double *product;          /* [n_slots] */
  int32_t *tried;           /* [n_slots] */
  bool doubtful;            /* whether the last choice covers is checked by the next domain */
} tf_trips;

/* NULL with an error in d if an extent or the tree is too large to search.  Borrows the tree. */
tf_trips *tf_trips_new(const tf_tree *tree, tf_diags *d);
void tf_trips_free(tf_trips *t);

/* Starts a walk: no decision is taken. */
void tf_trips_begin(tf_trips *t);
/* The domain of decision i, ascending, once decisions 0 .. i - 1 have been taken.  Returns its
 * size; 0: a dead end. */
int tf_trips_domain(tf_trips *t, int i, int32_t domain[TF_DOMAIN_MAX]);
/* Makes the inferences that decision i needs, so that len[] is what reaches its loop. */
void tf_trips_enter(tf_trips *t, int i);
/* Takes one choice. */
void tf_trips_take(tf_trips *t, int i, int32_t trip);

#endif
