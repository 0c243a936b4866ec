/* Derivatives of element expressions. */
#ifndef GRAD_DERIVE_H
#define GRAD_DERIVE_H
#include "grad/draft.h"

/* The value of each node of the op's expression, over the op's slots: [n_expr].  NULL without memory. */
const gr_expr **gr_values(gr_draft *d, const tf_op *op);
/* The op's own tensor at its point. */
const gr_expr *gr_out_at(gr_draft *d, const tf_op *op, int tensor);

/* adjoint[i]: d_out times the derivative of the op by its read i, at a point of the op's space; NULL where it is 0
 * throughout.  Where several elements share a maximum or minimum each has its share; of max(a, b) and min(a, b) with
 * a = b, a has it all; relu and abs have 0 at 0.  Adds the ops that this needs.  d_out: a tensor. */
bool gr_adjoints(gr_draft *d, const tf_op *op, int d_out, const gr_expr **adjoint);
#endif
