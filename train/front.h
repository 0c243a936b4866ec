/* What is kept and what is recomputed: peak memory against time. */
#ifndef TRAIN_FRONT_H
#define TRAIN_FRONT_H
#include "tileflow/net.h"
#include "train/train_graph.h"

typedef struct {
  const tf_arch *arch;
  const tf_workload *fore;
  const tf_train_opts *o;
  tf_arena *a; /* of the result */
  tf_diags *d;
  tf_train *out;
} tr_weighing;

/* Fills the points; step: the graph that makes nothing again.  False: an error in d, or stopped. */
bool tr_front(tr_weighing *w, const tr_graph *step);

/* The step that makes these again, read back; NULL with an error in d.  text: NULL, or its YAML, to
 * be freed. */
tf_spec *tr_step(const tf_workload *fore, const tf_grad_options *o, const char *again, tf_diags *d);
#endif
