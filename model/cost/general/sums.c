/* Sums over the settings of a component's loops, loop by loop from the outside.  Equal settings of
 * a loop are counted together; those near a border, or of instances that may share, one by one. */
#include <stddef.h>
#include <string.h>

#include "base/checked.h"
#include "model/cost/general/summing.h"
#include "model/flow/out_of_bounds.h"
#include "model/input/dims.h"

enum {
  TF_FINE_MAX = 12,
  TF_EVERY_SETTING = 8,   /* up to so many settings of a loop are all visited */
  TF_EVERY_CLAMPED = 4096 /* the same where a figure need not rise and fall but once */
};

/* The positions before k. */
static uint64_t below(int k) { return k < TF_MAX_PATH ? (UINT64_C(1) << k) - 1 : ~UINT64_C(0); }

/* Whether the previous entry differs between settings of spatial loop k: some temporal loop starts
 * over and splits a partial tile, so that its last setting is not the same in all instances. */
static bool uneven_before(const tf_summing *e, int k) {
  const tf_plan *p = e->ev->plan;
  const tf_path *path = &p->path[e->s->node];
  bool above = e->h && k < e->n_above;
  uint64_t restarting = above ? path->temporal : e->prev ? e->zero & path->temporal : 0;
  for (uint64_t left = restarting & e->comp->loops & below(k); left; left &= left - 1) {
    const int l = path->loops[__builtin_ctzll(left)];
    if (p->loops[l].op >= 0 && e->ev->trip[l] > 1 &&
        tf_loop_range(e->ev, e->s->node, l, e->w->cur).len % tf_step(e->ev, e->s->node, l))
      return true;
  }
  return false;
}

/* Whether the range that reaches position k may be split into unequal parts among boxes counted one
 * by one, by its own chain or by one that it depends on. */
static bool uneven_each(const tf_summing *e, int k) {
  const tf_plan *p = e->ev->plan;
  const tf_path *path = &p->path[e->s->node];
  for (uint64_t left = e->each & below(k); left; left &= left - 1) {
    const int l = path->loops[__builtin_ctzll(left)];
    if ((e->ev->parts && e->ev->parted[l]) ||
        tf_loop_range(e->ev, e->s->node, l, e->w->cur).len % tf_step(e->ev, e->s->node, l))
      return true;
  }
  return false;
}

/* Adds all settings of the component's loops from path position k on, each `mult` times; loops
 * further out are set in w->cur.  border: positions whose boxes may still be clipped. */
static void sum_loops(tf_summing *e, int k, int64_t mult, uint64_t border);

static void sum_at(tf_summing *e, int k, int64_t digit, int64_t mult, uint64_t border) {
  e->w->cur[e->ev->plan->path[e->s->node].loops[k]] = digit;
  sum_loops(e, k + 1, mult, border);
}

/* Positions that move the same clipped ranks as k. */
static uint64_t part_of(const tf_summing *e, int k) {
  for (int i = 0; i < e->comp->n_part; i++)
    if (e->comp->part[i].loops >> k & 1) return e->comp->part[i].loops;
  return ~UINT64_C(0);
}

/* How many settings at either end of loop k are counted one by one, as borders may clip their
 * boxes. */
static int64_t ends(const tf_summing *e, int k, bool border) {
  const tf_plan *p = e->ev->plan;
  int64_t edge =
      border ? 2 + p->reach / tf_step(e->ev, e->s->node, p->path[e->s->node].loops[k]) : 0;
  if (border && e->h) edge += e->h->n_ops;
  return edge;
}

/* Whether the settings of loop k must be counted one by one. */
static bool one_by_one(tf_summing *e, int k) {
  if ((e->each | e->one_by_one | e->unlike) >> k & 1) return true;
  if (e->ev->parts && e->ev->parted[e->ev->plan->path[e->s->node].loops[k]]) return true;
  if (e->ev->plan->path[e->s->node].temporal >> k & 1)
    return uneven_each(e, k) ||
           (e->h && k >= e->n_above && (e->uneven_runs || e->ev->plan->clips) &&
            e->each & ~(~UINT64_C(0) << e->n_above));
  return uneven_before(e, k) || tf_before_differs(e, k);
}

