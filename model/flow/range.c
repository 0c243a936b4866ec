/* Ranges by bounds inference, top down, at one setting of the loops: an op that leads splits the
 * range that enters it, loop by loop; any other op computes what its readers below the node read.
 * The same recursion on sets of loops instead of intervals gives the loops on which a range depends
 * (the masks); on steps of one loop, how far that loop moves a range. */
#include <string.h>

#include "base/checked.h"
#include "model/flow/apart.h"
#include "model/flow/range_memo.h"
#include "model/input/dims.h"

static tf_ival dim_range(const tf_eval *ev, int o, int d, int n, const int64_t *dg);
static uint64_t dim_mask(const tf_plan *p, int o, int d, int n);
static tf_range_shift dim_shift(const tf_plan *p, int o, int d, int n, int k);

static tf_ival index_range(const tf_eval *ev, int o, const tf_index *ix, int n, const int64_t *dg) {
  tf_ival v = {ix->c, 1};
  for (int i = 0; i < ix->n_terms; i++) {
    tf_ival d = dim_range(ev, o, ix->terms[i].dim, n, dg);
    if (d.len <= 0) return (tf_ival){v.lo, 0};
    v = tf_index_plus(v, ix->terms[i].coef, d);
  }
  return v;
}

static bool op_idle(const tf_eval *ev, int o, int n, const int64_t *dg);

/* Whether ops below n, where op o does not lead, have work that reads what it makes. */
static bool has_reader(const tf_eval *ev, int o, int n, const int64_t *dg) {
  const tf_plan *p = ev->plan;
  const tf_tensor *z = &p->wl->tensors[p->wl->ops[o].out];
  bool any = false, known = false;
  tf_range_found *f = p->memo ? tf_memo_find(p, o, p->wl->n_dims, n, &known) : NULL;
  if (known) return f->asked;
  for (int i = 0; i < z->n_consumers && !any; i++)
    any = tf_plan_above(p, n, p->tree->op_node[z->consumers[i]]) &&
          !op_idle(ev, z->consumers[i], n, dg);
  if (!f) return any;
  f->asked = any;
  tf_memo_store(p, f, o, p->wl->n_dims, n);
  return any;
}

/* Whether somebody asks for the number that op o makes, which has no rank to tell it by: at the
 * innermost node from n outwards where it does not lead. */
static bool is_asked(const tf_eval *ev, int o, int n, const int64_t *dg) {
  const tf_plan *p = ev->plan;
  if (p->wl->ops[o].n_out_dims > 0) return true;
  while (n >= 0 && tf_plan_leads(p, o, n))
    n = p->tree->nodes[n].parent;
  if (n >= 0 && ev->made && ev->made[o] && n == p->home_scope[p->wl->ops[o].out])
    return ev->made[o]->len > 0;
  return n < 0 || has_reader(ev, o, n, dg);
}

static bool op_idle(const tf_eval *ev, int o, int n, const int64_t *dg) {
  const tf_op *op = &ev->plan->wl->ops[o];
  if (!is_asked(ev, o, n, dg)) return true;
  for (int i = 0; i < op->n_dims; i++)
    if (dim_range(ev, o, op->dims[i], n, dg).len <= 0) return true;
  return false;
}

/* The range that the touch reads or writes along rank r, ignoring borders. */
static tf_ival read_rank(const tf_eval *ev, tf_touch t, int r, int n, const int64_t *dg) {
  const tf_op *op = &ev->plan->wl->ops[t.op];
  bool idles = ev->exact || (ev->demand && ev->plan->made_in[t.op] >= 0);
  if (idles && !ev->whole && op_idle(ev, t.op, n, dg)) return (tf_ival){0, 0};
  if (t.ref < 0) return dim_range(ev, t.op, op->dims[r], n, dg);
  return index_range(ev, t.op, &op->reads[t.ref].index[r], n, dg);
}

static tf_ival touch_rank(const tf_eval *ev, tf_touch t, int r, int n, const int64_t *dg) {
  const tf_ival v = read_rank(ev, t, r, n, dg);
  if (ev->noclip || t.ref < 0) return v;
  return tf_clip(&ev->plan->wl->tensors[ev->plan->wl->ops[t.op].reads[t.ref].tensor], r, v);
}

