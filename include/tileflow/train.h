/* Training steps weighed: which pairs of ops are worth fusing, and what the forward pass keeps for the backward pass
 * against what is made again (docs/HOWTO-train.md). */
#ifndef TILEFLOW_TRAIN_H
#define TILEFLOW_TRAIN_H
#include "tileflow/grad.h"
#include "tileflow/net.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  tf_grad_options step; /* its `again` is what is looked for: NULL */
  double launch;        /* cycles to start a kernel */
  bool front;           /* look for the front, too */
  tf_net_opts plan;     /* of each point of the front */
} tf_train_opts;

/* Two forward ops, of which the second alone reads what the first makes.  Fused, nobody stores that tensor or its
 * gradient: whoever reads one of them makes it again from what its maker reads. */
typedef struct {
  const char *first, *second;   /* ops */
  const char *through;          /* the tensor */
  bool many_first, many_second; /* reads several tensors */
  double words;                 /* fewer words moved by all kernels; these three may be negative */
  double points;                /* fewer points computed */
  int kernels;                  /* fewer kernels */
  double benefit;               /* in cycles: words and points at the machine's peak rates, kernels by `launch` */
  bool chosen;                  /* of the best set, found by taking the best pair given those taken so far */
} tf_train_fusion;

/* What one choice costs, planned. */
typedef struct {
  const char *again;    /* tensors that are made again, by commas; "": none */
  int n_again;
  int64_t bytes;        /* of the arena between groups (tf_net_memory_of) */
  tf_figures figures;   /* of the plan */
} tf_train_point;

typedef struct {
  double rate; /* words a cycle of the outermost memory */
  int n_forward, n_backward, n_update;
  int n_fusions;
  tf_train_fusion *fusions; /* [n_fusions], in the order of the first op */
  int n_kept;               /* tensors that the backward pass reads of the forward pass */
  int64_t weighed;          /* choices among these that were estimated */
  bool all;                 /* all there are */
  int n_points;
  tf_train_point *points; /* [n_points] by descending bytes and ascending cycles: none is beaten in both */
} tf_train;

/* NULL with errors in d; NULL without errors if the budget's stop ended it. */
TF_API tf_train *tf_train_of(const tf_arch *arch, const tf_workload *wl, const tf_train_opts *o, tf_diags *d);
TF_API void tf_train_free(tf_train *t);

#ifdef __cplusplus
}
#endif
#endif
