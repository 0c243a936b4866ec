/* The inverse of an access: which points of an op read an element. */
#ifndef GRAD_INVERT_H
#define GRAD_INVERT_H
#include "grad/draft.h"

/* The points of the op at which the reference reads element z of its tensor, as a product of loops.
 * left: the dims of z; a rank that is read with a stride has two, q and r, and is at place[rank] =
 * a * q + r, or where place[rank] says.  The loops over left and over the dims of x that are not in
 * left visit each such point once, and others: those at which x leaves the op's dims, or one of
 * zero[] is not 0. */
typedef struct {
  int n_left, left[2 * TF_MAX_RANK];
  int home[TF_MAX_RANK];   /* the dim of rank r */
  int first[TF_MAX_RANK];  /* of rank r in left */
  bool split[TF_MAX_RANK]; /* it has two */
  bool
      in_order[TF_MAX_RANK]; /* and they are the rank's words in their order, no more and no less */
  tf_index place[TF_MAX_RANK]; /* the coordinate, where split */
  tf_index x[TF_MAX_OP_DIMS];  /* of each slot of the op */
  int n_zero;
  tf_index zero[TF_MAX_RANK];
  bool pointwise; /* nothing but the home dims is looped over, and every point is one */
} gr_inverse;

/* home: [rank] the dims of the tensor; sole: what it makes may stand in split form.  False after an
 * error. */
bool gr_invert(gr_draft *d, const tf_op *op, const tf_ref *ref, const int *home, bool sole,
               gr_inverse *out);
#endif
