/* Networks: a workload of many ops cut into groups that are fused each by itself (docs/HOWTO-plan.md). */
#ifndef TILEFLOW_NET_H
#define TILEFLOW_NET_H
#include "tileflow/search.h"

/* ---- groups ----------------------------------------------------------------------- */
/* Some ops of a workload as a workload of their own.  Tensors that other ops make are its inputs, tensors that only
 * other ops read are its outputs; extents, pads and widths are kept.  Ops stand in topological order.  A dim is one for
 * two ops where one reads what the other makes, or both read a tensor, at just that dim; else each has its own,
 * whatever they are called in the network. */
typedef struct {
  const tf_workload *workload;
  const int *op, *tensor; /* [n_ops], [n_tensors] their numbers in the network */
  const char *key;        /* [key_size] bytes, equal where two groups differ in names alone */
  size_t key_size;
} tf_group;

/* The group of these n ops, each named once, in any order; borrows from wl.  `name` of the workload, copied; at: where
 * the group was asked for, for errors.  NULL with an error in d: a tensor is read both inside and outside of the group,
 * dims are too many. */
tf_group *tf_group_cut(const tf_workload *wl, const int *ops, int n, const char *name, tf_loc at, tf_diags *d);
void tf_group_free(tf_group *g);
#endif
