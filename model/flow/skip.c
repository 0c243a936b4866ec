#include "model/flow/skip.h"

#include <string.h>

#include "model/flow/kinds.h"
#include "model/flow/range_memo.h"

/* ---- facts of the tree ------------------------------------------------------------------------------------ */

/* Whether op o's output is not needed in a step of node n that the mask leaves nothing of: because of the mask itself,
 * or because all its readers are below n and void, too. */
static bool void_below(const tf_plan *p, const tf_mask *m, int o, int n) {
  if (m->fully_masked[o]) return true;
  const tf_tensor *z = &p->wl->tensors[p->wl->ops[o].out];
  bool all = z->n_consumers > 0;
  for (int c = 0; c < z->n_consumers && all; c++)
    all = tf_plan_above(p, n, p->tree->op_node[z->consumers[c]]) && void_below(p, m, z->consumers[c], n);
  return all;
}

/* What applies to node n. */
static tf_skip skip_of(const tf_plan *p, const tf_mask *m, int n) {
  tf_skip s = {.may = true, .at = n, .op = -1};
  for (int o = 0; o < p->wl->n_ops && s.may; o++) {
    if (!tf_plan_above(p, n, p->tree->op_node[o])) continue;
    s.may = void_below(p, m, o, n);
    if (!s.may || !m->fully_masked[o]) continue;
    const uint64_t l = tf_dim_mask(p, o, m->l, n), q = tf_dim_mask(p, o, m->q, n);
    if (s.op >= 0) s.mixed |= (l ^ s.l) | (q ^ s.q);
    s.op = o, s.l |= l, s.q |= q;
  }
  s.may &= s.op >= 0;
  return s;
}

/* Whether all that op o produces along the dim is read, so that its range begins as the whole dim. */
static bool read_whole(const tf_workload *wl, int o, int dim) {
  const int rank = tf_out_rank(&wl->ops[o], dim);
  const tf_tensor *z = &wl->tensors[wl->ops[o].out];
  bool all = true;
  for (int c = 0; c < z->n_consumers && rank >= 0; c++) {
    const tf_op *reader = &wl->ops[z->consumers[c]];
    for (int r = 0; r < reader->n_reads && all; r++) {
      const tf_index *ix = &reader->reads[r].index[rank];
      if (reader->reads[r].tensor != wl->ops[o].out) continue;
      all = ix->n_terms == 1 && ix->c == 0 && ix->terms[0].coef == 1 &&
            wl->dims[ix->terms[0].dim].extent == wl->dims[dim].extent &&
            read_whole(wl, z->consumers[c], ix->terms[0].dim);
    }
  }
  return all;
}

static bool all_whole(const tf_workload *wl, const tf_mask *m) {
  for (int o = 0; o < wl->n_ops; o++)
    if (m->fully_masked[o] && !(read_whole(wl, o, m->l) && read_whole(wl, o, m->q))) return false;
  return true;
}

/* Whether some node may be skipped: loops on both dims are above it, or the mask leaves nothing of some row. */
static bool any_out(const tf_plan *p, const tf_skips *k) {
  for (int n = 0; n < p->tree->n_nodes; n++)
    if (k->node[n].may && !k->whole) return true;
  for (int n = 0; n < p->tree->n_nodes; n++)
    if (k->node[n].may && (k->meets ? k->node[n].l && k->node[n].q : k->node[n].l || k->node[n].q)) return true;
  return false;
}

static bool fill(tf_arena *a, tf_plan *p, tf_skips *k) {
  k->node = TF_ARRAY(a, tf_skip, (size_t)p->tree->n_nodes);
  if (!k->node) return false;
  for (int n = 0; n < p->tree->n_nodes; n++) {
    const tf_node *t = &p->tree->nodes[n];
    k->node[n] = t->kind == TF_OP ? (tf_skip){.op = -1} : skip_of(p, &k->mask, n);
    if (!k->node[n].may && t->parent >= 0) k->node[n] = k->node[t->parent];
  }
  k->whole = all_whole(p->wl, &k->mask);
  k->meets = k->whole && tf_mask_meets_all(p->wl, &k->mask);
  p->skips = any_out(p, k) ? k : NULL;
  return true;
}

