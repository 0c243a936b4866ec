/* Inside the room for networks: groups of ops, their order, their costs. */
#ifndef NET_NET_H
#define NET_NET_H
#include "base/arena.h"
#include "model/spec/reader.h"
#include "tileflow/net.h"

/* dims.c: which dims of the group's ops are one.  dim[slot of op i] is a number 0 .. *n_dims - 1, in the order of their
 * first use; first[i] is the first slot of op i.  Ops are in topological order.  False: no memory. */
bool net_join_dims(tf_arena *a, const tf_workload *wl, const int *ops, int n, const int *first, int *dim, int *n_dims);

/* key.c: what two workloads have in common that differ in names alone, as bytes; *size of them.  NULL: no memory. */
const char *net_key(tf_arena *a, const tf_workload *wl, size_t *size);
#endif
