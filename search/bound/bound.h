/* Parts of the capacity bound: the capacity curve of one op, that is the least words moved for each
 * capacity. */
#ifndef SEARCH_BOUND_BOUND_H
#define SEARCH_BOUND_BOUND_H
#include "tileflow/bound.h"

enum { TF_B_DIMS = 16, TF_B_TENSORS = 5, TF_B_VALUES = 4096 };

/* A tensor that one op moves, indexed by some of the op's dims, each in a rank of its own. */
typedef struct {
  unsigned dims; /* bits of the op's dims that index it */
  double words;  /* its size; 0: it stays on the chip */
  double weight; /* words of memory that one of its words takes */
  bool out;      /* partial sums are loaded again */
  bool on_chip; /* produced on chip: loops over its reduced dims must be inside of where it stays */
} tf_b_tensor;

typedef struct {
  int n_dims;
  int64_t extent[TF_B_DIMS];
  int n;
  tf_b_tensor tensor[TF_B_TENSORS];
} tf_b_op;

/* A capacity curve: points (capacity, least words), of which only the Pareto front is kept. */
typedef struct {
  int n, room;
  tf_bound_step *step;
  bool failed; /* memory ran out */
} tf_b_curve;

void tf_b_add(tf_b_curve *s, double capacity, double words);
/* Sorts, and removes dominated points. */
void tf_b_tidy(tf_b_curve *s);
/* Adds b to a: words at equal capacity. */
void tf_b_sum(tf_b_curve *a, const tf_b_curve *b);

/* The curve of one op: the minimum over all orders of its tensors and lengths of their boxes. */
void tf_b_op_curve(const tf_b_op *op, tf_b_curve *out);
#endif