tf_ival tf_touch_rank(const tf_eval *ev, tf_touch t, int r, int n, const int64_t *dg) {
  tf_memo_begin(ev->plan);
  return touch_rank(ev, t, r, n, dg);
}

bool tf_op_idle(const tf_eval *ev, int o, int n, const int64_t *dg) {
  tf_memo_begin(ev->plan);
  return op_idle(ev, o, n, dg);
}

bool tf_slice_touched(const tf_eval *ev, const tf_slice *s, const int64_t *dg) {
  for (int i = 0; i < s->n_touch; i++)
    if (!tf_op_idle(ev, s->touch[i].op, s->node, dg)) return true;
  return false;
}

tf_ival tf_slice_rank(const tf_eval *ev, const tf_slice *s, int r, const int64_t *dg) {
  tf_ival v = {0, 0};
  tf_memo_begin(ev->plan);
  for (int i = 0; i < s->n_touch; i++)
    v = tf_hull(v, touch_rank(ev, s->touch[i], r, s->node, dg));
  return v;
}

/* Whether touch t, which is outside of the tensor along rank r, adds nothing along other ranks:
 * some touch of the same op that is not outside has the same indices there. */
static bool is_covered(const tf_eval *ev, const tf_slice *s, tf_touch t, int r, const int64_t *dg) {
  const tf_op *op = &ev->plan->wl->ops[t.op];
  for (int i = 0; i < s->n_touch; i++) {
    const tf_touch by = s->touch[i];
    bool same = by.op == t.op && by.ref >= 0 && by.ref != t.ref;
    for (int k = 0; same && k < ev->plan->wl->tensors[s->tensor].rank; k++)
      same = k == r || tf_index_same(&op->reads[t.ref].index[k], &op->reads[by.ref].index[k]);
    if (same && touch_rank(ev, by, r, s->node, dg).len > 0) return true;
  }
  return false;
}

bool tf_slice_partly_outside(const tf_eval *ev, const tf_slice *s, int r, const int64_t *dg) {
  const tf_tensor *z = &ev->plan->wl->tensors[s->tensor];
  bool inside = false, outside = false;
  for (int i = 0; i < s->n_touch; i++)
    if (s->touch[i].ref < 0) return false; /* the producer makes all that the others read */
  if (s->n_touch < 2 || z->pad[r] == 0 || ev->noclip) return false;
  tf_memo_begin(ev->plan);
  for (int i = 0; i < s->n_touch; i++) {
    const tf_touch t = s->touch[i];
    if (touch_rank(ev, t, r, s->node, dg).len > 0)
      inside = true;
    else if (t.ref >= 0 &&
             index_range(ev, t.op, &ev->plan->wl->ops[t.op].reads[t.ref].index[r], s->node, dg)
                     .len > 0)
      outside |= !is_covered(ev, s, t, r, dg);
  }
  return inside && outside;
}

bool tf_slice_box(const tf_eval *ev, const tf_slice *s, const int64_t *dg, tf_ival *box) {
  const int rank = ev->plan->wl->tensors[s->tensor].rank;
  bool any = false;
  for (int r = 0; r < rank; r++)
    box[r] = (tf_ival){0, 0};
  tf_memo_begin(ev->plan);
  for (int i = 0; i < s->n_touch; i++) {
    tf_ival part[TF_MAX_RANK];
    bool empty = false;
    for (int r = 0; r < rank && !empty; r++) {
      part[r] = touch_rank(ev, s->touch[i], r, s->node, dg);
      empty = part[r].len <= 0;
    }
    for (int r = 0; r < rank && !empty; r++)
      box[r] = any ? tf_hull(box[r], part[r]) : part[r];
    any |= !empty;
  }
  return any;
}

/* The hull of what the consumers of o below node n read of its output rank r. */
static tf_ival demanded(const tf_eval *ev, int o, int r, int n, const int64_t *dg) {
  const tf_plan *p = ev->plan;
  tf_ival v = {0, 0};
  if (ev->made && ev->made[o] && n == p->home_scope[p->wl->ops[o].out]) return ev->made[o][r];
  const tf_tensor *z = &p->wl->tensors[p->wl->ops[o].out];
  TF_EACH_READ (p->facts, o, n, at) {
    const tf_ival one = read_rank(ev, (tf_touch){at.op, at.ref}, r, n, dg);
    v = tf_hull(v, ev->noclip || one.len <= 0 ? one : tf_asked(z, r, one));
  }
  return v;
}

