/* The gradient of a workload, as a workload like any other (docs/HOWTO-grad.md). */
#ifndef TILEFLOW_GRAD_H
#define TILEFLOW_GRAD_H
#include "tileflow/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a training step does with gradients g of parameters p.  SGD: p_next = p - rate * g.  ADAM
 * (Kingma and Ba, 2015, with its defaults, 0.9, 0.999 and 1e-8): two more inputs and outputs each,
 * mean_p and square_p; rate is the step size divided by 1 - 0.9^t at step t, unbias 1 / sqrt(1 -
 * 0.999^t). */
typedef enum { TF_UPDATE_NONE, TF_UPDATE_SGD, TF_UPDATE_ADAM } tf_update;
/* One of "sgd" and "adam"; TF_UPDATE_NONE for others. */
TF_API tf_update tf_update_of(const char *name);

/* Names of tensors, separated by commas. */
typedef struct {
  const char *of;    /* what is differentiated; NULL: all outputs */
  const char *by;    /* with respect to what; NULL: all inputs on which these depend */
  const char *given; /* tensors that the forward pass has kept, and the backward workload reads;
                        NULL: it recomputes everything */
  tf_update step; /* a training step instead: forward, backward and update as one workload; by must
                     be named, given not */
  const char *again; /* then: intermediates that the backward pass makes again instead of reading
                        what the forward pass made; NULL: none */
} tf_grad_options;

/* The backward workload as YAML.  From the forward inputs, and d_O for each O of `of`, it computes
 * d_T for each T of `by`: the derivative with respect to T of the sum of all d_O times O.  d_T has
 * as many words as T, in the same row-major order; a rank that is read with a stride may become
 * two.  The forward ops that it needs are among its ops. Malloc'd, the caller frees.  NULL with
 * every error in d: an unknown name, or one on which nothing depends (E_NAME), the same tensor in
 * `of` and `by`, or an existing d_T (E_DUP), a limit of workloads exceeded (E_LIMIT).
 *
 * Of a step: for each T of `by`, T_next.  Each d_O is 1: what is made less is the sum of all O. Its
 * ops stand in an order in which each could run at once: what is made again just before it is read,
 * an update behind its gradient. */
TF_API char *tf_grad(const tf_workload *wl, const tf_grad_options *o, tf_diags *d);

#ifdef __cplusplus
}
#endif
#endif
