#include "model/flow/skip.h"

#include <string.h>

#include "base/checked.h"
#include "model/flow/apart.h"
#include "model/flow/range_memo.h"

/* ---- facts of the tree ---------------------------------------------------------------------- */

/* Whether op o's output is not needed in a step of node n of which the mask leaves nothing: by the
 * mask itself, or because all its readers are below n and not needed, either. */
static bool not_needed_below(const tf_plan *p, const tf_mask *m, int o, int n) {
  if (m->fully_masked[o]) return true;
  const tf_tensor *z = &p->wl->tensors[p->wl->ops[o].out];
  bool all = z->n_consumers > 0;
  for (int c = 0; c < z->n_consumers && all; c++)
    all = tf_plan_above(p, n, p->tree->op_node[z->consumers[c]]) &&
          not_needed_below(p, m, z->consumers[c], n);
  return all;
}

/* The facts of node n. */
static tf_skip skip_of(const tf_plan *p, const tf_mask *m, int n) {
  tf_skip s = {.may = true, .decided_at = n, .op = -1};
  for (int o = 0; o < p->wl->n_ops && s.may; o++) {
    if (!tf_plan_above(p, n, p->tree->op_node[o])) continue;
    s.may = not_needed_below(p, m, o, n);
    if (!s.may || !m->fully_masked[o]) continue;
    const uint64_t l = tf_dim_mask(p, o, m->l, n), q = tf_dim_mask(p, o, m->q, n);
    if (s.op >= 0) s.mixed |= (l ^ s.l) | (q ^ s.q);
    s.op = o, s.l |= l, s.q |= q;
  }
  s.may &= s.op >= 0;
  return s;
}

/* The part of the dim that op o computes in the whole run.  False: its readers need different
 * parts, or read at shifted points. */
static bool asked_of(const tf_workload *wl, int o, int dim, tf_ival *part) {
  const int rank = tf_out_rank(&wl->ops[o], dim);
  const tf_tensor *z = &wl->tensors[wl->ops[o].out];
  bool alike = true, any = false;
  *part = (tf_ival){0, wl->dims[dim].extent};
  for (int c = 0; c < z->n_consumers && rank >= 0; c++) {
    const tf_op *reader = &wl->ops[z->consumers[c]];
    for (int r = 0; r < reader->n_reads && alike; r++) {
      const tf_index *ix = &reader->reads[r].index[rank];
      tf_ival one;
      if (reader->reads[r].tensor != wl->ops[o].out) continue;
      alike = ix->n_terms == 1 && ix->terms[0].coef == 1 &&
              asked_of(wl, z->consumers[c], ix->terms[0].dim, &one);
      if (!alike) break;
      one.lo += ix->c;
      alike = !any || (one.lo == part->lo && one.len == part->len);
      *part = one;
      any = true;
    }
  }
  return alike;
}

/* Whether all ops of the mask compute the same part of its dims; fills it. */
static bool alike_parts(const tf_workload *wl, tf_skips *k) {
  bool any = false, alike = true;
  for (int o = 0; o < wl->n_ops && alike; o++) {
    tf_ival l = {0, 0}, q = {0, 0};
    if (!k->mask.fully_masked[o]) continue;
    alike = asked_of(wl, o, k->mask.l, &l) && asked_of(wl, o, k->mask.q, &q) &&
            (!any || (l.lo == k->part_l.lo && l.len == k->part_l.len && q.lo == k->part_q.lo &&
                      q.len == k->part_q.len));
    k->part_l = l, k->part_q = q;
    any = true;
  }
  return alike;
}

static bool outside_band(const tf_mask *m, tf_ival l, tf_ival q) {
  return l.len <= 0 || q.len <= 0 ||
         (l.lo - (q.lo + q.len - 1) > m->hi || l.lo + l.len - 1 - q.lo < m->lo);
}

/* Whether a box with all values of l, or of q, except for those dims that are split, may be outside
 * of the band. */
static bool leaves_any(const tf_skips *k, bool l, bool q) {
  return (l && q) || (l && !k->l_meets) || (q && !k->q_meets);
}

