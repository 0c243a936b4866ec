#include "model/flow/apart.h"
#include "model/flow/range_memo.h"

enum { MOST_LEADERS = 64 };

static int position(const tf_plan *p, int l) {
  return p->path[p->loops[l].node].n + p->loops[l].slot;
}

/* The entry of the arrays for node n and loop l above it. */
static size_t entry(const tf_eval *ev, int n, int l) {
  return (size_t)n * (size_t)ev->apart->stride + (size_t)position(ev->plan, l);
}

/* How far loop l moves op o. */
static int64_t step_of(const tf_eval *ev, int o, int l) {
  return ev->step[o * ev->plan->n_loops + l];
}

/* ---- which ops act -------------------------------------------------------------------------- */

/* Fills `of`: of each op below loop l's node, the loop's leaders of which it computes: itself, or
 * those that read what it makes. */
static void find_readers(const tf_plan *p, int l, uint64_t *of) {
  const tf_ploop *pl = &p->loops[l];
  for (int i = p->wl->n_ops - 1; i >= 0; i--) {
    const int o = p->wl->topo[i];
    const tf_tensor *z = &p->wl->tensors[p->wl->ops[o].out];
    of[o] = 0;
    for (int k = 0; k < pl->n_leader; k++)
      of[o] |= pl->leaders[k] == o ? UINT64_C(1) << k : 0;
    const bool follows = !of[o] && tf_op_below(p->facts, o, pl->node);
    for (int c = 0; c < z->n_consumers && follows; c++)
      of[o] |= of[z->consumers[c]];
  }
}

static void find_acts(const tf_plan *p, int l, const uint64_t *of, tf_apart *x) {
  for (int n = p->loops[l].node; n < p->tree->nodes[p->loops[l].node].end; n++) {
    uint64_t *acts = &x->acts[(size_t)n * (size_t)x->stride + (size_t)position(p, l)];
    for (int o = 0; o < p->wl->n_ops; o++)
      *acts |= tf_op_below(p->facts, o, n) ? of[o] : 0;
  }
}

bool tf_shares_loops(const tf_plan *p) {
  for (int l = 0; l < p->n_loops; l++)
    if (p->loops[l].n_leader > 1) return true;
  return false;
}

tf_apart *tf_apart_new(tf_arena *a, const tf_plan *p) {
  tf_apart *x = TF_NEW(a, tf_apart);
  uint64_t *of = TF_ARRAY(a, uint64_t, (size_t)p->wl->n_ops);
  if (!x || !of) return NULL;
  for (int n = 0; n < p->tree->n_nodes; n++)
    x->stride = p->path[n].n > x->stride ? p->path[n].n : x->stride;
  const size_t n = (size_t)p->tree->n_nodes * (size_t)x->stride + 1;
  x->acts = TF_ARRAY(a, uint64_t, n);
  x->op = TF_ARRAY(a, int, n);
  x->mixed = TF_ARRAY(a, bool, (size_t)p->tree->n_nodes);
  if (!x->acts || !x->op || !x->mixed) return NULL;
  for (int l = 0; l < p->n_loops; l++) {
    if (p->loops[l].n_leader > MOST_LEADERS) continue;
    find_readers(p, l, of);
    find_acts(p, l, of, x);
  }
  return x;
}

/* ---- in an evaluation ----------------------------------------------------------------------- */

/* Whether loop l moves some ops by different steps. */
static bool unlike(const tf_eval *ev, int l) {
  const tf_ploop *pl = &ev->plan->loops[l];
  for (int i = 1; i < pl->n_leader && ev->trip[l] > 1; i++)
    if (step_of(ev, pl->leaders[i], l) != step_of(ev, pl->leaders[0], l)) return true;
  return false;
}

/* Sets the op of node n and loop l to the first of those that the loop moves least.  False: no op
 * that acts there tells by which steps. */
static bool set_op(tf_eval *ev, int n, int l) {
  const tf_ploop *pl = &ev->plan->loops[l];
  int *op = &ev->apart->op[entry(ev, n, l)];
  uint64_t left = ev->apart->acts[entry(ev, n, l)];
  *op = pl->op;
  if (!left) return !unlike(ev, l);
  *op = pl->leaders[__builtin_ctzll(left)];
  for (left &= left - 1; left; left &= left - 1) {
    const int o = pl->leaders[__builtin_ctzll(left)];
    ev->apart->mixed[n] |= ev->trip[l] > 1 && step_of(ev, o, l) != step_of(ev, *op, l);
    if (step_of(ev, o, l) < step_of(ev, *op, l)) *op = o;
  }
  return true;
}