bool tf_skips_new(tf_arena *a, tf_plan *p) {
  if (p->n_retains || p->cuts) return true;
  tf_skips *k = TF_NEW(a, tf_skips);
  if (!k) return false;
  if (tf_mask_find(p->wl, a, &k->mask)) return fill(a, p, k);
  return !tf_arena_failed(a);
}

static uint64_t temporal(const tf_plan *p, int n) { return p->path[n].temporal; }

uint64_t tf_skip_loops(const tf_plan *p, int n) {
  const tf_skip *s = p->skips ? &p->skips->node[n] : NULL;
  return s && s->may ? (s->l | s->q) & temporal(p, n) : 0;
}

/* ---- boxes ---------------------------------------------------------------------------------------------------- */

/* One of the mask's dims on node n's path: its loops, and their settings. */
typedef struct {
  const tf_eval *ev;
  const tf_path *path;
  int64_t extent;
  uint64_t loops;
} line;

static line line_of(const tf_eval *ev, int n, bool is_l) {
  const tf_plan *p = ev->plan;
  const tf_skips *k = p->skips;
  return (line){ev, &p->path[n], p->wl->dims[is_l ? k->mask.l : k->mask.q].extent, is_l ? k->node[n].l : k->node[n].q};
}

/* Settings of temporal loops: those in `stand` as in dg, loop `start` (-1: none) at its first, the others any. */
typedef struct {
  uint64_t stand;
  int start;
  const int64_t *dg;
} setting;

/* The dim's range over all instances; *turns: settings of the loop `start` that are not empty.  Spatial loops that do
 * not divide their range are treated as one range: such trees are walked (tf_skip_uneven). */
static tf_ival range_of(const line *d, setting at, int64_t *turns) {
  const tf_path *path = d->path;
  tf_ival v = {0, d->extent};
  int64_t spread = 0;
  *turns = 1;
  for (uint64_t rest = d->loops; rest; rest &= rest - 1) {
    const int k = __builtin_ctzll(rest), l = path->loops[k];
    const int64_t step = tf_step(d->ev, l), trip = d->ev->trip[l];
    if (trip <= 1) continue;
    if (k == at.start) *turns = (v.len + step - 1) / step < trip ? (v.len + step - 1) / step : trip;
    if ((path->temporal & at.stand) >> k & 1 || k == at.start) {
      const int64_t by = k == at.start ? 0 : at.dg[l] * step, left = v.len - by;
      v.lo += by;
      v.len = left < step ? left : step;
    } else if (v.len == trip * step) {
      spread += (trip - 1) * step;
      v.len = step;
    } else {
      break;
    }
  }
  v.len += spread;
  return v;
}

static int64_t down(int64_t a, int64_t by) { return a >= 0 ? a / by : -((by - 1 - a) / by); }

static int64_t up(int64_t a, int64_t by) { return -down(-a, by); }

/* For loop k: with the loops in `stand` as set, the others at any setting. */
static tf_live live_of(const tf_eval *ev, int n, int k, uint64_t stand, const int64_t *dg) {
  const tf_plan *p = ev->plan;
  const tf_mask *m = &p->skips->mask;
  const bool is_l = p->skips->node[n].l >> k & 1;
  const int loop = p->path[n].loops[k];
  const int64_t step = tf_step(ev, loop), least = is_l ? m->lo : -m->hi, most = is_l ? m->hi : -m->lo;
  const line own = line_of(ev, n, is_l), other = line_of(ev, n, !is_l);
  int64_t turns;
  const tf_ival o = range_of(&other, (setting){stand, -1, dg}, &turns),
                at = range_of(&own, (setting){stand, k, dg}, &turns);
  const int64_t o_last = o.lo + o.len - 1, at_last = at.lo + at.len - 1;
  tf_live v = {up(o.lo + least - at_last, step), down(o_last + most - at.lo, step), up(o_last + least - at.lo, step),
               down(o.lo + most - at_last, step)};
  v.first = v.first > 0 ? v.first : 0;
  v.last = v.last < turns - 1 ? v.last : turns - 1;
  v.inner_first = v.inner_first > v.first ? v.inner_first : v.first;
  v.inner_last = v.inner_last < v.last ? v.inner_last : v.last;
  return v;
}

