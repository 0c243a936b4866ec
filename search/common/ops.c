#include "search/common/ops.h"

#include "model/input/dims.h"

int tf_ops_unit(const tf_arch *arch, const tf_workload *wl, int o) {
  for (int u = 0; u < arch->n_units; u++)
    if (!(wl->ops[o].kinds & ~arch->units[u].kinds)) return u;
  return -1;
}

bool tf_ops_can_run(const tf_arch *arch, const tf_workload *wl, tf_diags *d) {
  bool ok = true;
  for (int o = 0; o < wl->n_ops; o++)
    if (tf_ops_unit(arch, wl, o) < 0)
      ok = tf_fail(d, wl->ops[o].at, TF_E_UNITKIND, "no compute unit runs op '%.60s'",
                   wl->ops[o].name);
  return ok;
}

bool tf_ops_one_end(const tf_workload *wl) {
  int ends = 0;
  for (int o = 0; o < wl->n_ops; o++)
    ends += wl->tensors[wl->ops[o].out].n_consumers == 0;
  return ends == 1;
}

bool tf_ops_streamed(const tf_workload *wl, int o) {
  const tf_op *op = &wl->ops[o];
  for (int i = op->n_out_dims; i < op->n_dims; i++)
    if (wl->dims[op->dims[i]].extent > 1 &&
        tf_op_slot(&wl->ops[wl->topo[wl->n_ops - 1]], op->dims[i]) >= 0)
      return true;
  return false;
}

static bool window_in(const tf_workload *wl, const tf_index *ix, int dim) {
  bool there = false, longer = false;
  for (int t = 0; t < ix->n_terms; t++) {
    there |= ix->terms[t].dim == dim;
    longer |= wl->dims[ix->terms[t].dim].extent > wl->dims[dim].extent;
  }
  return there && longer;
}

bool tf_ops_window(const tf_workload *wl, int dim) {
  for (int o = 0; o < wl->n_ops; o++)
    for (int k = 0; k < wl->ops[o].n_reads; k++)
      for (int r = 0; r < wl->tensors[wl->ops[o].reads[k].tensor].rank; r++)
        if (window_in(wl, &wl->ops[o].reads[k].index[r], dim)) return true;
  return false;
}

bool tf_ops_some_streamed(const tf_workload *wl) {
  int n = 0;
  for (int o = 0; o < wl->n_ops; o++)
    n += tf_ops_streamed(wl, o);
  return n > 1;
}
