/* The trip counts of one tree as a space: one decision a loop, with the constraints that the choices before it leave:
 * coverage, fan-out, capacity. */
#ifndef SEARCH_SPACE_TRIPS_H
#define SEARCH_SPACE_TRIPS_H
#include "base/arena.h"
#include "search/common/space.h"
#include "tileflow/tree.h"

/* coef * (len[slot] - 1): what one dim of an op adds to the extent of a rank.  In a check, slot is
 * a number in its own list. */
typedef struct {
  int slot;
  int32_t coef;
} tf_sterm;

/* A box of a tensor: per rank 1 + the sum of its terms, less what may lie in a border wherever the box stands, at least
 * 1 and at most clip. */
typedef struct {
  int n_terms;
  const tf_sterm *terms;
  int32_t clip, less;
} tf_srank;

typedef struct {
  int n_ranks;
  const tf_srank *ranks;
  double bits; /* of one element, twice if it is buffered twice */
} tf_sbox;

/* A length that follows from others: the largest of the ranks (what readers want), at most clip;
 * no ranks: clip itself; copy >= 0: that slot's length. */
typedef struct {
  int slot, copy;
  int n_ranks;
  const tf_srank *ranks;
  int32_t clip;
} tf_sinfer;

/* The least that a memory must hold once the lengths named are as small as they can become. */
typedef struct {
  double capacity_bits;
  int n_boxes;
  const tf_sbox *boxes;
  int n_slots;
  const int *slots;
} tf_scheck;

/* A capacity that a decision may break, as far as lengths are known when it is made. */
typedef struct {
  const tf_scheck *check;
  const int32_t *divide; /* [check->n_slots] fixed trips still to come; 0: an open loop still can
                            bring it down to 1 */
} tf_sfit;

/* One loop.  Fixed loops are decisions with one choice. */
typedef struct {
  int loop; /* its number in the tree, as tf_model_eval counts */
  int dim;
  tf_axis axis;
  int32_t trip;  /* 0: open */
  int32_t max;   /* 0: no bound written */
  int n_choices; /* written as ?{...}, ascending; 0: none */
  const int32_t *choices;
  int n_slots;
  const int *slots;           /* lengths it divides */
  const int32_t *fixed_after; /* [n_slots] product of fixed loops still to come */
  const int32_t *room_after;  /* [n_slots] most the open loops still to come can take */
  int32_t mesh;               /* spatial: instances along the axis */
  int n_before;               /* decisions on the path that share this mesh */
  const int *before;
  int n_infer; /* to be inferred before this decision */
  const tf_sinfer *infer;
  int n_fits;
  const tf_sfit *fits;
  uint64_t key;            /* level, axis, dim and place in the tree, to find its like elsewhere */
  uint64_t kin;            /* the same for like loops of ops on one kind of unit */
  int kin_first, kin_next; /* decisions of one kin, ascending; -1: none follows */
  int op;                  /* that ends its branch */
  bool watched;            /* what a scope above it has made follows from lengths that it may divide */
} tf_decision;

typedef struct tf_trips {
  tf_space space; /* decisions in the order in which they are taken */
  tf_arena *arena;
  const tf_tree *tree;
  tf_decision *at;
  int n_loops, n_slots;
  int32_t *begin; /* [n_slots] lengths at the root */
  bool uneven;    /* trip counts that do not divide are offered, too: they may fill a mesh
                     better, and take the model longer */
  /* state of one walk */
  int32_t *len;     /* [n_slots] */
  int64_t *trips;   /* [n_loops] for tf_model_eval */
  int32_t *scratch; /* [entries of the largest check] */
  int ready;        /* decisions before whose inferences are done */
  bool dead;        /* some length that no loop divides is longer than 1 */
  struct tf_factors *factors;
  /* what the rule of cover is asked with (cover.c) */
  const struct tf_facts *facts;
  struct tf_cover *cover;
  int *known;      /* [op] the decision before which its ranges are inferred; -1: known from the start */
  bool *bare;      /* [n_slots] no loop divides the length */
  bool tail;       /* some op is below a scope behind which nothing is decided */
  bool odd;        /* ranges are inferred by the rule itself, not by `infer` */
  int64_t *rest;   /* [n_slots] */
  int64_t *probe;  /* [n_loops] */
  double *product; /* [n_slots] */
} tf_trips;

/* NULL with an error in d if an extent or the tree is too large to search.  Borrows the tree. */
tf_trips *tf_trips_new(const tf_tree *tree, tf_diags *d);
void tf_trips_free(tf_trips *t);

/* Starts a walk. */
void tf_trips_begin(tf_trips *t);
/* What decision i may be, ascending; decisions 0 .. i - 1 have been taken.  0: a dead end. */
int tf_trips_domain(tf_trips *t, int i, int32_t domain[TF_DOMAIN_MAX]);
/* Makes the inferences that come before decision i, so that len[] is what reaches it. */
void tf_trips_enter(tf_trips *t, int i);
/* Takes one of them. */
void tf_trips_take(tf_trips *t, int i, int32_t trip);

#endif
