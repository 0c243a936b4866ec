/* The gradient of a workload, as a workload like any other (docs/HOWTO-grad.md). */
#ifndef TILEFLOW_GRAD_H
#define TILEFLOW_GRAD_H
#include "tileflow/spec.h"

/* Names of tensors, with commas between them. */
typedef struct {
  const char *of;    /* what is differentiated; NULL: all outputs */
  const char *by;    /* what by; NULL: all inputs that these hang on */
  const char *given; /* what the forward pass has kept and the backward workload reads; NULL: it makes all anew */
} tf_grad_options;

/* The backward workload as YAML: from the forward inputs, and d_O for each O of `of`, it makes d_T for each T of `by`,
 * where d_T is the derivative of the sum of all d_O times O.  d_T holds as many words as T, in the same row-major
 * order; a rank that is read with a stride may stand as two.  What it needs of the forward ops is among its ops.
 * Malloc'd, the caller frees.  NULL with every error in d: an unknown name, or one that nothing hangs on (E_NAME), the
 * same tensor in `of` and `by`, or a d_T that is there already (E_DUP), what passes a limit of workloads (E_LIMIT). */
char *tf_grad(const tf_workload *wl, const tf_grad_options *o, tf_diags *d);
#endif