/* Whether some node may be skipped: loops on both dims are above it, and for some setting of one of
 * them the mask leaves nothing; or it leaves nothing at all. */
static bool any_out(const tf_plan *p, const tf_skips *k) {
  for (int n = 0; n < p->tree->n_nodes; n++)
    if (k->node[n].may && (k->none || leaves_any(k, k->node[n].l, k->node[n].q))) return true;
  return false;
}

static bool fill_skips(tf_arena *a, tf_plan *p, tf_skips *k) {
  k->node = TF_ARRAY(a, tf_skip, (size_t)p->tree->n_nodes);
  if (!k->node) return false;
  for (int n = 0; n < p->tree->n_nodes; n++) {
    const tf_node *t = &p->tree->nodes[n];
    k->node[n] = t->kind == TF_OP ? (tf_skip){.op = -1} : skip_of(p, &k->mask, n);
    if (!k->node[n].may && t->parent >= 0) k->node[n] = k->node[t->parent];
  }
  k->none = outside_band(&k->mask, k->part_l, k->part_q);
  const tf_ival q = k->part_q, l = k->part_l;
  k->l_meets = tf_mask_l_meets(&k->mask, q.lo, q.len, l.lo, l.len);
  k->q_meets = tf_mask_q_meets(&k->mask, q.lo, q.len, l.lo, l.len);
  p->skips = any_out(p, k) ? k : NULL;
  return true;
}

bool tf_skips_new(tf_arena *a, tf_plan *p) {
  if (p->n_retains || p->cuts) return true;
  tf_skips *k = TF_NEW(a, tf_skips);
  if (!k) return false;
  if (tf_mask_find(p->wl, a, &k->mask)) return !alike_parts(p->wl, k) || fill_skips(a, p, k);
  return !tf_arena_failed(a);
}

static uint64_t temporal(const tf_plan *p, int n) { return p->path[n].temporal; }

uint64_t tf_skip_loops(const tf_plan *p, int n) {
  const tf_skip *s = p->skips ? &p->skips->node[n] : NULL;
  return s && s->may ? (s->l | s->q) & temporal(p, n) : 0;
}

/* ---- boxes ---------------------------------------------------------------------------------- */

/* One of the mask's dims on node n's path: its loops, and their settings. */
typedef struct {
  const tf_eval *ev;
  int node;
  const tf_path *path;
  tf_ival part; /* what is computed of it in the whole run */
  uint64_t loops;
} line;

static line line_of(const tf_eval *ev, int n, bool is_l) {
  const tf_plan *p = ev->plan;
  const tf_skips *k = p->skips;
  return (line){ev, n, &p->path[n], is_l ? k->part_l : k->part_q,
                is_l ? k->node[n].l : k->node[n].q};
}

/* Settings of temporal loops: those in `stand` as in dg, loop `start` (-1: none) at its first, the
 * others at any. */
typedef struct {
  uint64_t stand;
  int start;
  const int64_t *dg;
} setting;

/* The range that loop l, at any setting of `trip`, leaves of a box (skip.h). */
static void free_loop(tf_skip_box *b, int64_t trip, int64_t step) {
  b->spread = tf_sat_add(b->spread, tf_sat_mul(trip - 1, step));
  b->first.len = b->first.len < step ? b->first.len : step;
}

static void stand_loop(tf_skip_box *b, int64_t at, int64_t step) {
  const int64_t by = tf_sat_mul(at, step), left = b->first.len - by;
  b->first.lo += by;
  b->first.len = left < step ? left : step;
}

/* Ends the box where the last instance would end, but not beyond the box of the enclosing step. */
static void end_box(tf_skip_box *b) {
  const int64_t end = tf_sat_add(b->first.lo + b->first.len, b->spread);
  b->end = b->first.len > 0 && b->end < end ? b->end : end;
}

static tf_ival all_of(const tf_skip_box *b) {
  return (tf_ival){b->first.lo, b->first.len > 0 ? b->end - b->first.lo : 0};
}

