#include "model/tree/range.h"

/* Whether some range of op o is empty: then it does not run, and touches nothing. */
static bool is_idle(const tf_ranges *r, int o) {
  const tf_ival *now = &r->range[r->f->dim_from[o]];
  for (int i = 0; i < r->f->wl->ops[o].n_dims; i++)
    if (now[i].len <= 0) return true;
  return false;
}

/* The interval that op o reads along one index. */
static tf_ival index_span(const tf_ranges *r, int o, const tf_index *x) {
  tf_ival v = {x->c, 1};
  for (int i = 0; i < x->n_terms; i++) {
    int at = r->f->dim_from[o] + tf_dim_slot(r->f, o, x->terms[i].dim);
    if (r->range[at].len <= 0) return (tf_ival){0, 0};
    v = tf_index_plus(v, x->terms[i].coef, r->range[at]);
  }
  return v;
}

/* The interval of rank k of op o's output that the ops below node n read. */
static tf_ival demanded(const tf_ranges *r, int o, int k, int n) {
  const tf_workload *wl = r->f->wl;
  const tf_tensor *z = &wl->tensors[wl->ops[o].out];
  tf_ival v = {0, 0};
  TF_EACH_READ (r->f, o, n, at) {
    const tf_ref *ref = &wl->ops[at.op].reads[at.ref];
    if (!r->per_dim && is_idle(r, at.op)) continue;
    const tf_ival read = index_span(r, at.op, &ref->index[k]);
    v = tf_hull(v, r->borderless || read.len <= 0 ? read : tf_asked(z, k, read));
  }
  return v;
}

/* ---- how far loops move a range ------------------------------------------------------------- */
void tf_index_shift(const tf_ranges *r, int o, const tf_index *x, tf_shift *s) {
  s->mask = 0;
  s->mixed = s->bent = false;
  for (int i = 0; i < x->n_terms; i++) {
    const tf_shift *d = &r->shift[r->f->dim_from[o] + tf_dim_slot(r->f, o, x->terms[i].dim)];
    s->mixed |= d->mixed;
    s->bent |= d->bent;
    for (uint64_t left = d->mask; left; left &= left - 1) {
      int k = __builtin_ctzll(left);
      int64_t by;
      if (!(s->mask >> k & 1)) s->per_step[k] = 0;
      s->mask |= UINT64_C(1) << k;
      s->mixed |= __builtin_mul_overflow(d->per_step[k], (int64_t)x->terms[i].coef, &by);
      s->mixed |= __builtin_add_overflow(s->per_step[k], by, &s->per_step[k]);
    }
  }
}

uint64_t tf_shifts_part(const tf_shift *a, const tf_shift *b) {
  uint64_t apart = a->mixed || b->mixed ? a->mask | b->mask : 0;
  for (uint64_t left = (a->mask | b->mask) & ~apart; left; left &= left - 1) {
    int k = __builtin_ctzll(left);
    if ((a->mask >> k & 1 ? a->per_step[k] : 0) != (b->mask >> k & 1 ? b->per_step[k] : 0))
      apart |= UINT64_C(1) << k;
  }
  return apart;
}

/* The least length of the i-th range of op o at any setting below node n, of ranges that are not
 * empty: that of what no loop has split; of others one element. */
static int64_t least_length(const tf_ranges *r, int o, int i, int n) {
  const int at = r->f->dim_from[o] + i;
  const int rule = (int)tf_range_source(r->f, o, r->f->wl->ops[o].dims[i], n).rule;
  const bool whole = rule == TF_BY_EXTENT || (rule == TF_BY_LOOPS && r->f->lead[o] == 0);
  return whole && !r->shift[at].mask && !r->shift[at].mixed ? r->range[at].len : 1;
}

/* Whether the read of a tensor that is padded by `pad` may be in the padding alone. */
static bool may_miss(const tf_ranges *r, int o, const tf_index *x, int64_t pad, int n) {
  int64_t least = 1;
  for (int i = 0; i < x->n_terms && least <= pad; i++) {
    const int64_t by = x->terms[i].coef;
    const int slot = tf_dim_slot(r->f, o, x->terms[i].dim);
    least += (by < 0 ? -by : by) * (least_length(r, o, slot, n) - 1);
  }
  return least <= pad;
}

/* The same for all that the ops below node n read of rank k of op o's output.  Where one read of
 * several is bent, the hull may be longer than without borders, as if they moved unlike. */
static void demanded_shift(tf_ranges *r, int o, int k, int n) {
  const tf_workload *wl = r->f->wl;
  const int64_t pad = wl->tensors[wl->ops[o].out].pad[k];
  tf_shift *all = &r->shift[r->f->dim_from[o] + k], one;
  bool first = true, several = false, misses = false;
  TF_EACH_READ (r->f, o, n, at) {
    const tf_index *x = &wl->ops[at.op].reads[at.ref].index[k];
    tf_index_shift(r, at.op, x, first ? all : &one);
    misses |= pad > 0 && may_miss(r, at.op, x, pad, n);
    if (!first) {
      several = true;
      all->bent |= one.bent;
      all->mixed |= one.mixed || tf_shifts_part(all, &one);
      all->mask |= one.mask; /* per_step is not used where it is mixed */
    }
    first = false;
  }
  all->mixed |= several && all->bent;
  all->bent |= misses;
}

/* Notes that the k-th loop on the way down moves a range by a step. */
static void add_shift(tf_shift *s, int k, int64_t step) {
  if (k >= TF_SHIFT_LOOPS) {
    s->mixed = true;
    return;
  }
  s->mask |= UINT64_C(1) << k;
  s->per_step[k] = step;
}

/* ---- inference ------------------------------------------------------------------------------ */

