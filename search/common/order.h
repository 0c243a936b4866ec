/* A canonical order of the ops, tensors and dims of a workload: it depends on what is computed, not
 * on names, nor on the order in which a file lists them. */
#ifndef SEARCH_COMMON_ORDER_H
#define SEARCH_COMMON_ORDER_H
#include "base/arena.h"
#include "tileflow/spec.h"

typedef struct {
  int *ops;     /* [n_ops] producers before consumers */
  int *tensors; /* [n_tensors] */
  int *dims;    /* [n_dims] */
} tf_order;

/* The op, tensor and dim at each position.  False if memory ran out. */
bool tf_order_of(tf_arena *a, const tf_workload *wl, tf_order *out);
#endif
