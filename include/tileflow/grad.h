/* The gradient of a workload, as a workload like any other (docs/HOWTO-grad.md). */
#ifndef TILEFLOW_GRAD_H
#define TILEFLOW_GRAD_H
#include "tileflow/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names of tensors, separated by commas. */
typedef struct {
  const char *of;    /* what is differentiated; NULL: all outputs */
  const char *by;    /* with respect to what; NULL: all inputs on which these depend */
  const char *given; /* tensors that the forward pass has kept, and the backward workload reads; NULL: it recomputes
                        everything */
} tf_grad_options;

/* The backward workload as YAML.  From the forward inputs, and d_O for each O of `of`, it computes d_T for each T of
 * `by`: the derivative with respect to T of the sum of all d_O times O.  d_T has as many words as T, in the same
 * row-major order; a rank that is read with a stride may become two.  The forward ops that it needs are among its ops.
 * Malloc'd, the caller frees.  NULL with every error in d: an unknown name, or one on which nothing depends (E_NAME),
 * the same tensor in `of` and `by`, or an existing d_T (E_DUP), a limit of workloads exceeded (E_LIMIT). */
TF_API char *tf_grad(const tf_workload *wl, const tf_grad_options *o, tf_diags *d);

#ifdef __cplusplus
}
#endif
#endif