/* Whether the sum is possible: a loop may have more settings than the sums may visit. */
static bool goes_on(const tf_summing *e) { return e->ok && !e->ev->irregular && !e->ev->ragged; }

/* Counts a setting; beyond the limit the sums stop, as if only the walk could count. */
static void visit(tf_summing *e) { e->ev->irregular |= ++e->ev->work > e->ev->work_most; }

/* The number of first settings of temporal loop k that all boxes counted one by one have, however
 * borders cut their ranges, and at which no border clips a box.  As many settings are counted at
 * once for each, so that equal boxes are found.  INT64_MAX: no limit. */
static int64_t alike_settings(const tf_summing *e, int k, int64_t edge) {
  const tf_plan *p = e->ev->plan;
  const int l = p->path[e->s->node].loops[k], o = tf_loop_op(e->ev, e->s->node, l);
  const int rank = tf_out_rank(&p->wl->ops[o], p->loops[l].dim);
  if (!p->cuts || !e->each || p->loops[l].axis != TF_TEMPORAL || rank < 0) return INT64_MAX;
  const tf_ends lost = p->lost[o * TF_MAX_RANK + rank];
  const int64_t step = tf_step(e->ev, e->s->node, l), all = tf_sat_add(lost.before, lost.after);
  e->ev->noclip = true;
  const int64_t n = (tf_loop_range(e->ev, e->s->node, l, e->w->cur).len + step - 1) / step;
  e->ev->noclip = false;
  return (n < e->ev->trip[l] ? n : e->ev->trip[l]) - all / step - 1 - edge;
}

/* Adds every setting of loop k that has points, of a range of len: settings with equal boxes at
 * once. */
static void sum_settings(tf_summing *e, int k, int64_t len, int64_t mult, uint64_t border) {
  const tf_plan *p = e->ev->plan;
  int l = p->path[e->s->node].loops[k];
  int64_t step = tf_step(e->ev, e->s->node, l);
  int64_t n = (len + step - 1) / step, full = len / step,
          from = k == e->stepping || k == e->run_loop;
  bool near = border >> k & 1;
  int64_t edge = ends(e, k, near), first = edge, m;
  n = n < e->ev->trip[l] ? n : e->ev->trip[l];
  full = full < n ? full : n;
  if (k < e->n_above && first < from + e->fine) first = from + e->fine;
  const int64_t alike = near ? alike_settings(e, k, edge) : INT64_MAX;
  if ((near && (n <= edge + first + 1 || alike <= first)) || one_by_one(e, k)) first = n;
  first = first < n ? first : n;
  for (int64_t i = from; i < first && goes_on(e); i++)
    sum_at(e, k, i, mult, border);
  int64_t low = first > from ? first : from, high = near ? n - edge : full;
  high = high < alike ? high : alike;
  if (high > low) {
    e->setting.slack[k] = high - low - 1;
    if (__builtin_mul_overflow(mult, high - low, &m))
      e->ok = false;
    else
      sum_at(e, k, low, m, near ? border & ~part_of(e, k) : border);
    e->setting.slack[k] = 0;
  }
  for (int64_t i = high > low ? high : low; i < n && goes_on(e); i++)
    sum_at(e, k, i, mult, border);
}

/* Adds setting `digit` of loop k, from the cache if a setting at the same distance from the mask's
 * edge was summed before.  Not inside the loop that steps: loops that start over were at their last
 * setting before, wherever that is. */
static void sum_near(tf_summing *e, int k, int64_t digit, int64_t mult, uint64_t border) {
  const tf_path *path = &e->ev->plan->path[e->s->node];
  if (!e->divides || (e->prev && e->zero >> k & 1) || !(e->skips & ~UINT64_C(0) << k << 1)) {
    sum_at(e, k, digit, mult, border);
    return;
  }
  visit(e);
  e->w->cur[path->loops[k]] = digit;
  const int64_t distance = tf_skip_distance(e->ev, e->s->node, k + 1, e->w->cur);
  tf_known *at = &e->known[((uint64_t)distance * 31 + (uint64_t)k) % TF_KNOWN_MAX];
  if (at->k != k || at->distance != distance) {
    const tf_words before = e->sum;
    e->sum = (tf_words){0};
    sum_at(e, k, digit, 1, border);
    *at = (tf_known){k, distance, e->sum};
    e->sum = before;
  }
  tf_sum_add(e, mult, at->sum);
}

