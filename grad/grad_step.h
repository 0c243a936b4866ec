/* A training step: what the reverse pass drafted, the forward ops and the update of the parameters
 * as one workload. */
#ifndef GRAD_GRAD_STEP_H
#define GRAD_GRAD_STEP_H
#include "grad/draft.h"
#include "tileflow/grad.h"

/* Arrays of wl's tensors. */
typedef struct {
  tf_update kind;
  int n_backward; /* ops of the draft from there on are forward ops */
  bool *of, *again;
  int *gradient;    /* tensor of the draft; -1: not asked for */
  const int **home; /* the dims of the gradient */
} gr_stepping;

/* Adds updates and what is recomputed, leaves out what neither reads, and puts the ops in the order
 * in which they are to run.  False after an error. */
bool gr_step(gr_draft *d, const gr_stepping *s);
#endif