/* Whether the range with which op o enters the node from which it leads moves from run to run. */
static bool moves_between_runs(const tf_eval *ev, int o, int d) {
  const tf_plan *p = ev->plan;
  const tf_path *path = &p->path[p->lead[o]];
  for (uint64_t at = p->base[o * p->wl->n_dims + d] & path->temporal; at; at &= at - 1)
    if (ev->trip[path->loops[__builtin_ctzll(at)]] > 1) return true;
  return false;
}

/* The union over all steps of the temporal loops further out for one instance: its part of each
 * step, from the first to the last.  If the range moves, any instance may get any part.  A loop
 * that stands leaves its part alone. */
static void split_over_run(const tf_eval *ev, int o, int l, int64_t digit, int64_t step,
                           tf_ival *v) {
  const tf_ploop *loop = &ev->plan->loops[l];
  const bool stands = ev->stand && ev->stand[l];
  if ((!stands && (loop->axis == TF_TEMPORAL || ev->over == TF_UNION_ALL)) || v->len <= 0 ||
      moves_between_runs(ev, o, loop->dim))
    return;
  const int64_t from = digit * step, left = v->len - from;
  v->lo += from;
  v->len = left <= 0     ? 0
           : !stands     ? tf_instance_part(left, ev->trip[l], step)
           : left < step ? left
                         : step;
}

/* The part of op o's range v that loop l leaves at its digit. */
static void split(const tf_eval *ev, int o, int l, const int64_t *dg, tf_ival *v) {
  const int64_t step = ev->step[o * ev->plan->n_loops + l], rest = v->len - dg[l] * step;
  if (ev->over) {
    split_over_run(ev, o, l, dg[l], step, v);
    return;
  }
  v->lo += dg[l] * step;
  v->len = ev->whole || rest > step ? step : rest > 0 ? rest : 0;
}

/* The most that a chain which begins with loop l can cover of a range: less than a range that
 * reaches beyond a border. */
static void cover(const tf_eval *ev, int o, int l, tf_ival *v) {
  const int64_t all = tf_sat_mul(ev->trip[l], ev->step[o * ev->plan->n_loops + l]);
  if (ev->plan->cuts && !moves_between_runs(ev, o, ev->plan->loops[l].dim) && v->len > all)
    v->len = all;
}

/* Range of op o (which leads at node n) after the loops of n's path. */
static tf_ival led(const tf_eval *ev, int o, int d, int n, const int64_t *dg) {
  const tf_plan *p = ev->plan;
  int lead = p->lead[o], up = p->tree->nodes[lead].parent;
  tf_ival v = up < 0 ? (tf_ival){0, p->wl->dims[d].extent} : dim_range(ev, o, d, up, dg);
  const tf_path *path = &p->path[n];
  bool first = ev->over != TF_UNION_NONE;
  const int from = p->path[lead].n;
  uint64_t left = from < TF_MAX_PATH ? p->over[n * p->wl->n_dims + d] >> from << from : 0;
  for (; left; left &= left - 1) {
    const int l = path->loops[__builtin_ctzll(left)];
    if (first) cover(ev, o, l, &v);
    first = false;
    split(ev, o, l, dg, &v);
  }
  return v;
}

static tf_ival found_range(const tf_eval *ev, int o, int d, int n, const int64_t *dg) {
  const tf_plan *p = ev->plan;
  const tf_range_from from = tf_range_source(p->facts, o, d, n);
  switch (from.rule) {
  case TF_BY_LOOPS: return led(ev, o, d, n, dg);
  case TF_BY_READERS: return demanded(ev, o, from.source, n, dg);
  case TF_BY_LEADER: return dim_range(ev, from.source, d, n, dg);
  case TF_BY_EXTENT: break;
  }
  return (tf_ival){0, p->wl->dims[d].extent};
}

