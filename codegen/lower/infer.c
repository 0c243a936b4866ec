/* The ranges of ops at a node: split by loops, inferred from readers. */
#include "codegen/lower/lower.h"

/* Splits the ranges that loop l splits.  The guard lists ranges of which one must not be empty (n =
 * 0: one never is). */
int lower_split_guarded(lowering *w, int l, ir_atom digit, ir_range *guard) {
  const tf_plan *p = w->plan;
  const tf_ploop *pl = &p->loops[l];
  int n = 0;
  bool always = false;
  for (int i = 0; i < pl->n_leader; i++) {
    int o = pl->leaders[i];
    ir_range *r = lower_range(w, o, pl->dim);
    *r = lower_split(w, w->p->dim_id[pl->dim], *r, digit, w->run.step[o * p->n_loops + l],
                     w->run.trip[l]);
    bool new = true;
    for (int k = 0; k < n; k++)
      new &= !lower_same_range(&guard[k], r);
    if (new) guard[n++] = *r;
    always |= r->never_empty;
  }
  for (int i = 0; n == 1 && i < pl->n_leader; i++) /* narrows the ranges inside the guard */
    lower_range(w, pl->leaders[i], pl->dim)->never_empty = true;
  return always ? 0 : n;
}

void lower_split_leaders(lowering *w, int l, ir_atom digit) {
  const tf_plan *p = w->plan;
  const tf_ploop *pl = &p->loops[l];
  for (int i = 0; i < pl->n_leader; i++) {
    ir_range *r = lower_range(w, pl->leaders[i], pl->dim);
    *r = lower_split(w, w->p->dim_id[pl->dim], *r, digit,
                     w->run.step[pl->leaders[i] * p->n_loops + l], w->run.trip[l]);
  }
}

ir_range lower_whole_range(const tf_workload *wl, int d) {
  int64_t extent = wl->dims[d].extent;
  return (ir_range){.lo = ir_number(0),
                    .hi = ir_number(extent),
                    .most = extent,
                    .never_empty = true,
                    .exact = true};
}

static ir_range inferred_range(lowering *w, int o, int k, int n) {
  const tf_facts *f = w->plan->facts;
  int d = f->wl->ops[o].dims[k];
  const tf_range_from from = tf_range_source(f, o, d, n);
  switch (from.rule) {
  case TF_BY_READERS: return lower_demand(w, f->wl->ops[o].out, from.source, n, LOWER_ASKED);
  case TF_BY_LEADER: return *lower_range(w, from.source, d);
  case TF_BY_LOOPS:
  case TF_BY_EXTENT: break;
  }
  return lower_whole_range(f->wl, d);
}

void lower_infer(lowering *w, int n) {
  const tf_plan *p = w->plan;
  for (int i = p->wl->n_ops - 1; i >= 0; i--) {
    int o = p->wl->topo[i];
    const tf_op *op = &p->wl->ops[o];
    if (!tf_plan_above(p, n, p->tree->op_node[o]) || tf_plan_leads(p, o, n)) continue;
    for (int k = 0; k < op->n_dims; k++) {
      ir_range r = inferred_range(w, o, k, n);
      *lower_range(w, o, op->dims[k]) = r;
    }
    lower_mask_infer(w, o);
    if (w->keeps[op->out] && p->home_scope[op->out] == n) lower_keep(w, n, o);
  }
}
