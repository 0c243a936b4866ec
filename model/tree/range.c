#include "model/tree/range.h"

bool tf_ranges_idle(const tf_ranges *r, int o) {
  const tf_ival *now = &r->now[r->f->dim_from[o]];
  for (int i = 0; i < r->f->wl->ops[o].n_dims; i++)
    if (now[i].len <= 0) return true;
  return false;
}

/* What op o, which is not idle, reads along one index. */
static tf_ival index_span(const tf_ranges *r, int o, const tf_index *x) {
  tf_ival v = {x->c, 1};
  for (int i = 0; i < x->n_terms; i++) {
    int at = r->f->dim_from[o] + tf_dim_slot(r->f, o, x->terms[i].dim);
    v = tf_index_plus(v, x->terms[i].coef, r->now[at]);
  }
  return v;
}

/* What the ops below node n read of rank k of what op o makes. */
static tf_ival demanded(const tf_ranges *r, int o, int k, int n) {
  const tf_workload *wl = r->f->wl;
  const tf_tensor *z = &wl->tensors[wl->ops[o].out];
  tf_ival v = {0, 0};
  TF_EACH_READ (r->f, o, n, at)
    if (!tf_ranges_idle(r, at.op))
      v = tf_around(v, tf_clip(z, k, index_span(r, at.op, &wl->ops[at.op].reads[at.ref].index[k])));
  return v;
}

/* The range of the i-th dim of op o, which does not lead at node n. */
static tf_ival inferred(const tf_ranges *r, int o, int i, int n) {
  const tf_facts *f = r->f;
  int d = f->wl->ops[o].dims[i], leader = f->stream_leader[o];
  switch (tf_rule_of(f, o, d, n)) {
  case TF_BY_READERS: return demanded(r, o, i, n);
  case TF_BY_LEADER: {
    int slot = tf_dim_slot(f, leader, d);
    return r->now[slot >= 0 ? f->dim_from[leader] + slot : f->dim_from[o] + i];
  }
  case TF_BY_LOOPS:
  case TF_BY_EXTENT: break;
  }
  return r->now[f->dim_from[o] + i];
}

static void infer(tf_ranges *r, int o, int n) {
  const tf_facts *f = r->f;
  for (int i = 0; i < f->wl->ops[o].n_dims; i++) {
    tf_ival *v = &r->now[f->dim_from[o] + i], before = *v;
    *v = inferred(r, o, i, n);
    if (r->inferred && !tf_slot_reduced(f, o, i)) r->inferred(r, o, i, n, before);
  }
}

/* Products of the trip counts from the node from which op o leads down to its leaf. */
static void start_steps(tf_ranges *r, int o) {
  const tf_facts *f = r->f;
  const tf_tree *t = f->tree;
  int64_t *steps = &r->steps[f->dim_from[o]], *all = &r->all[f->dim_from[o]];
  int n_dims = f->wl->ops[o].n_dims;
  for (int i = 0; i < n_dims; i++)
    steps[i] = 1;
  for (int n = t->op_node[o]; n != t->nodes[f->lead[o]].parent; n = t->nodes[n].parent)
    for (int k = 0; k < t->nodes[n].n_loops; k++) {
      int slot = tf_dim_slot(f, o, t->nodes[n].loops[k].dim);
      if (slot >= 0) steps[slot] *= t->nodes[n].loops[k].trip;
    }
  for (int i = 0; i < n_dims; i++)
    all[i] = steps[i];
}

/* Consumers first: leaves stand in the order of execution. */
static void enter(tf_ranges *r, int n) {
  const tf_facts *f = r->f;
  for (int k = f->leaf_end[n] - 1; k >= f->leaf_from[n]; k--) {
    int o = f->leaf_op[k];
    if (!tf_leads(f, o, n)) infer(r, o, n);
    if (f->lead[o] != n) continue;
    start_steps(r, o);
    if (r->led) r->led(r, o);
  }
  if (r->entered) r->entered(r, n);
}

/* Where the loop stands, as its first leading op sees it. */
static int64_t digit_of(const tf_ranges *r, int loop, int at, const tf_loop *l) {
  if (r->digits) return r->digits[loop];
  if (r->forced == loop) return 1;
  bool outermost = r->steps[at] == r->all[at];
  if (!r->middle || (!r->inner && !outermost)) return 0;
  int64_t step = r->steps[at] / l->trip, len = r->now[at].len;
  bool early = outermost ? r->early != (l->dim == r->other) : r->inner == 1;
  return len <= 0 ? 0 : ((len - 1) / step + !early) / 2;
}

/* Splits the ranges of the ops that lead below Tile n by its k-th loop. */
static void split(tf_ranges *r, int n, int k) {
  const tf_facts *f = r->f;
  const tf_loop *l = &f->tree->nodes[n].loops[k];
  int64_t digit = -1, first = 0;
  for (int j = f->leaf_from[n]; j < f->leaf_end[n]; j++) {
    int o = f->leaf_op[j], slot = tf_dim_slot(f, o, l->dim);
    if (slot < 0 || !tf_leads(f, o, n)) continue;
    int at = f->dim_from[o] + slot;
    if (digit < 0) digit = digit_of(r, f->loop_from[n] + k, at, l);
    int64_t step = r->steps[at] /= l->trip, len = r->now[at].len;
    r->clash |= first && step != first;
    first = step;
    bool past = len <= 0 || (len - 1) / step < digit;
    int64_t rest = past ? 0 : len - digit * step;
    if (!past) r->now[at].lo += digit * step;
    r->now[at].len = rest < step ? rest : step;
  }
}

void tf_ranges_walk(tf_ranges *r, int node) {
  const tf_node *n = &r->f->tree->nodes[node];
  enter(r, node);
  for (int k = 0; n->kind == TF_TILE && k < n->n_loops; k++)
    if (n->loops[k].trip > 1) split(r, node, k);
  for (int i = 0; i < n->n_children; i++)
    tf_ranges_walk(r, n->children[i]);
}

void tf_ranges_reset(tf_ranges *r) {
  const tf_workload *wl = r->f->wl;
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_dims; i++)
      r->now[r->f->dim_from[o] + i] = (tf_ival){0, wl->dims[wl->ops[o].dims[i]].extent};
}

bool tf_ranges_init(tf_ranges *r, tf_arena *a, const tf_facts *f) {
  size_t n = (size_t)f->n_dims;
  *r = (tf_ranges){.f = f, .forced = -1, .other = -1};
  r->now = TF_ARRAY(a, tf_ival, n);
  r->steps = TF_ARRAY(a, int64_t, n);
  r->all = TF_ARRAY(a, int64_t, n);
  if (!r->now || !r->steps || !r->all) return false;
  tf_ranges_reset(r);
  return true;
}