/* Whether op o acts in loop l at node n; least: and the loop moves no other there by less. */
static bool acts(const tf_eval *ev, int n, int l, int o, bool least) {
  const tf_ploop *pl = &ev->plan->loops[l];
  for (uint64_t left = ev->apart->acts[entry(ev, n, l)]; left; left &= left - 1)
    if (pl->leaders[__builtin_ctzll(left)] == o)
      return !least || step_of(ev, o, l) == step_of(ev, tf_apart_op(ev, n, l), l);
  return false;
}

bool tf_one_longest(const tf_eval *ev, int n) {
  const tf_plan *p = ev->plan;
  const tf_path *path = &p->path[n];
  for (int o = 0; o < p->wl->n_ops; o++) {
    bool all = true;
    for (int k = 0; k < path->n && all; k++)
      all = ev->trip[path->loops[k]] <= 1 || acts(ev, n, path->loops[k], o, true);
    if (all) return true;
  }
  return false;
}

int tf_apart_ops(const tf_eval *ev, int n, int *ops) {
  const tf_plan *p = ev->plan;
  const tf_path *path = &p->path[n];
  int count = 0;
  for (int o = 0; o < p->wl->n_ops; o++) {
    int in = 0, loops = 0;
    for (int k = 0; k < path->n; k++) {
      if (ev->trip[path->loops[k]] <= 1) continue;
      loops++;
      in += acts(ev, n, path->loops[k], o, false);
    }
    if (!in) continue;
    if (in != loops || count == TF_MOST_APART) return 0;
    ops[count++] = o;
  }
  return count;
}

void tf_apart_take(tf_eval *ev, int n, const int *ops, unsigned with) {
  const tf_path *path = &ev->plan->path[n];
  for (int k = 0; k < path->n; k++) {
    const int l = path->loops[k];
    if (!with) set_op(ev, n, l);
    if (!with || ev->trip[l] <= 1) continue;
    int *op = &ev->apart->op[entry(ev, n, l)];
    *op = ops[__builtin_ctz(with)];
    for (unsigned left = with & (with - 1); left; left &= left - 1)
      if (step_of(ev, ops[__builtin_ctz(left)], l) > step_of(ev, *op, l))
        *op = ops[__builtin_ctz(left)];
  }
}

/* ---- whether branches are apart ------------------------------------------------------------- */

/* Whether child b of mixed scope q has points whenever child a has. */
static bool outlasts(const tf_eval *ev, int q, int a, int b) {
  const tf_path *path = &ev->plan->path[q];
  bool all = !tf_mixed_at(ev, a) && !tf_mixed_at(ev, b);
  for (int k = 0; k < path->n && all; k++) {
    const int l = path->loops[k];
    all = ev->trip[l] <= 1 ||
          (ev->apart->acts[entry(ev, b, l)] && tf_step(ev, b, l) <= tf_step(ev, a, l));
  }
  return all;
}

/* Whether mixed Seq q drops what slice s would find in class c of its entries at all of them: none
 * of the other children has a part of it, and one of them outlasts its own. */
static bool drops_always(const tf_eval *ev, const tf_slice *s, const tf_reuse_case *c) {
  const tf_plan *p = ev->plan;
  const tf_node *q = &p->tree->nodes[c->seq];
  if (c->top == c->seq || !tf_plan_above(p, c->seq, s->node)) return false;
  const int own = tf_child_towards(p->facts, c->seq, s->node);
  bool any = false;
  for (int i = 0; i < q->n_children; i++) {
    const int other = q->children[i];
    if (other == own) continue;
    if (tf_node_touches(p->facts, other, s->tensor)) return false;
    any |= outlasts(ev, c->seq, own, other);
  }
  return any;
}

/* Whether loop l splits the range along rank r of the slice's only reference into tiles. */
static bool tiles(const tf_plan *p, const tf_slice *s, int r, int l) {
  const tf_touch t = s->touch[0];
  const tf_op *op = &p->wl->ops[t.op];
  const tf_index *ix = t.ref < 0 ? NULL : &op->reads[t.ref].index[r];
  if (ix && ix->n_terms != 1) return false;
  const int d = ix ? ix->terms[0].dim : op->dims[r];
  return p->loops[l].dim == d && tf_plan_above(p, p->lead[t.op], p->loops[l].node) &&
         tf_range_source(p->facts, t.op, d, s->node).rule == TF_BY_LOOPS;
}

/* Whether entries in class c need another tile than those before, of which they would find
 * nothing. */
static bool finds_nothing(const tf_plan *p, const tf_slice *s, const tf_reuse_case *c) {
  bool any = false;
  for (int r = 0; r < p->wl->tensors[s->tensor].rank && c->stepping >= 0 && s->n_touch == 1; r++)
    any |= tiles(p, s, r, p->path[s->node].loops[c->stepping]);
  return any;
}