tf_live tf_skip_live(const tf_eval *ev, int n, int k, const int64_t *dg) {
  return live_of(ev, n, k, (UINT64_C(1) << k) - 1, dg);
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

static bool outside_band(const tf_mask *m, tf_ival l, tf_ival q) {
  return l.len <= 0 || q.len <= 0 || (l.lo - (q.lo + q.len - 1) > m->hi || l.lo + l.len - 1 - q.lo < m->lo);
}

/* Advances to the next instance of the spatial loops in `loops`, of those at the ends of kinds; false after the last.
 */
static bool next_instance(const tf_eval *ev, const tf_path *path, uint64_t loops, int64_t *dg) {
  for (int k = path->n - 1; k >= 0; k--) {
    const int l = path->loops[k];
    if (!(loops >> k & 1)) continue;
    dg[l] = ev->kinds ? tf_kind_end(&ev->kinds[l], dg[l]) : dg[l] + 1;
    if (dg[l] < ev->trip[l]) return true;
    dg[l] = 0;
  }
  return false;
}

/* The ranges of the mask's dims in node n's step, over all its instances; empty where no op has points. */
static void hull_of(const tf_eval *ev, int n, int64_t *dg, tf_ival *l, tf_ival *q) {
  const tf_plan *p = ev->plan;
  const tf_skip *s = &p->skips->node[n];
  const tf_path *path = &p->path[n];
  const uint64_t spatial = (s->l | s->q) & ~path->temporal;
  const bool held = p->memo && p->memo->held;
  int64_t kept[TF_MAX_PATH];
  *l = *q = (tf_ival){0, 0};
  for (int k = 0; k < path->n; k++) {
    kept[k] = dg[path->loops[k]];
    if (spatial >> k & 1) dg[path->loops[k]] = 0;
  }
  do {
    tf_memo_hold(p);
    for (int o = 0; o < p->wl->n_ops; o++) {
      if (!p->skips->mask.fully_masked[o] || !tf_plan_above(p, n, p->tree->op_node[o]) || tf_op_idle(ev, o, n, dg))
        continue;
      *l = tf_hull(*l, tf_dim_range(ev, o, p->skips->mask.l, n, dg));
      *q = tf_hull(*q, tf_dim_range(ev, o, p->skips->mask.q, n, dg));
    }
  } while (next_instance(ev, path, spatial, dg));
  for (int k = 0; k < path->n; k++)
    dg[path->loops[k]] = kept[k];
  tf_memo_hold(p);
  if (!held) tf_memo_release(p), tf_memo_begin(p);
}

/* Whether node n's step, which may be skipped, is. */
static bool lies_out(const tf_eval *ev, int n, int64_t *dg) {
  tf_ival l, q;
  hull_of(ev, n, dg, &l, &q);
  return outside_band(&ev->plan->skips->mask, l, q);
}

bool tf_skip_span(const tf_eval *ev, int n, int64_t *dg, int64_t *least, int64_t *most) {
  tf_ival l, q;
  hull_of(ev, n, dg, &l, &q);
  *least = l.lo - (q.lo + q.len - 1);
  *most = l.lo + l.len - 1 - q.lo;
  return l.len > 0 && q.len > 0;
}

enum { MOST_KEPT = 1 << 22, UNKNOWN = -1 }; /* answers of a node that are kept */

/* Settings of the loops on which it depends whether node n is skipped. */
static int64_t n_settings(const tf_eval *ev, int n) {
  int64_t all = 1;
  for (uint64_t rest = tf_skip_loops(ev->plan, n); rest && all <= MOST_KEPT; rest &= rest - 1)
    if (__builtin_mul_overflow(all, ev->trip[ev->plan->path[n].loops[__builtin_ctzll(rest)]], &all)) all = INT64_MAX;
  return all;
}

void tf_skip_memo_new(tf_arena *a, tf_eval *ev) {
  const tf_plan *p = ev->plan;
  signed char **memo = p->skips ? TF_ARRAY(a, signed char *, (size_t)p->tree->n_nodes) : NULL;
  for (int n = 0; memo && n < p->tree->n_nodes; n++) {
    const tf_skip *s = &p->skips->node[n];
    /* the ops that have points at a setting make no difference where all of them have one range */
    const bool known = s->may && s->at == n && !s->mixed && !p->n_retains;
    const int64_t all = known ? n_settings(ev, n) : INT64_MAX;
    memo[n] = all <= MOST_KEPT ? TF_ARRAY(a, signed char, (size_t)all) : NULL;
    if (memo[n]) memset(memo[n], UNKNOWN, (size_t)all);
  }
  ev->skip_memo = memo;
}

bool tf_skip_out(const tf_eval *ev, int n, int64_t *dg) {
  const tf_plan *p = ev->plan;
  const tf_skip *s = p->skips ? &p->skips->node[n] : NULL;
  if (!s || !s->may || s->at != n || ev->masked_too) return false;
  if (!ev->skip_memo || !ev->skip_memo[n]) return lies_out(ev, n, dg);
  int64_t at = 0;
  for (uint64_t rest = tf_skip_loops(p, n); rest; rest &= rest - 1) {
    const int l = p->path[n].loops[__builtin_ctzll(rest)];
    at = at * ev->trip[l] + dg[l];
  }
  signed char *known = &ev->skip_memo[n][at];
  if (*known == UNKNOWN) *known = lies_out(ev, n, dg);
  return *known;
}

/* Moves to the previous setting of the loops in `again`; false: there is none. */
static bool step_back(const tf_eval *ev, const tf_path *path, uint64_t again, int64_t *dg) {
  int k = path->n - 1;
  for (; k >= 0 && (!(again >> k & 1) || dg[path->loops[k]] == 0); k--)
    ;
  if (k < 0) return false;
  dg[path->loops[k]]--;
  for (k++; k < path->n; k++)
    if (again >> k & 1) dg[path->loops[k]] = ev->trip[path->loops[k]] - 1;
  return true;
}

int64_t tf_skip_distance(const tf_eval *ev, int n, int k, const int64_t *dg) {
  const line l = line_of(ev, n, true), q = line_of(ev, n, false);
  const setting at = {(UINT64_C(1) << k) - 1, -1, dg};
  int64_t turns;
  return range_of(&l, at, &turns).lo - range_of(&q, at, &turns).lo;
}

bool tf_skip_divides(const tf_eval *ev, int n) {
  for (int is_l = 0; is_l < 2; is_l++) {
    const line d = line_of(ev, n, is_l);
    int64_t len = d.extent;
    for (uint64_t rest = d.loops; rest; rest &= rest - 1) {
      const int l = d.path->loops[__builtin_ctzll(rest)];
      if (ev->trip[l] > 1 && len != ev->trip[l] * tf_step(ev, l)) return false;
      len = ev->trip[l] > 1 ? tf_step(ev, l) : len;
    }
  }
  return true;
}

bool tf_skip_first(const tf_eval *ev, int n, uint64_t again, const tf_slice *s, int64_t *dg) {
  const tf_path *path = &ev->plan->path[n];
  const int node = ev->plan->skips->node[n].at;
  int64_t kept[TF_MAX_PATH];
  bool first = true;
  for (uint64_t rest = again; rest && ev->masked_too; rest &= rest - 1)
    first &= dg[path->loops[__builtin_ctzll(rest)]] == 0;
  if (ev->masked_too) return first;
  if (!ev->irregular && ev->plan->skips->whole && tf_skip_divides(ev, node)) {
    for (uint64_t rest = again; rest && first; rest &= rest - 1) {
      const int k = __builtin_ctzll(rest);
      first = dg[path->loops[k]] <= live_of(ev, node, k, ((UINT64_C(1) << k) - 1) | ~again, dg).first;
    }
    return first;
  }
  for (int k = 0; k < path->n; k++)
    kept[k] = dg[path->loops[k]];
  while (first && step_back(ev, path, again, dg))
    first = tf_skip_out(ev, node, dg) || (s && !tf_slice_touched(ev, s, dg));
  for (int k = 0; k < path->n; k++)
    dg[path->loops[k]] = kept[k];
  return first;
}

/* ---- what only the walk can tell ------------------------------------------------------------------------------- */

/* Whether the loops on one of the mask's dims leave a remainder; *spread: some of them are spatial; *first: the range
 * with all of them at their first setting. */
static bool uneven(const line *d, bool *spread, tf_ival *first) {
  int64_t len = d->extent;
  bool any = false;
  *spread = false;
  for (uint64_t rest = d->loops; rest; rest &= rest - 1) {
    const int k = __builtin_ctzll(rest), l = d->path->loops[k];
    const int64_t step = tf_step(d->ev, l), trip = d->ev->trip[l];
    if (trip <= 1) continue;
    any |= len != trip * step;
    *spread |= !(d->path->temporal >> k & 1);
    len = step;
  }
  *first = (tf_ival){0, len};
  return any;
}

static bool turns(const tf_eval *ev, int n, uint64_t loops) {
  for (; loops; loops &= loops - 1)
    if (ev->trip[ev->plan->path[n].loops[__builtin_ctzll(loops)]] > 1) return true;
  return false;
}

/* Whether node n may be skipped in a step in which its parent is not, although both have the same box. */
static bool differs_from_parent(const tf_eval *ev, int n) {
  const tf_plan *p = ev->plan;
  const tf_skip *s = &p->skips->node[n];
  const int up = p->tree->nodes[n].parent;
  if (up < 0 || (p->skips->node[up].may && p->skips->node[up].at == up)) return false;
  return p->skips->meets ? turns(ev, n, s->l) && turns(ev, n, s->q) : turns(ev, n, s->l | s->q);
}

/* Whether the loops of node n split the boxes of the ops below it unlike, so that there is no one box of which the sums
 * could say where the band leaves it. */
static bool unlike_below(const tf_eval *ev, int n) {
  const tf_skip *s = &ev->plan->skips->node[n];
  return turns(ev, n, s->mixed) && (!ev->plan->skips->meets || (turns(ev, n, s->l) && turns(ev, n, s->q)));
}

bool tf_skip_uneven(const tf_eval *ev) {
  const tf_plan *p = ev->plan;
  if (p->skips && !p->skips->whole) return true;
  for (int n = 0; p->skips && n < p->tree->n_nodes; n++) {
    if (!p->skips->node[n].may || p->skips->node[n].at != n) continue;
    const line l = line_of(ev, n, true), q = line_of(ev, n, false);
    bool by_l, by_q;
    tf_ival keys, rows;
    const bool any_l = uneven(&l, &by_l, &keys), any_q = uneven(&q, &by_q, &rows);
    if ((any_l && by_l) || (any_q && by_q) || unlike_below(ev, n) || differs_from_parent(ev, n)) return true;
    if ((any_l || any_q) && outside_band(&p->skips->mask, keys, rows)) return true;
  }
  return false;
}
