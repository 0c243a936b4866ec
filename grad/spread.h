/* What one read of an op contributes to the gradient of the tensor it reads. */
#ifndef GRAD_SPREAD_H
#define GRAD_SPREAD_H
#include "grad/draft.h"

/* The dims that index the tensor's gradient: those of its producer, or of a plain read, or new
 * ones. */
bool gr_home_dims(gr_draft *d, int tensor, int *home);

/* How the sum of a tensor's gradient is stored. */
typedef struct {
  int home[TF_MAX_RANK]; /* gr_home_dims */
  const char *name;      /* of its tensor */
  bool only;             /* one read contributes: its contribution is the sum */
  bool leaf;             /* nothing reads the sum */
} gr_target;

/* What the read adds to the gradient of its tensor.  adjoint: over the op's slots, as gr_adjoints
 * gives it.  *part: an expression at the home dims; NULL where `only` and the tensor `name` is
 * made, in split form if that has the words in their order and it is a leaf.  False after an error.
 */
bool gr_spread(gr_draft *d, const tf_op *op, const tf_ref *ref, const gr_expr *adjoint,
               const gr_target *to, const gr_expr **part);
#endif