/* Adds settings from .. to - 1 of loop k, which are equal. */
static void sum_alike(tf_summing *e, int k, int64_t from, int64_t to, int64_t mult,
                      uint64_t border) {
  int64_t m;
  if (to <= from) return;
  e->setting.slack[k] = to - from - 1;
  if (__builtin_mul_overflow(mult, to - from, &m))
    e->ok = false;
  else
    sum_at(e, k, from, m, border);
  e->setting.slack[k] = 0;
}

/* Adds every setting of loop k that the mask does not skip.  Equal ones are counted at once: those
 * of the innermost such loop, and those that the mask keeps whole, so that no step inside them is
 * skipped. */
static void sum_unmasked(tf_summing *e, int k, int64_t mult, uint64_t border) {
  const int l = e->ev->plan->path[e->s->node].loops[k];
  const int64_t len = e->divides ? 0 : tf_loop_range(e->ev, e->s->node, l, e->w->cur).len,
                step = tf_step(e->ev, e->s->node, l);
  const int64_t full = e->divides ? e->ev->trip[l] : len / step,
                turns = e->divides ? full : (len + step - 1) / step;
  const uint64_t inside = ~UINT64_C(0) << k << 1, skips = e->skips;
  const bool once = e->first_only >> k & 1 && !(skips & ~e->first_only & inside);
  tf_unmasked v = tf_skip_unmasked(e->ev, e->s->node, k, e->w->cur);
  int64_t at = v.first + (k == e->stepping);
  v.last = v.last < turns - 1 ? v.last : turns - 1; /* of this instance */
  if ((e->zero >> k & 1 && k != e->stepping) || once) {
    if (at <= v.last && at == v.first) sum_near(e, k, at, mult, border);
    return;
  }
  if (e->first_only || one_by_one(e, k)) {
    v.inner_last = -1;
  } else if (!(skips & inside)) {
    v.inner_first = v.first, v.inner_last = v.last;
  } else if (k == e->stepping) {
    v.inner_first++; /* nothing is skipped in the previous step, either */
  }
  int64_t from = v.inner_first > at ? v.inner_first : at,
          to = v.inner_last < full ? v.inner_last + 1 : full;
  for (; at <= v.last && (at < from || to <= from) && goes_on(e); at++)
    sum_near(e, k, at, mult, border);
  if (at > v.last) return;
  e->skips &= ~inside;
  sum_alike(e, k, from, to, mult, border);
  e->skips = skips;
  for (at = to; at <= v.last && goes_on(e); at++)
    sum_near(e, k, at, mult, border);
}

/* A figure as a function of a loop's setting. */
typedef int64_t figure(tf_summing *e, const void *what, int64_t digit);

/* The maximum of the figure over the loop's n settings.  Along a loop, borders make it rise and
 * then fall: with many settings it is found by hill climbing from the best of both ends and the
 * middle; if it is 0 there, all are visited.  So they are where reads of padding alone ask for the
 * nearest element, or a scope retains: level ground on both sides of a hill shows no way up. */
static int64_t largest(tf_summing *e, int64_t n, figure *f, const void *what) {
  const int64_t tries[] = {0, (n - 1) / 2, n / 2, n - 1};
  int64_t most = 0, at = 0;
  const bool level = (e->h || e->ev->plan->cuts) && n <= TF_EVERY_CLAMPED;
  bool every = n <= TF_EVERY_SETTING || e->ev->parts || level;
  for (int t = 0; t < 4 && !every; t++) {
    int64_t now = f(e, what, tries[t]);
    if (now > most) most = now, at = tries[t];
  }
  every |= most == 0;
  for (int64_t i = 0; i < n && every; i++) {
    int64_t now = f(e, what, i);
    most = now > most ? now : most;
  }
  for (int64_t by = n / 4; by > 0 && !every; by /= 2)
    for (int side = -1; side <= 1; side += 2)
      for (int64_t to = at + side * by; to >= 0 && to < n; to = at + side * by) {
        int64_t now = f(e, what, to);
        if (now <= most) break;
        most = now, at = to;
      }
  return most;
}

/* Position of the instance loop being set, and of the one whose range is wanted. */
typedef struct {
  int from, k;
} instance_of;