/* The range of the i-th dim of op o, which does not lead at node n. */
static tf_ival inferred(tf_ranges *r, int o, int i, int n) {
  const tf_facts *f = r->f;
  int d = f->wl->ops[o].dims[i];
  const tf_range_from source = tf_range_source(f, o, d, n);
  switch (source.rule) {
  case TF_BY_READERS:
    if (r->shift) demanded_shift(r, o, i, n);
    return demanded(r, o, i, n);
  case TF_BY_LEADER: {
    int slot = tf_dim_slot(f, source.source, d),
        from = slot >= 0 ? f->dim_from[source.source] + slot : f->dim_from[o] + i;
    if (r->shift) r->shift[f->dim_from[o] + i] = r->shift[from];
    return r->range[from];
  }
  case TF_BY_LOOPS:
  case TF_BY_EXTENT: break;
  }
  return r->range[f->dim_from[o] + i];
}

static void infer(tf_ranges *r, int o, int n) {
  const tf_facts *f = r->f;
  for (int i = 0; i < f->wl->ops[o].n_dims; i++) {
    tf_ival *v = &r->range[f->dim_from[o] + i], before = *v;
    *v = inferred(r, o, i, n);
    if (r->inferred && !tf_slot_reduced(f, o, i)) r->inferred(r, o, i, n, before);
  }
}

static int64_t trip_of(const tf_ranges *r, int n, int k) {
  return r->trips ? r->trips[r->f->loop_from[n] + k] : r->f->tree->nodes[n].loops[k].trip;
}

/* Products of the trip counts from the node from which op o leads down to its leaf. */
static void start_steps(tf_ranges *r, int o) {
  const tf_facts *f = r->f;
  const tf_tree *t = f->tree;
  int64_t *steps = &r->steps[f->dim_from[o]], *all = &r->lead_steps[f->dim_from[o]];
  int n_dims = f->wl->ops[o].n_dims;
  for (int i = 0; i < n_dims; i++)
    steps[i] = r->rest ? r->rest[f->dim_from[o] + i] : 1;
  for (int n = t->op_node[o]; n != t->nodes[f->lead[o]].parent; n = t->nodes[n].parent)
    for (int k = 0; k < t->nodes[n].n_loops; k++) {
      int slot = tf_dim_slot(f, o, t->nodes[n].loops[k].dim);
      if (slot >= 0) steps[slot] *= trip_of(r, n, k);
    }
  for (int i = 0; i < n_dims; i++)
    all[i] = steps[i];
}

/* Consumers come first here: leaves are in the order of execution. */
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

/* The setting of the loop. */
static int64_t digit_of(const tf_ranges *r, int loop) {
  return r->digits ? r->digits[loop] : r->forced == loop;
}

/* Splits the ranges of the ops that lead below Tile n by its k-th loop. */
static void split(tf_ranges *r, int n, int k) {
  const tf_facts *f = r->f;
  const tf_loop *l = &f->tree->nodes[n].loops[k];
  int64_t digit = digit_of(r, f->loop_from[n] + k), trip = trip_of(r, n, k);
  for (int j = f->leaf_from[n]; j < f->leaf_end[n]; j++) {
    int o = f->leaf_op[j], slot = tf_dim_slot(f, o, l->dim);
    if (slot < 0 || !tf_leads(f, o, n)) continue;
    int at = f->dim_from[o] + slot;
    int64_t step = r->steps[at] /= trip, len = r->range[at].len;
    bool past = len <= 0 || (len - 1) / step < digit;
    int64_t rest = past ? 0 : len - digit * step;
    if (!past) r->range[at].lo += digit * step;
    r->range[at].len = rest < step ? rest : step;
    if (r->shift) add_shift(&r->shift[at], r->depth + k, step);
  }
}

/* Applies the loops of a node. */
static void pass(tf_ranges *r, int node) {
  const tf_node *n = &r->f->tree->nodes[node];
  for (int k = 0; n->kind == TF_TILE && k < n->n_loops; k++)
    if (trip_of(r, node, k) > 1) split(r, node, k);
  r->depth += n->kind == TF_TILE ? n->n_loops : 0;
}

void tf_ranges_walk(tf_ranges *r, int node) {
  const tf_node *n = &r->f->tree->nodes[node];
  int depth = r->depth;
  enter(r, node);
  pass(r, node);
  for (int i = 0; i < n->n_children; i++)
    tf_ranges_walk(r, n->children[i]);
  r->depth = depth;
}

void tf_ranges_towards(tf_ranges *r, int to) {
  int n = 0;
  for (enter(r, n); n != to; enter(r, n)) {
    pass(r, n);
    n = tf_child_towards(r->f, n, to);
  }
  r->depth = 0;
}

void tf_ranges_reset(tf_ranges *r) {
  const tf_workload *wl = r->f->wl;
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_dims; i++)
      r->range[r->f->dim_from[o] + i] = (tf_ival){0, wl->dims[wl->ops[o].dims[i]].extent};
  for (int at = 0; r->shift && at < r->f->n_dims; at++) {
    r->shift[at].mask = 0;
    r->shift[at].mixed = r->shift[at].bent = false;
  }
}

bool tf_ranges_init(tf_ranges *r, tf_arena *a, const tf_facts *f) {
  size_t n = (size_t)f->n_dims;
  *r = (tf_ranges){.f = f, .forced = -1};
  r->range = TF_ARRAY(a, tf_ival, n);
  r->steps = TF_ARRAY(a, int64_t, n);
  r->lead_steps = TF_ARRAY(a, int64_t, n);
  if (!r->range || !r->steps || !r->lead_steps) return false;
  tf_ranges_reset(r);
  return true;
}