/* The cache entry of a range; NULL: it may not be cached, or there is no room. */
static tf_range_kept *kept_at(const tf_eval *ev, int o, int d, int n) {
  const tf_plan *p = ev->plan;
  tf_range_keep *keep = ev->keep;
  if (!keep || !keep->room || ev->exact || ev->demand || ev->over || ev->made) return NULL;
  int *at = &keep->entry_of[(n * p->wl->n_ops + o) * p->wl->n_dims + d];
  if (*at) return keep->kept[*at - 1].n < 0 ? NULL : &keep->kept[*at - 1];
  if (keep->n == keep->room) return NULL;
  tf_range_kept *k = &keep->kept[keep->n];
  *at = ++keep->n;
  for (uint64_t left = dim_mask(p, o, d, n); left; left &= left - 1) {
    if (k->n == TF_KEEP_LOOPS) k->n = -1;
    if (k->n < 0) return NULL;
    k->loop[k->n++] = p->path[n].loops[__builtin_ctzll(left)];
  }
  return k;
}

static tf_ival kept_range(const tf_eval *ev, int o, int d, int n, const int64_t *dg) {
  tf_range_kept *k = kept_at(ev, o, d, n);
  if (!k) return found_range(ev, o, d, n, dg);
  bool holds = k->since == ev->keep->evaluation && k->noclip == ev->noclip && k->whole == ev->whole;
  for (int i = 0; holds && i < k->n; i++)
    holds = dg[k->loop[i]] == k->digit[i];
  if (holds) return k->range;
  k->range = found_range(ev, o, d, n, dg);
  k->since = ev->keep->evaluation;
  k->noclip = ev->noclip;
  k->whole = ev->whole;
  for (int i = 0; i < k->n; i++)
    k->digit[i] = dg[k->loop[i]];
  return k->range;
}

static tf_ival dim_range(const tf_eval *ev, int o, int d, int n, const int64_t *dg) {
  if (!ev->plan->memo) return kept_range(ev, o, d, n, dg);
  bool known;
  tf_range_found *f = tf_memo_find(ev->plan, o, d, n, &known);
  if (known) return f->range;
  tf_ival v = found_range(ev, o, d, n, dg);
  f->range = v;
  tf_memo_store(ev->plan, f, o, d, n);
  return v;
}

tf_ival tf_dim_range(const tf_eval *ev, int o, int d, int n, const int64_t *dg) {
  tf_memo_begin(ev->plan);
  return dim_range(ev, o, d, n, dg);
}

tf_ival tf_split_range(const tf_eval *ev, int o, int l, const int64_t *dg) {
  const tf_plan *p = ev->plan;
  const tf_ploop *pl = &p->loops[l];
  tf_memo_begin(p);
  tf_ival v = led(ev, o, pl->dim, pl->node, dg);
  for (int k = p->first_loop[pl->node]; k < p->first_loop[pl->node] + pl->slot; k++)
    if (p->loops[k].dim == pl->dim) split(ev, o, k, dg, &v);
  return v;
}

tf_ival tf_loop_range(const tf_eval *ev, int n, int l, const int64_t *dg) {
  return tf_split_range(ev, tf_loop_op(ev, n, l), l, dg);
}

static int64_t nonempty_steps_of(const tf_eval *ev, int o, int l, const int64_t *dg) {
  const int64_t step = ev->step[o * ev->plan->n_loops + l];
  const int64_t n = (tf_split_range(ev, o, l, dg).len + step - 1) / step;
  return n < 1 ? 1 : n < ev->trip[l] ? n : ev->trip[l];
}

int64_t tf_nonempty_steps(const tf_eval *ev, int n, int l, const int64_t *dg) {
  return nonempty_steps_of(ev, tf_loop_op(ev, n, l), l, dg);
}

int64_t tf_most_steps(const tf_eval *ev, int l, const int64_t *dg) {
  const tf_ploop *loop = &ev->plan->loops[l];
  int64_t most = 1;
  for (int i = 0; i < loop->n_leader; i++) {
    const int64_t steps = nonempty_steps_of(ev, loop->leaders[i], l, dg);
    most = steps > most ? steps : most;
  }
  return most;
}