static int64_t longest(tf_summing *e, int k, int from);

static int64_t longest_at(tf_summing *e, const void *what, int64_t digit) {
  const instance_of *w = what;
  e->w->cur[e->ev->plan->path[e->s->node].loops[w->from]] = digit;
  return longest(e, w->k, w->from + 1);
}

/* The longest range that reaches position k in any of the instances counted together, with the
 * loops before `from` fixed: at borders they differ. */
static int64_t longest(tf_summing *e, int k, int from) {
  e->ev->work++;
  const tf_path *path = &e->ev->plan->path[e->s->node];
  while (from < path->n &&
         !((e->single & e->comp->loops) >> from & 1 && e->ev->trip[path->loops[from]] > 1))
    from++;
  if (from >= path->n) return tf_loop_range(e->ev, e->s->node, path->loops[k], e->w->cur).len;
  int64_t *digit = &e->w->cur[path->loops[from]];
  *digit = 0;
  int64_t most = largest(e, tf_nonempty_steps(e->ev, e->s->node, path->loops[from], e->w->cur),
                         longest_at, &(instance_of){from, k});
  *digit = 0;
  return most;
}

static tf_words one(bool found) { return (tf_words){1, found, found, found}; }

static bool multiply(tf_words *a, const tf_words *b) {
  return !__builtin_mul_overflow(a->all, b->all, &a->all) &&
         !__builtin_mul_overflow(a->some, b->some, &a->some) &&
         !__builtin_mul_overflow(a->always, b->always, &a->always) &&
         !__builtin_mul_overflow(a->kept, b->kept, &a->kept);
}

/* The sums of the parts below a retaining scope, in a run whose computed ranges are known: parts
 * are independent, so their sums multiply. */
static tf_words parts(tf_summing *e, uint64_t border) {
  const tf_comp *whole = e->comp;
  const tf_words before = e->sum;
  tf_words sum = one(e->prev && !e->dropped);
  for (int i = 0; i < whole->n_part; i++) {
    e->comp = &whole->part[i];
    e->sum = (tf_words){0};
    tf_leaf_forget(e->w->boxes);
    sum_loops(e, e->n_above, 1, border);
    e->ok &= multiply(&sum, &e->sum);
  }
  e->comp = whole;
  e->sum = before;
  return sum;
}

/* Borders that may still clip, and the instance loop being set. */
typedef struct {
  int k;
  uint64_t border;
} run_of;

static int64_t most_steps(tf_summing *e, int k, uint64_t border);

static int64_t steps_at(tf_summing *e, const void *what, int64_t digit) {
  const run_of *w = what;
  e->w->cur[e->ev->plan->path[e->s->node].loops[w->k]] = digit;
  return most_steps(e, w->k + 1, w->border);
}

/* The most steps that any instance of the scope takes in this run, with the loops before position k
 * fixed. */
static int64_t most_steps(tf_summing *e, int k, uint64_t border) {
  const tf_path *path = &e->ev->plan->path[e->s->node];
  while (k < e->n_above &&
         !((e->comp->loops & ~path->temporal) >> k & 1 && e->ev->trip[path->loops[k]] > 1))
    k++;
  if (k >= e->n_above) {
    int64_t steps = tf_before_arm(e) ? parts(e, border).all : 0;
    tf_before_disarm(e);
    return steps;
  }
  int64_t most = largest(e, tf_nonempty_steps(e->ev, e->s->node, path->loops[k], e->w->cur),
                         steps_at, &(run_of){k, border});
  e->w->cur[path->loops[k]] = 0;
  return most;
}

/* Adds the settings below a retaining scope, in one run of it.  (Where boxes are compared between
 * instances of the scope, all loops are one component.) */
static void in_run(tf_summing *e, int64_t mult, uint64_t border) {
  uint64_t above = e->n_above ? ~UINT64_C(0) >> (TF_MAX_PATH - e->n_above) : 0;
  if (e->single & above & e->comp->loops) {
    uint64_t single = e->single;
    e->single &= ~above;
    tf_sum_add(e, mult, (tf_words){.all = most_steps(e, 0, border)});
    e->single = single;
    return;
  }
  if (tf_before_arm(e)) {
    if (e->each & above) {
      sum_loops(e, e->n_above, mult, border);
    } else {
      tf_sum_add(e, mult, parts(e, border));
    }
  }
  tf_before_disarm(e);
}