/* For the loop `start`: how many settings are not empty, and where the boxes of all of them end at
 * the latest. */
typedef struct {
  int64_t steps, end;
} starting;

/* The dim's box.  From loop `start` on it ends as if nothing further out cut it, so that it moves
 * with that loop. */
static tf_ival range_of(const line *d, setting at, starting *s) {
  const tf_path *path = d->path;
  tf_skip_box v = {d->part, d->part.lo + d->part.len, 0};
  *s = (starting){1, v.end};
  for (uint64_t rest = d->loops; rest; rest &= rest - 1) {
    const int k = __builtin_ctzll(rest), l = path->loops[k];
    const int64_t step = tf_step(d->ev, d->node, l), trip = d->ev->trip[l];
    if (k == at.start) {
      const int64_t n = (v.first.len + step - 1) / step;
      *s = (starting){n < trip ? n : trip, v.end};
      v.end = INT64_MAX;
    }
    if (k == at.start || (path->temporal & at.stand) >> k & 1)
      stand_loop(&v, k == at.start ? 0 : at.dg[l], step);
    else
      free_loop(&v, trip, step);
    end_box(&v);
  }
  return all_of(&v);
}

static int64_t down(int64_t a, int64_t by) { return a >= 0 ? a / by : -((by - 1 - a) / by); }

static int64_t up(int64_t a, int64_t by) { return -down(-a, by); }

/* For loop k: with the loops in `stand` as set, the others at any setting. */
static tf_unmasked live_of(const tf_eval *ev, int n, int k, uint64_t stand, const int64_t *dg) {
  const tf_plan *p = ev->plan;
  const tf_mask *m = &p->skips->mask;
  const bool is_l = p->skips->node[n].l >> k & 1;
  const int loop = p->path[n].loops[k];
  const int64_t step = tf_step(ev, n, loop), least = is_l ? m->lo : -m->hi,
                most = is_l ? m->hi : -m->lo;
  const line own = line_of(ev, n, is_l), other = line_of(ev, n, !is_l);
  starting s;
  const tf_ival o = range_of(&other, (setting){stand, -1, dg}, &s),
                at = range_of(&own, (setting){stand, k, dg}, &s);
  const int64_t o_last = o.lo + o.len - 1, at_last = at.lo + at.len - 1;
  tf_unmasked v = {up(o.lo + least - at_last, step), down(o_last + most - at.lo, step),
                   up(o_last + least - at.lo, step), down(o.lo + most - at_last, step)};
  v.first = v.first > 0 ? v.first : 0;
  v.last = v.last < s.steps - 1 ? v.last : s.steps - 1;
  if (o.len <= 0 || at.len <= 0 || s.end - 1 < o.lo + least) v.last = -1;
  v.inner_first = v.inner_first > v.first ? v.inner_first : v.first;
  v.inner_last = v.inner_last < v.last ? v.inner_last : v.last;
  return v;
}

tf_unmasked tf_skip_unmasked(const tf_eval *ev, int n, int k, const int64_t *dg) {
  return live_of(ev, n, k, (UINT64_C(1) << k) - 1, dg);
}

/* ---- one step ------------------------------------------------------------------------------- */

static tf_skip_box box_of(const tf_eval *ev, int o, int d, int n, const int64_t *dg);

/* The hull of what the readers of op o's output below node n read of its rank r. */
static tf_skip_box asked_below(const tf_eval *ev, int o, int r, int n, const int64_t *dg) {
  const tf_plan *p = ev->plan;
  tf_skip_box all = {{0, 0}, 0, 0};
  TF_EACH_READ (p->facts, o, n, at) {
    const tf_index *ix = &p->wl->ops[at.op].reads[at.ref].index[r];
    tf_skip_box one = box_of(ev, at.op, ix->terms[0].dim, n, dg);
    if (one.first.len <= 0 || tf_op_idle(ev, at.op, n, dg)) continue;
    one.first.lo += ix->c, one.end += ix->c;
    all.end = all.first.len > 0 && all.end > one.end ? all.end : one.end;
    all.first = tf_hull(all.first, one.first);
    all.spread = all.spread > one.spread ? all.spread : one.spread;
  }
  return all;
}

