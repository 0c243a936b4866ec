/* Derivatives of element expressions. */
#ifndef GRAD_DERIVE_H
#define GRAD_DERIVE_H
#include "grad/draft.h"

/* The value of each node of the op's expression, over the op's slots: [n_expr].  NULL without
 * memory. */
const gr_expr **gr_values(gr_draft *d, const tf_op *op);

/* adjoint[i]: d_out times the derivative of the op by its read i, at a point of the op's space;
 * NULL where it is 0 everywhere.  Elements that share a maximum or minimum each get an equal share;
 * for max(a, b) and min(a, b) with a = b, a gets all; relu and abs have derivative 0 at 0.  Adds
 * the helper ops needed.  d_out: a tensor. */
bool gr_adjoints(gr_draft *d, const tf_op *op, int d_out, const gr_expr **adjoint);
#endif