static void sum_loops(tf_summing *e, int k, int64_t mult, uint64_t border) {
  const tf_plan *p = e->ev->plan;
  const tf_path *path = &p->path[e->s->node];
  visit(e);
  bool any = (p->cuts || e->ev->parts) && e->single & e->comp->loops;
  const uint64_t left = e->comp->loops & ~(any ? e->single : 0) & below(path->n) & ~below(k);
  k = left ? __builtin_ctzll(left) : path->n;
  if (!goes_on(e)) return;
  if (e->h && !e->runs_known && k >= e->n_above) {
    in_run(e, mult, border);
    return;
  }
  if (k == path->n) {
    if (!e->first_only || tf_skip_first(e->ev, e->s->node, e->first_only, NULL, e->w->cur))
      tf_leaf_add(e, mult);
    return;
  }
  if (p->loops[path->loops[k]].op < 0) {
    sum_at(e, k, 0, mult, border);
    return;
  }
  if (e->skips >> k & 1) {
    sum_unmasked(e, k, mult, border);
    return;
  }
  int64_t len =
      any ? longest(e, k, 0) : tf_loop_range(e->ev, e->s->node, path->loops[k], e->w->cur).len;
  if (len <= 0) {
    e->ev->irregular = true;
    return;
  }
  int64_t at = e->w->fixed[path->loops[k]];
  if (!((e->zero | e->single | e->start | e->ev->frozen) >> k & 1) || k == e->stepping ||
      k == e->run_loop)
    sum_settings(e, k, len, mult, border);
  else if (at * tf_step(e->ev, e->s->node, path->loops[k]) < len)
    sum_at(e, k, at, mult, border);
}

/* Sums by the loop whose step begins the run, if runs of a retaining scope matter. */
static void by_turn(tf_summing *e, uint64_t border) {
  const tf_path *path = &e->ev->plan->path[e->s->node];
  uint64_t above = e->ev->plan->path[e->h->scope].temporal;
  bool within = e->stepping < 0 || e->stepping >= e->n_above;
  for (int k = 0; k < path->n; k++)
    e->w->cur[path->loops[k]] = e->w->prv[path->loops[k]] = 0;
  for (e->run_loop = -1; e->run_loop < e->n_above; e->run_loop++) {
    bool first = e->run_loop < 0;
    if (!first && (!(above >> e->run_loop & 1) || e->ev->trip[path->loops[e->run_loop]] <= 1))
      continue;
    if (!first && e->ev->frozen >> e->run_loop & 1) continue;
    if (within ? !first && e->zero >> e->run_loop & 1 : e->run_loop != e->stepping) continue;
    e->start = first ? above : above & ~UINT64_C(1) << e->run_loop;
    sum_loops(e, 0, 1, border);
  }
}

static uint64_t spatial_mask(const tf_plan *p, const tf_path *path) {
  uint64_t mask = 0;
  for (int k = 0; k < path->n; k++)
    if (p->loops[path->loops[k]].axis != TF_TEMPORAL) mask |= UINT64_C(1) << k;
  return mask;
}

/* Whether different settings of the spatial loops in `merge` may give equal boxes. */
static bool may_coincide(const tf_summing *e, uint64_t merge) {
  const tf_plan *p = e->ev->plan;
  const tf_path *path = &p->path[e->s->node];
  int first = -1, chains = 0;
  for (int k = 0; k < path->n; k++) {
    if (!((merge & e->comp->loops) >> k & 1) || e->ev->trip[path->loops[k]] <= 1) continue;
    if (first < 0 || !tf_plan_same_chain(p, first, path->loops[k])) chains++;
    if (first < 0) first = path->loops[k];
  }
  return chains > 1 || (chains == 1 && !e->s->plain);
}

/* Loops above a retaining scope: their instances may compute different ranges, and are counted one
 * by one. */