/* The range of dim d, which is one of the mask's or a shifted copy of it, that op o computes in
 * node n's step, with spatial loops at 0. */
static tf_skip_box box_of(const tf_eval *ev, int o, int d, int n, const int64_t *dg) {
  const tf_plan *p = ev->plan;
  const int up = p->tree->nodes[p->lead[o]].parent;
  const tf_range_from from = tf_range_source(p->facts, o, d, n);
  tf_skip_box v = {{0, p->wl->dims[d].extent}, p->wl->dims[d].extent, 0};
  if (from.rule == TF_BY_READERS) return asked_below(ev, o, from.source, n, dg);
  if (from.rule == TF_BY_LEADER) return box_of(ev, from.source, d, n, dg);
  if (from.rule == TF_BY_EXTENT) return v;
  if (up >= 0) v = box_of(ev, o, d, up, dg);
  for (int k = p->path[p->lead[o]].n; k < p->path[n].n; k++) {
    const int l = p->path[n].loops[k];
    if (p->loops[l].dim != d) continue;
    if (p->loops[l].axis == TF_TEMPORAL)
      stand_loop(&v, dg[l], ev->step[o * p->n_loops + l]);
    else
      free_loop(&v, ev->trip[l], ev->step[o * p->n_loops + l]);
    end_box(&v);
  }
  return v;
}

/* The ranges of the mask's dims in node n's step, over all its instances; empty if no op has
 * points.  False: they end before the last instance would. */
static bool hull_of(const tf_eval *ev, int n, int64_t *dg, tf_ival *l, tf_ival *q) {
  const tf_plan *p = ev->plan;
  const tf_path *path = &p->path[n];
  const bool held = p->memo && p->memo->held;
  int64_t kept[TF_MAX_PATH];
  bool cut = false;
  *l = *q = (tf_ival){0, 0};
  for (int k = 0; k < path->n; k++) {
    kept[k] = dg[path->loops[k]];
    if (!(path->temporal >> k & 1)) dg[path->loops[k]] = 0;
  }
  tf_memo_hold(p);
  for (int o = 0; o < p->wl->n_ops; o++) {
    if (!p->skips->mask.fully_masked[o] || !tf_plan_above(p, n, p->tree->op_node[o]) ||
        tf_op_idle(ev, o, n, dg))
      continue;
    const tf_skip_box by_l = box_of(ev, o, p->skips->mask.l, n, dg),
                      by_q = box_of(ev, o, p->skips->mask.q, n, dg);
    cut |= by_l.end < by_l.first.lo + by_l.first.len + by_l.spread;
    cut |= by_q.end < by_q.first.lo + by_q.first.len + by_q.spread;
    *l = tf_hull(*l, all_of(&by_l));
    *q = tf_hull(*q, all_of(&by_q));
  }
  for (int k = 0; k < path->n; k++)
    dg[path->loops[k]] = kept[k];
  tf_memo_hold(p);
  if (!held) tf_memo_release(p), tf_memo_begin(p);
  return !cut;
}

/* Whether node n's step, which may be skipped, is skipped. */
static bool lies_out(const tf_eval *ev, int n, int64_t *dg) {
  tf_ival l, q;
  hull_of(ev, n, dg, &l, &q);
  return outside_band(&ev->plan->skips->mask, l, q);
}

bool tf_skip_span(const tf_eval *ev, int n, int64_t *dg, int64_t *least, int64_t *most, bool *cut) {
  tf_ival l, q;
  *cut = !hull_of(ev, n, dg, &l, &q);
  *least = l.lo - (q.lo + q.len - 1);
  *most = l.lo + l.len - 1 - q.lo;
  return l.len > 0 && q.len > 0;
}

enum { MOST_KEPT = 1 << 22, UNKNOWN = -1 }; /* most cached results of a node */

