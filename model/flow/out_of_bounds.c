#include "model/flow/out_of_bounds.h"

#include "base/checked.h"
#include "model/flow/range.h"
#include "model/input/dims.h"

/* How far the read reaches beyond the tensor along rank r, at either end. */
static tf_ends overreach(const tf_workload *wl, tf_read_below at, int r) {
  const tf_tensor *z = &wl->tensors[at.tensor];
  const tf_index *ix = &wl->ops[at.op].reads[at.ref].index[r];
  tf_ival v = {ix->c, 1};
  for (int i = 0; i < ix->n_terms; i++)
    v = tf_index_plus(v, ix->terms[i].coef, (tf_ival){0, wl->dims[ix->terms[i].dim].extent});
  const int64_t before = z->lo[r] - v.lo, after = v.lo + v.len - z->lo[r] - z->extent[r];
  return (tf_ends){before > 0 ? before : 0, after > 0 ? after : 0};
}

/* How much less the read covers along rank r, at each end, if its op's range is cut. */
static tf_ends cut_by_reader(const tf_plan *p, tf_read_below at, int r) {
  const tf_op *op = &p->wl->ops[at.op];
  const tf_index *ix = &op->reads[at.ref].index[r];
  tf_ends all = {0, 0};
  for (int i = 0; i < ix->n_terms; i++) {
    const int rank = tf_out_rank(op, ix->terms[i].dim);
    const int64_t coef = ix->terms[i].coef;
    if (rank < 0) continue;
    const tf_ends e = p->lost[at.op * TF_MAX_RANK + rank];
    const int64_t times = coef > 0 ? coef : -coef;
    all.before = tf_sat_add(all.before, tf_sat_mul(times, coef > 0 ? e.before : e.after));
    all.after = tf_sat_add(all.after, tf_sat_mul(times, coef > 0 ? e.after : e.before));
  }
  return all;
}

static void add_most(tf_ends *most, tf_ends e) {
  if (e.before > most->before) most->before = e.before;
  if (e.after > most->after) most->after = e.after;
}

bool tf_find_lost(tf_arena *a, tf_plan *p) {
  const tf_facts *f = p->facts;
  p->lost = TF_ARRAY(a, tf_ends, (size_t)p->wl->n_ops * TF_MAX_RANK);
  for (int j = f->leaf_end[0] - 1; p->lost && j >= 0; j--) { /* readers before their producers */
    const int o = f->leaf_op[j];
    const tf_tensor *z = &p->wl->tensors[p->wl->ops[o].out];
    for (int r = 0; r < z->rank; r++) {
      tf_ends own = {0, 0}, later = {0, 0};
      TF_EACH_READ (f, o, 0, at) {
        if (z->pad[r] > 0) add_most(&own, overreach(p->wl, at, r));
        add_most(&later, cut_by_reader(p, at, r));
      }
      p->lost[o * TF_MAX_RANK + r] =
          (tf_ends){tf_sat_add(own.before, later.before), tf_sat_add(own.after, later.after)};
    }
  }
  return p->lost != NULL;
}