static void set_each_above(tf_summing *e, uint64_t group, bool steps) {
  uint64_t above = e->n_above ? ~UINT64_C(0) >> (TF_MAX_PATH - e->n_above) : 0;
  uint64_t unmoved = group & e->comp->loops & ~e->comp->moving;
  if (steps && e->ev->plan->clips) {
    e->single |= unmoved;
    return;
  }
  e->single = (e->single & ~(above & e->comp->loops)) | (unmoved & ~above);
  e->each = unmoved & above;
  for (int i = 0; i < e->comp->n_part; i++)
    if (may_coincide(e, group & ~unmoved & e->comp->part[i].loops))
      e->each |= group & e->comp->loops & ~unmoved & e->comp->part[i].loops;
  if (e->uneven_runs) /* what is left to compute may be the same */
    e->each |= group & above & e->comp->loops;
  if (e->each & above) /* what they compute may be divided along any rank */
    e->each |= group & e->comp->loops & ~unmoved;
}

static void set_masks(tf_summing *e, enum tf_over over) {
  const tf_plan *p = e->ev->plan;
  uint64_t spatial = spatial_mask(p, &p->path[e->s->node]);
  uint64_t group = over == TF_OVER_GROUPS || over == TF_OVER_FIRST ? e->s->merge : 0;
  int from = e->c ? e->c->zero_from : TF_MAX_PATH;
  e->zero = from >= TF_MAX_PATH ? 0 : ~UINT64_C(0) << from & ~spatial;
  e->stepping = e->c ? e->c->stepping : -1;
  e->unlike = e->prev && e->prev != e->s ? e->w->unlike & e->comp->loops : 0;
  e->single = over == TF_OVER_STEPS ? spatial : 0;
  if (over == TF_OVER_WIDTH) e->zero = ~spatial;
  e->each = 0;
  if (e->comp->n_rank == 0 && over == TF_OVER_FIRST) e->zero |= e->s->inside & ~spatial;
  e->skips = e->ev->masked_too ? 0 : tf_skip_loops(p, e->s->node) & e->comp->loops;
  const uint64_t once = over == TF_OVER_FIRST ? e->s->inside & ~e->s->moving & ~spatial : 0;
  e->first_only = e->skips & (e->ev->frozen | once);
  if (e->skips) e->zero |= once & ~e->skips;
  const uint64_t before =
      e->prev && e->prev != e->s && !e->ev->masked_too ? tf_skip_loops(p, e->prev->node) : 0;
  e->one_by_one = before & e->comp->prev_loops ? before & e->comp->loops : 0;
  e->divides =
      e->skips && !e->first_only && !e->each && !e->h && tf_skip_divides(e->ev, e->s->node);
  if (before) e->divides &= tf_skip_divides(e->ev, e->prev->node);
  if (e->h) {
    set_each_above(e, over == TF_OVER_STEPS ? spatial : group, over == TF_OVER_STEPS);
  } else if (e->comp->n_rank == 0) {
    e->single |= group;
  } else { /* loops in the component only because their ranges depend on it do not move the box */
    uint64_t unmoved = group & e->comp->loops & ~e->s->moving & ~e->unlike;
    e->single |= unmoved;
    group &= ~unmoved;
    if (group & e->unlike) e->each = group & e->comp->loops;
    for (int i = 0; i < e->comp->n_part; i++) /* a mask connects loops that move different ranks */
      if (may_coincide(e, group & e->comp->part[i].loops))
        e->each |= group & e->comp->part[i].loops;
    if (!e->comp->n_part && group && may_coincide(e, group)) e->each = group & e->comp->loops;
  }
}

/* Whether settings near a border may differ, in ranges or in the ranks that count here. */
static bool clips(const tf_summing *e) {
  const tf_plan *p = e->ev->plan;
  bool padded = p->cuts;
  for (int i = 0; i < e->comp->n_rank; i++)
    padded |= p->wl->tensors[e->s->tensor].pad[e->comp->rank[i]] > 0;
  return padded;
}

/* The sum over one component; settings that a retaining scope makes different are split until each
 * part is uniform. */