/* The number of settings of the loops that decide whether node n is skipped. */
static int64_t n_settings(const tf_eval *ev, int n) {
  int64_t all = 1;
  for (uint64_t rest = tf_skip_loops(ev->plan, n); rest && all <= MOST_KEPT; rest &= rest - 1)
    if (__builtin_mul_overflow(all, ev->trip[ev->plan->path[n].loops[__builtin_ctzll(rest)]], &all))
      all = INT64_MAX;
  return all;
}

void tf_skip_memo_new(tf_arena *a, tf_eval *ev) {
  const tf_plan *p = ev->plan;
  signed char **memo = p->skips ? TF_ARRAY(a, signed char *, (size_t)p->tree->n_nodes) : NULL;
  for (int n = 0; memo && n < p->tree->n_nodes; n++) {
    const tf_skip *s = &p->skips->node[n];
    /* which ops have points at a setting makes no difference if all of them have one range */
    const bool known = s->may && s->decided_at == n && !s->mixed && !p->n_retains;
    const int64_t all = known ? n_settings(ev, n) : INT64_MAX;
    memo[n] = all <= MOST_KEPT ? TF_ARRAY(a, signed char, (size_t)all) : NULL;
    if (memo[n]) memset(memo[n], UNKNOWN, (size_t)all);
  }
  ev->skip_memo = memo;
}

bool tf_skip_out(const tf_eval *ev, int n, int64_t *dg) {
  const tf_plan *p = ev->plan;
  const tf_skip *s = p->skips ? &p->skips->node[n] : NULL;
  if (!s || !s->may || s->decided_at != n || ev->masked_too) return false;
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
  starting s;
  return range_of(&l, at, &s).lo - range_of(&q, at, &s).lo;
}

bool tf_skip_divides(const tf_eval *ev, int n) {
  for (int is_l = 0; is_l < 2; is_l++) {
    const line d = line_of(ev, n, is_l);
    int64_t len = d.part.len;
    for (uint64_t rest = d.loops; rest; rest &= rest - 1) {
      const int l = d.path->loops[__builtin_ctzll(rest)];
      if (ev->trip[l] > 1 && len != ev->trip[l] * tf_step(ev, n, l)) return false;
      len = ev->trip[l] > 1 ? tf_step(ev, n, l) : len;
    }
  }
  return true;
}