void tf_last_steps(const tf_eval *ev, int n, int64_t *dg) {
  const tf_path *path = &ev->plan->path[n];
  memset(dg, 0, (size_t)ev->plan->n_loops * sizeof *dg);
  for (int k = 0; k < path->n; k++) {
    dg[path->loops[k]] = tf_most_steps(ev, path->loops[k], dg) - 1;
  }
}

int64_t tf_last_setting(tf_eval *ev, int n, int k, uint64_t mask, const int64_t *dg) {
  const tf_path *path = &ev->plan->path[n];
  int l = path->loops[k];
  int64_t rest = tf_loop_range(ev, n, l, dg).len - 1;
  for (int j = k + 1; j < path->n; j++)
    if (mask >> j & 1 && ev->plan->loops[path->loops[j]].axis != TF_TEMPORAL &&
        tf_plan_same_chain(ev->plan, l, path->loops[j]))
      rest -= dg[path->loops[j]] * tf_step(ev, n, path->loops[j]);
  if (rest < 0) {
    ev->irregular = true;
    return 0;
  }
  return rest / tf_step(ev, n, l);
}

int64_t tf_instance_part(int64_t len, int64_t trip, int64_t step) {
  if (trip <= 1 || len <= 0) return len;
  int64_t before = (len - 1) / (trip * step) * trip *
                   step; /* full rounds over the instances, without the last one */
  return before + (step < len - before ? step : len - before);
}

static uint64_t index_mask(const tf_plan *p, int o, const tf_index *ix, int n) {
  uint64_t mask = 0;
  for (int t = 0; t < ix->n_terms; t++)
    mask |= dim_mask(p, o, ix->terms[t].dim, n);
  return mask;
}

static uint64_t demand_mask(const tf_plan *p, int o, int r, int n) {
  uint64_t mask = 0;
  TF_EACH_READ (p->facts, o, n, at)
    mask |= index_mask(p, at.op, &p->wl->ops[at.op].reads[at.ref].index[r], n);
  return mask;
}

static uint64_t base_mask(const tf_plan *p, int o, int d) {
  int up = p->tree->nodes[p->lead[o]].parent;
  return up < 0 ? 0 : dim_mask(p, o, d, up);
}

static uint64_t led_mask(const tf_plan *p, int o, int d, int n) {
  uint64_t mask = base_mask(p, o, d);
  for (int k = p->path[p->lead[o]].n; k < p->path[n].n; k++)
    if (p->loops[p->path[n].loops[k]].dim == d) mask |= UINT64_C(1) << k;
  return mask;
}

static uint64_t found_mask(const tf_plan *p, int o, int d, int n) {
  const tf_range_from from = tf_range_source(p->facts, o, d, n);
  switch (from.rule) {
  case TF_BY_LOOPS: return led_mask(p, o, d, n);
  case TF_BY_READERS:
    if (p->made_mask[o] && n == p->home_scope[p->wl->ops[o].out]) return p->made_mask[o];
    return demand_mask(p, o, from.source, n);
  case TF_BY_LEADER: return dim_mask(p, from.source, d, n);
  case TF_BY_EXTENT: break;
  }
  return 0;
}

static uint64_t dim_mask(const tf_plan *p, int o, int d, int n) {
  if (!p->memo) return found_mask(p, o, d, n);
  bool known;
  tf_range_found *f = tf_memo_find(p, o, d, n, &known);
  if (known) return f->mask;
  uint64_t mask = found_mask(p, o, d, n);
  f->mask = mask;
  tf_memo_store(p, f, o, d, n);
  return mask;
}

uint64_t tf_dim_mask(const tf_plan *p, int o, int d, int n) {
  tf_memo_begin(p);
  return dim_mask(p, o, d, n);
}

uint64_t tf_base_mask(const tf_plan *p, int o, int d) {
  tf_memo_begin(p);
  return base_mask(p, o, d);
}

uint64_t tf_demand_mask(const tf_plan *p, int o, int r, int n) {
  tf_memo_begin(p);
  return demand_mask(p, o, r, n);
}

