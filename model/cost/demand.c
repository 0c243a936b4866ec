/* Ranges of ops that follow from what is read, from the outputs back (the one that the model derives for a whole run). */
#include "model/cost/demand.h"

#include <stdlib.h>

int64_t tf_demanded(const tf_demand *d, int op, int dim) {
  int64_t n = d->of[op * d->wl->n_dims + dim].hi - d->of[op * d->wl->n_dims + dim].lo + 1;
  return n > 0 ? n : 0;
}

/* Widens the r-th out dim of the maker by what one read touches. */
static void widen(tf_demand *d, int maker, int r, int reader, const tf_index *ix) {
  int nd = d->wl->n_dims, dim = d->wl->ops[maker].dims[r];
  int64_t lo = ix->c, hi = ix->c, last = d->wl->dims[dim].extent - 1;
  for (int t = 0; t < ix->n_terms; t++) { /* spans of indices were checked when the workload was read */
    int64_t c = ix->terms[t].coef, a = d->of[reader * nd + ix->terms[t].dim].lo, b = d->of[reader * nd + ix->terms[t].dim].hi;
    if (a > b) return;
    lo += c > 0 ? c * a : c * b;
    hi += c > 0 ? c * b : c * a;
  }
  lo = lo < 0 ? 0 : lo;
  hi = hi > last ? last : hi;
  if (lo > hi) return;
  if (lo < d->of[maker * nd + dim].lo) d->of[maker * nd + dim].lo = lo;
  if (hi > d->of[maker * nd + dim].hi) d->of[maker * nd + dim].hi = hi;
}

bool tf_demand_of(const tf_workload *wl, tf_demand *d) {
  d->wl = wl;
  d->of = calloc((size_t)wl->n_ops * (size_t)wl->n_dims + 1, sizeof *d->of);
  if (!d->of) return false;
  for (int i = wl->n_ops - 1; i >= 0; i--) {
    int o = wl->topo[i];
    const tf_op *op = &wl->ops[o];
    const tf_tensor *made = &wl->tensors[op->out];
    for (int k = 0; k < op->n_dims; k++) {
      bool all = k >= op->n_out_dims || made->n_consumers == 0;
      d->of[o * wl->n_dims + op->dims[k]].lo = all ? 0 : INT64_MAX / 2;
      d->of[o * wl->n_dims + op->dims[k]].hi = all ? wl->dims[op->dims[k]].extent - 1 : -1;
    }
    for (int c = 0; c < made->n_consumers; c++)
      for (int k = 0; k < wl->ops[made->consumers[c]].n_reads; k++)
        for (int r = 0; r < made->rank && wl->ops[made->consumers[c]].reads[k].tensor == op->out; r++)
          widen(d, o, r, made->consumers[c], &wl->ops[made->consumers[c]].reads[k].index[r]);
  }
  return true;
}