static bool sum_comp(tf_summing *e, enum tf_over over) {
  uint64_t border = clips(e) ? ~UINT64_C(0) : 0;
  tf_known known[TF_KNOWN_MAX];
  tf_eval *ev = e->ev;
  if (e->comp->retain >= 0) {
    e->h = &ev->plan->retains[e->comp->retain];
    e->n_above = ev->plan->path[e->h->scope].n;
    e->uneven_runs = tf_retain_uneven(ev, e->h, e->w->zero);
  }
  e->run_loop = -1;
  set_masks(e, over);
  e->known = known;
  for (int i = 0; i < TF_KNOWN_MAX && e->skips; i++)
    known[i].k = -1;
  e->divides &= !border;
  do {
    ev->ragged = false;
    e->sum = (tf_words){0};
    tf_leaf_forget(e->w->boxes);
    for (int k = 0; k < ev->plan->path[e->s->node].n; k++)
      if (e->single >> k & 1) e->w->cur[ev->plan->path[e->s->node].loops[k]] = 0;
    if (e->h)
      by_turn(e, border);
    else
      sum_loops(e, 0, 1, border);
    e->fine++;
  } while (ev->ragged && e->fine < TF_FINE_MAX);
  ev->irregular |= ev->ragged;
  ev->ragged = false;
  e->known = NULL;
  return e->ok;
}

/* Whether the component's sum follows from its key; fills it. */
static bool key_of(tf_summing *e, enum tf_over over, tf_sum_key *k) {
  const uint64_t loops = e->comp->loops;
  if (!e->w->memo || e->comp->retain >= 0 || e->ev->plan->skips || (e->prev && e->prev != e->s))
    return false;
  set_masks(e, over);
  *k = (tf_sum_key){loops,
                    e->zero & loops,
                    e->single & loops,
                    e->each & loops,
                    e->ev->frozen & loops,
                    e->stepping >= 0 && loops >> e->stepping & 1 ? e->stepping : -1,
                    e->comp->n_rank,
                    e->comp->n_rank ? e->comp->rank[0] : -1,
                    e->prev != NULL};
  return true;
}

static bool same_key(const tf_sum_key *a, const tf_sum_key *b) {
  return a->loops == b->loops && a->zero == b->zero && a->single == b->single &&
         a->each == b->each && a->frozen == b->frozen && a->stepping == b->stepping &&
         a->n_rank == b->n_rank && a->rank == b->rank && a->prev == b->prev;
}

/* The sum over one component, from the cache if it is there. */
static bool find_comp(tf_summing *e, enum tf_over over) {
  tf_sum_memo *memo = e->w->memo;
  tf_sum_key key;
  if (!key_of(e, over, &key)) return sum_comp(e, over);
  for (int i = 0; i < memo->n; i++)
    if (same_key(&memo->key[i], &key)) {
      e->sum = (tf_words){memo->sum[i][0], memo->sum[i][1], memo->sum[i][2], memo->sum[i][3]};
      return true;
    }
  if (!sum_comp(e, over)) return false;
  if (memo->n < TF_SUM_KEYS && !e->ev->irregular) {
    const int64_t sum[] = {e->sum.all, e->sum.some, e->sum.always, e->sum.kept};
    memcpy(memo->sum[memo->n], sum, sizeof sum);
    memo->key[memo->n++] = key;
  }
  return true;
}

/* Initialises a sum.  Of its settings, which are long, only what the path uses is cleared. */
static void clear(tf_summing *e, const tf_path *path) {
  memset(e, 0, offsetof(tf_summing, setting));
  memset(e->setting.digit, 0, (size_t)path->n * sizeof *e->setting.digit);
  memset(e->setting.slack, 0, (size_t)path->n * sizeof *e->setting.slack);
}

bool tf_sum_over(tf_eval *ev, tf_scratch *w, const tf_slice *s, const tf_reuse_case *c, bool keeps,
                 enum tf_over over, tf_sum *out) {
  const tf_comp *comp = c ? c->comp : s->comp;
  int n = c ? c->n_comp : s->n_comp;
  const tf_slice *prev = c && keeps ? &ev->plan->slices[c->prev] : NULL;
  tf_words sum = one(prev != NULL);
  tf_summing e;
  for (int i = 0; i < n; i++) {
    clear(&e, &ev->plan->path[s->node]);
    e.ev = ev, e.w = w, e.s = s, e.prev = prev, e.c = c, e.comp = &comp[i], e.ok = true;
    if (!find_comp(&e, over) || !multiply(&sum, &e.sum)) return false;
  }
  out->kept = sum.kept;
  return !__builtin_add_overflow(sum.all, sum.some - sum.always, &out->box);
}