bool tf_skip_first(const tf_eval *ev, int n, uint64_t again, const tf_slice *s, int64_t *dg) {
  const tf_path *path = &ev->plan->path[n];
  const int node = ev->plan->skips->node[n].decided_at;
  int64_t kept[TF_MAX_PATH];
  bool first = true;
  for (uint64_t rest = again; rest && ev->masked_too; rest &= rest - 1)
    first &= dg[path->loops[__builtin_ctzll(rest)]] == 0;
  if (ev->masked_too) return first;
  if (!ev->irregular && tf_skip_divides(ev, node)) {
    for (uint64_t rest = again; rest && first; rest &= rest - 1) {
      const int k = __builtin_ctzll(rest);
      first =
          dg[path->loops[k]] <= live_of(ev, node, k, ((UINT64_C(1) << k) - 1) | ~again, dg).first;
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

/* ---- what only the walk can count ----------------------------------------------------------- */

/* The box of node n's first step along one of the mask's dims; *any: the loops leave a
 * remainder. */
static tf_ival first_box(const line *d, const int64_t *zero, bool *any) {
  int64_t len = d->part.len;
  starting s;
  *any = false;
  for (uint64_t rest = d->loops; rest; rest &= rest - 1) {
    const int l = d->path->loops[__builtin_ctzll(rest)];
    if (d->ev->trip[l] <= 1) continue;
    *any |= len != d->ev->trip[l] * tf_step(d->ev, d->node, l);
    len = tf_step(d->ev, d->node, l);
  }
  return range_of(d, (setting){~UINT64_C(0), -1, zero}, &s);
}

static bool takes_steps(const tf_eval *ev, int n, uint64_t loops) {
  for (; loops; loops &= loops - 1)
    if (ev->trip[ev->plan->path[n].loops[__builtin_ctzll(loops)]] > 1) return true;
  return false;
}

/* Whether some steps of node n may be skipped and others not: a step has all of what instances
 * share. */
static bool may_alternate(const tf_eval *ev, int n) {
  const tf_skip *s = &ev->plan->skips->node[n];
  const uint64_t steps = temporal(ev->plan, n);
  return leaves_any(ev->plan->skips, takes_steps(ev, n, s->l & steps),
                    takes_steps(ev, n, s->q & steps));
}

/* Whether node n may be skipped in a step in which its parent, with the same box, is not. */
static bool differs_from_parent(const tf_eval *ev, int n) {
  const tf_plan *p = ev->plan;
  const int up = p->tree->nodes[n].parent;
  if (up < 0 || (p->skips->node[up].may && p->skips->node[up].decided_at == up)) return false;
  return may_alternate(ev, n);
}

/* Whether the loops of node n split the boxes of the ops below it differently, so that there is no
 * single box for which the sums could find where it leaves the band. */
static bool differ_below(const tf_eval *ev, int n) {
  return takes_steps(ev, n, ev->plan->skips->node[n].mixed) && may_alternate(ev, n);
}

/* The range in which steps of a dim are whole: all of it up to the remainder of its outermost loop;
 * with remainders further in, too, the first step's box. */
static tf_ival whole_steps(const line *d, tf_ival first) {
  tf_ival all = d->part;
  int64_t outer = -1;
  for (uint64_t rest = d->loops; rest; rest &= rest - 1) {
    const int l = d->path->loops[__builtin_ctzll(rest)];
    const int64_t step = tf_step(d->ev, d->node, l);
    if (d->ev->trip[l] <= 1) continue;
    if (outer >= 0 && outer != d->ev->trip[l] * step) return first;
    if (outer < 0) all.len -= all.len % step;
    outer = step;
  }
  return all;
}

/* Whether the range that spatial loop l, at position k, splits has one length at all steps of the
 * mask's loops above node n. */
static bool splits_equally(const tf_eval *ev, int n, int l, int k) {
  const tf_plan *p = ev->plan;
  const tf_ploop *pl = &p->loops[l];
  uint64_t of = 0;
  for (int i = 0; i < pl->n_leader; i++)
    of |= tf_dim_mask(p, pl->leaders[i], pl->dim, p->tree->op_node[pl->leaders[i]]);
  return !takes_steps(ev, n, of & tf_skip_loops(p, n) & ((UINT64_C(1) << k) - 1));
}

/* Whether all spatial loops above ops below node n do: then an instance has points at every step or
 * at none. */
static bool instances_equal(const tf_eval *ev, int n) {
  const tf_plan *p = ev->plan;
  for (int x = n; x < p->tree->nodes[n].end; x++)
    for (uint64_t left = tf_path_spatial(p, x); left; left &= left - 1) {
      const int k = __builtin_ctzll(left), l = p->path[x].loops[k];
      if (ev->trip[l] > 1 && !splits_equally(ev, n, l, k)) return false;
    }
  return true;
}

bool tf_skip_uneven(const tf_eval *ev, const int64_t *zero) {
  const tf_plan *p = ev->plan;
  if (p->skips->none) return true;
  for (int n = 0; n < p->tree->n_nodes; n++) {
    if (!p->skips->node[n].may || p->skips->node[n].decided_at != n) continue;
    if (tf_mixed_at(ev, n)) return true;
    const line l = line_of(ev, n, true), q = line_of(ev, n, false);
    bool any_l, any_q;
    const tf_ival keys = first_box(&l, zero, &any_l), rows = first_box(&q, zero, &any_q);
    if (differ_below(ev, n) || differs_from_parent(ev, n)) return true;
    if (!(any_l || any_q) || !outside_band(&p->skips->mask, keys, rows)) continue;
    /* in a step that is not skipped, everything must be as long as in the first */
    if (outside_band(&p->skips->mask, whole_steps(&l, keys), whole_steps(&q, rows)) ||
        !instances_equal(ev, n))
      return true;
  }
  return false;
}
