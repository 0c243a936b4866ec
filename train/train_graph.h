/* The kernels of a graph in which some tensors are stored by nobody. */
#ifndef TRAIN_TRAIN_GRAPH_H
#define TRAIN_TRAIN_GRAPH_H
#include "base/arena.h"
#include "tileflow/spec.h"

typedef struct {
  const tf_workload *wl;
  double *words;     /* [n_tensors] */
  double *points;    /* [n_ops] of its space */
  double *cycles;    /* [n_ops] these at the peak rate of the units that can run it */
  double *bytes;     /* [n_tensors] */
  double rate;       /* words a cycle of the outermost memory */
  int *seen;         /* [n_tensors] working storage */
  int *first, *last; /* [n_tensors] the same */
} tr_graph;

bool tr_graph_of(tf_arena *a, const tf_arch *arch, const tf_workload *wl, tr_graph *out);

typedef struct {
  double words;          /* read and written by all kernels, each tensor once a kernel */
  double points, cycles; /* of all kernels */
  int kernels;
  double time; /* cycles: of each kernel the longer of words and points */
  double peak; /* bytes of what passes between kernels, at the worst moment */
} tr_cost;

/* A kernel for each op whose tensor is stored.  It makes for itself what it needs of the tensors
 * that are gone: [n_tensors], made by ops and read by some. */
tr_cost tr_cost_of(const tr_graph *g, const bool *gone);

int tr_find(const tf_workload *wl, const char *before, const char *name);
#endif