/* Whether what the slice's entries find depends on which children of a mixed Seq are active. */
static bool may_be_dropped(const tf_eval *ev, const tf_slice *s) {
  const tf_plan *p = ev->plan;
  for (int i = 0; i < s->n_class; i++) {
    const tf_reuse_case *c = &s->classes[i];
    if (c->stepping >= 0 && ev->trip[p->path[s->node].loops[c->stepping]] <= 1) continue;
    if (c->seq >= 0 && tf_mixed_at(ev, c->seq) && !finds_nothing(p, s, c) &&
        !drops_always(ev, s, c))
      return true;
  }
  return false;
}

/* Whether nothing at mixed node n depends on which op is active: no Tile holds a tensor that both
 * use. */
static bool may_mix(const tf_eval *ev, int n) {
  const tf_plan *p = ev->plan;
  int ops[TF_MOST_APART];
  bool ok = tf_one_longest(ev, n) || (!p->cuts && tf_apart_ops(ev, n, ops) > 0);
  for (int i = 0; i < p->n_tile_slices; i++)
    ok = ok && p->slices[i].node != n;
  for (int o = 0; o < p->wl->n_ops; o++)
    ok = ok && p->stream[o].node != n;
  return ok;
}

/* Whether the slice's entries find what a sibling left whose op advances by other steps. */
static bool finds_apart(const tf_eval *ev, const tf_slice *s) {
  const tf_plan *p = ev->plan;
  for (int c = 0; c < s->n_class; c++) {
    if (s->classes[c].prev < 0 || s->classes[c].common < 0) continue;
    const int from = p->slices[s->classes[c].prev].node;
    const tf_path *path = &p->path[s->classes[c].common];
    for (int k = 0; k < path->n; k++)
      if (ev->trip[path->loops[k]] > 1 &&
          tf_step(ev, s->node, path->loops[k]) != tf_step(ev, from, path->loops[k]))
        return true;
  }
  return false;
}

/* Whether several runs put slices of an intermediate into one memory at a mixed home. */
static bool brings(const tf_eval *ev, int z) {
  const tf_plan *p = ev->plan;
  const int home = p->home_scope[z];
  bool any = false;
  for (int k = 0; home >= 0 && k < p->path[home].n; k++)
    any |= ev->trip[p->path[home].loops[k]] > 1 && tf_plan_brings(p, z, p->path[home].loops[k]);
  return any && tf_mixed_at(ev, home);
}

/* Fills ev->mixed and ev->apart from ev->step; sets ev->irregular where branches are not apart. */
static void find_apart(tf_eval *ev) {
  const tf_plan *p = ev->plan;
  bool ok = ev->apart && !p->n_retains;
  ev->mixed = false;
  for (int l = 0; l < p->n_loops && !ev->mixed; l++)
    ev->mixed = unlike(ev, l);
  if (!ev->mixed) return;
  for (int l = 0; l < p->n_loops; l++)
    ok &= p->loops[l].n_leader <= MOST_LEADERS;
  ev->irregular |= !ok;
  ev->mixed = ev->apart != NULL;
  for (int n = 0; n < p->tree->n_nodes && ev->mixed; n++) {
    ev->apart->mixed[n] = false;
    for (int k = 0; k < p->path[n].n; k++)
      ok &= set_op(ev, n, p->path[n].loops[k]);
    ok = ok && (!ev->apart->mixed[n] || may_mix(ev, n));
  }
  for (int i = 0; i < p->n_tile_slices && ok; i++)
    ok = !finds_apart(ev, &p->slices[i]) && !may_be_dropped(ev, &p->slices[i]);
  for (int z = 0; z < p->wl->n_tensors && ok; z++)
    ok = !brings(ev, z);
  ev->irregular |= !ok;
}

/* Fills the steps of the loops that split op o. */
static bool op_steps(tf_eval *ev, int o) {
  const tf_plan *p = ev->plan;
  const tf_path *path = &p->path[p->tree->op_node[o]];
  int64_t *row = &ev->step[o * p->n_loops];
  for (int k = path->n - 1; k >= 0; k--) {
    row[path->loops[k]] = 1;
    for (int j = k + 1; j < path->n; j++)
      if (p->loops[path->loops[j]].dim == p->loops[path->loops[k]].dim &&
          __builtin_mul_overflow(row[path->loops[k]], ev->trip[path->loops[j]],
                                 &row[path->loops[k]]))
        return false;
  }
  return true;
}

bool tf_eval_steps(tf_eval *ev) {
  const tf_plan *p = ev->plan;
  tf_keep_forget(ev);
  for (int o = 0; o < p->wl->n_ops; o++)
    if (!op_steps(ev, o)) return false;
  for (int l = 0; l < p->n_loops; l++)
    ev->irregular |= p->loops[l].clash && ev->trip[l] > 1;
  find_apart(ev);
  return true;
}
