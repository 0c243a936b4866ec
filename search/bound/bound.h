/* Parts of the capacity bound: one op's staircase. */
#ifndef SEARCH_BOUND_BOUND_H
#define SEARCH_BOUND_BOUND_H
#include "tileflow/bound.h"

enum { TF_B_DIMS = 16, TF_B_TENSORS = 5, TF_B_VALUES = 4096 };

/* A tensor that one op moves, indexed by some of the op's dims, each by a rank of its own. */
typedef struct {
  unsigned dims; /* bits of the op's dims that index it */
  double words;  /* all it has; 0: it stays on the chip */
  double weight; /* words of memory for one of its words */
  bool out;      /* partial sums come back */
  bool whole;    /* made on the chip: its reduced dims are not cut outside of where it stays */
} tf_b_tensor;

typedef struct {
  int n_dims;
  int64_t extent[TF_B_DIMS];
  int n;
  tf_b_tensor tensor[TF_B_TENSORS];
} tf_b_op;

/* Points (capacity, words); only those that none beats are kept. */
typedef struct {
  int n, room;
  tf_bound_step *step;
  bool failed; /* memory ran out */
} tf_b_stairs;

void tf_b_add(tf_b_stairs *s, double capacity, double words);
/* Sorts, and drops what is beaten. */
void tf_b_tidy(tf_b_stairs *s);
/* a becomes, for each capacity, the sum of both. */
void tf_b_sum(tf_b_stairs *a, const tf_b_stairs *b);

/* All points of one op, over orders of its tensors and lengths of their boxes. */
void tf_b_op_stairs(const tf_b_op *op, tf_b_stairs *out);
#endif