uint64_t tf_slice_mask(const tf_plan *p, const tf_slice *s, int r) {
  uint64_t mask = 0;
  tf_memo_begin(p);
  for (int i = 0; i < s->n_touch; i++) {
    const tf_op *op = &p->wl->ops[s->touch[i].op];
    if (s->touch[i].ref < 0) {
      mask |= dim_mask(p, s->touch[i].op, op->dims[r], s->node);
      continue;
    }
    mask |= index_mask(p, s->touch[i].op, &op->reads[s->touch[i].ref].index[r], s->node);
  }
  return mask;
}

static tf_range_shift index_shift(const tf_plan *p, int o, const tf_index *ix, int n, int k) {
  tf_range_shift all = {0, false};
  for (int t = 0; t < ix->n_terms; t++) {
    const tf_range_shift d = dim_shift(p, o, ix->terms[t].dim, n, k);
    int64_t by;
    all.mixed |= d.mixed || __builtin_mul_overflow(ix->terms[t].coef, d.distance, &by) ||
                 __builtin_add_overflow(all.distance, by, &all.distance);
  }
  return all;
}

/* The shift of the hull of those in `all` and of one more. */
static void add_shift(tf_range_shift *all, tf_range_shift one, bool first) {
  if (first)
    *all = one;
  else
    all->mixed |= one.mixed || one.distance != all->distance;
}

static tf_range_shift demand_shift(const tf_plan *p, int o, int r, int n, int k) {
  tf_range_shift all = {0, false};
  bool first = true;
  TF_EACH_READ (p->facts, o, n, at) {
    add_shift(&all, index_shift(p, at.op, &p->wl->ops[at.op].reads[at.ref].index[r], n, k), first);
    first = false;
  }
  return all;
}

static tf_range_shift led_shift(const tf_plan *p, int o, int d, int n, int k) {
  const int up = p->tree->nodes[p->lead[o]].parent;
  if (k >= p->path[p->lead[o]].n)
    return (tf_range_shift){p->loops[p->path[n].loops[k]].dim == d, false};
  return up < 0 ? (tf_range_shift){0, false} : dim_shift(p, o, d, up, k);
}

static tf_range_shift found_shift(const tf_plan *p, int o, int d, int n, int k) {
  const tf_range_from from = tf_range_source(p->facts, o, d, n);
  switch (from.rule) {
  case TF_BY_LOOPS: return led_shift(p, o, d, n, k);
  case TF_BY_READERS: return demand_shift(p, o, from.source, n, k);
  case TF_BY_LEADER: return dim_shift(p, from.source, d, n, k);
  case TF_BY_EXTENT: break;
  }
  return (tf_range_shift){0, false};
}

static tf_range_shift dim_shift(const tf_plan *p, int o, int d, int n, int k) {
  if (!p->memo) return found_shift(p, o, d, n, k);
  bool known;
  tf_range_found *f = tf_memo_find(p, o, d, n, &known);
  if (known) return f->shift;
  const tf_range_shift shift = found_shift(p, o, d, n, k);
  f->shift = shift;
  tf_memo_store(p, f, o, d, n);
  return shift;
}

static tf_range_shift slice_shift(const tf_plan *p, const tf_slice *s, int r, int k) {
  tf_range_shift all = {0, false};
  tf_memo_begin(p);
  for (int i = 0; i < s->n_touch; i++) {
    const int o = s->touch[i].op, ref = s->touch[i].ref;
    const tf_op *op = &p->wl->ops[o];
    add_shift(&all,
              ref < 0 ? dim_shift(p, o, op->dims[r], s->node, k)
                      : index_shift(p, o, &op->reads[ref].index[r], s->node, k),
              i == 0);
  }
  return all;
}

bool tf_slice_moved(const tf_plan *p, const tf_slice *s, int r, int k) {
  const tf_range_shift all = slice_shift(p, s, r, k);
  return all.distance || all.mixed;
}

bool tf_slice_pulled(const tf_plan *p, const tf_slice *s, int r, int k) {
  return slice_shift(p, s, r, k).mixed;
}

int tf_apart_op(const tf_eval *ev, int n, int l) {
  const tf_ploop *pl = &ev->plan->loops[l];
  return ev->apart->op[n * ev->apart->stride + ev->plan->path[pl->node].n + pl->slot];
}
