/* The benefit of fusing pairs (thesis 4.6.2, Eq. 4.10). */
#ifndef TRAIN_FUSIONS_H
#define TRAIN_FUSIONS_H
#include "tileflow/net.h"
#include "train/train_graph.h"

/* Fills the fusions of the step's graph.  Names are borrowed from `fore`.  False: no memory. */
bool tr_fusions(tf_arena *a, const tf_workload *fore, const tr_graph *step, double launch,
                tf_train *out);
#endif
