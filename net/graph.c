/* Which sets of ops may be groups. */
#include "codegen/ir/ir.h"
#include "net/net.h"

static bool has_op(const int *ops, int n, int op) {
  for (int i = 0; i < n; i++)
    if (ops[i] == op) return true;
  return false;
}

/* Whether all readers of the op's output are in the group, or none. */
static bool is_closed(const tf_workload *wl, const int *ops, int n, int op) {
  const tf_tensor *z = &wl->tensors[wl->ops[op].out];
  int inside = 0;
  for (int k = 0; k < z->n_consumers; k++)
    inside += has_op(ops, n, z->consumers[k]);
  return inside == 0 || inside == z->n_consumers;
}

/* The ops of the group that produce what ops[i] reads, or read its output. */
static uint32_t neighbours_of(const tf_workload *wl, const int *ops, int n, int i) {
  uint32_t found = 0;
  for (int k = 0; k < n; k++) {
    const tf_op *a = &wl->ops[ops[i]], *b = &wl->ops[ops[k]];
    for (int r = 0; r < a->n_reads; r++)
      if (a->reads[r].tensor == b->out) found |= UINT32_C(1) << k;
    for (int r = 0; r < b->n_reads; r++)
      if (b->reads[r].tensor == a->out) found |= UINT32_C(1) << k;
  }
  return found;
}

static bool connected(const tf_workload *wl, const int *ops, int n) {
  uint32_t reached = 1, done = 0;
  while (reached & ~done) {
    const int i = __builtin_ctz(reached & ~done);
    done |= UINT32_C(1) << i;
    reached |= neighbours_of(wl, ops, n, i);
  }
  return __builtin_popcount(reached) == n;
}

/* Whether an op of the group reads a view of a tensor that another op of it produces: views exist
 * only after that group has run. */
static bool views_inside(const tf_workload *wl, const int *ops, int n) {
  for (int i = 0; i < n; i++)
    for (int r = 0; r < wl->ops[ops[i]].n_reads; r++) {
      const tf_tensor *z = &wl->tensors[wl->ops[ops[i]].reads[r].tensor];
      if (z->view_of && has_op(ops, n, z->producer)) return true;
    }
  return false;
}

/* Whether an op of the group multiplies bytes that another one computes: kernels keep intermediates
 * as float32, and have integer sums of inputs only. */
static bool bytes_inside(const tf_workload *wl, const int *ops, int n) {
  for (int i = 0; i < n; i++) {
    const tf_op *op = &wl->ops[ops[i]];
    if (ir_held_as(wl, op->out) != TF_HELD_SUMS) continue;
    for (int r = 0; r < op->n_reads; r++)
      if (has_op(ops, n, wl->tensors[op->reads[r].tensor].producer)) return true;
  }
  return false;
}

bool net_may_group(const tf_workload *wl, const int *ops, int n, bool recompute) {
  if (views_inside(wl, ops, n) || (n > 1 && bytes_inside(wl, ops, n))) return false;
  for (int i = 0; !recompute && i < n; i++)
    if (!is_closed(wl, ops, n, ops[i])) return false;
  return connected(wl, ops, n);
}
