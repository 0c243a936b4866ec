/* The previous entry: its loop settings, and what a retaining scope computed then. */
#include "model/cost/general/summing.h"

enum { TF_BEFORE_BACK = 64 };

/* Instances of the spatial loop at position k that ran at some setting of the loops that now start
 * over. */
static int64_t ever_before(tf_summing *e, int k) {
  const tf_path *path = &e->ev->plan->path[e->s->node];
  int l = path->loops[k];
  int64_t kept[TF_MAX_PATH], step = tf_step(e->ev, e->s->node, l);
  uint64_t restarting = e->comp->loops & e->zero & path->temporal;
  for (int j = 0; j < k && e->ev->parts; j++) /* at other settings more may have run */
    e->ev->irregular |= restarting >> j & 1 && e->ev->parted[path->loops[j]];
  for (int j = e->earlier_run ? e->n_above : 0; j < k; j++) {
    kept[j] = e->w->prv[path->loops[j]];
    if (restarting >> j & 1) e->w->prv[path->loops[j]] = 0;
  }
  int64_t n = (tf_loop_range(e->ev, e->s->node, l, e->w->prv).len + step - 1) / step;
  for (int j = e->earlier_run ? e->n_above : 0; j < k; j++)
    e->w->prv[path->loops[j]] = kept[j];
  return n;
}

/* Whether an instance of the spatial loop at position k that is counted now (or that is
 * represented) did not run at the previous entry: then it holds what an older entry left. */
static bool idle_before(tf_summing *e, int k) {
  int l = e->ev->plan->path[e->s->node].loops[k];
  int64_t step = tf_step(e->ev, e->s->node, l), trip = e->ev->trip[l];
  if (trip <= 1) return false;
  int64_t then = (tf_loop_range(e->ev, e->s->node, l, e->w->prv).len + step - 1) / step;
  if (!(e->single >> k & 1)) return e->w->cur[l] + e->setting.slack[k] >= then;
  then = e->comp->n_rank ? then : ever_before(e, k);
  if (e->earlier_run) tf_retain_force(e->ev, e->h, &e->made);
  int64_t now = (tf_loop_range(e->ev, e->s->node, l, e->w->cur).len + step - 1) / step;
  if (e->earlier_run) tf_retain_force(e->ev, e->h, &e->prev_made);
  return then < (now < trip ? now : trip);
}

/* The last setting of temporal loop k of node n's path that is not skipped, with the loops outside
 * it at dg, in the current instance; if there is none, it holds what an older entry left. */
static int64_t last_not_skipped(tf_summing *e, int n, int k, uint64_t loops, const int64_t *dg) {
  const bool skips = !e->ev->masked_too && tf_skip_loops(e->ev->plan, n) >> k & 1;
  const int64_t own = skips && e->divides ? INT64_MAX : tf_last_setting(e->ev, n, k, loops, dg);
  if (!skips) return own;
  const tf_unmasked unmasked = tf_skip_unmasked(e->ev, n, k, dg);
  e->ev->irregular |= own < unmasked.first;
  return unmasked.last < 0 ? 0 : unmasked.last < own ? unmasked.last : own;
}

/* Sets the loops that the previous m-tile has below the common scope: spatial ones as now, others
 * at their last setting. */
static void set_own(tf_summing *e) {
  const tf_plan *p = e->ev->plan;
  const tf_path *own = &p->path[e->prev->node];
  int64_t *prv = e->w->prv;
  for (int k = 0; k < own->n; k++)
    if (e->comp->prev_loops >> k & 1 && !(own->temporal >> k & 1)) {
      int64_t twin = e->w->pair[own->loops[k]];
      prv[own->loops[k]] = twin >= 0 ? e->w->cur[twin] : 0;
    }
  for (int k = 0; k < own->n; k++)
    if (e->comp->prev_loops >> k & 1 && own->temporal >> k & 1)
      prv[own->loops[k]] = last_not_skipped(e, e->prev->node, k, e->comp->prev_loops, prv);
}

/* All positions of the path. */
static uint64_t all_of(const tf_path *path) {
  return path->n ? ~UINT64_C(0) >> (TF_MAX_PATH - path->n) : 0;
}

/* Sets the loops of s's path. */
static void set_path(tf_summing *e) {
  const tf_path *path = &e->ev->plan->path[e->s->node];
  const int64_t *cur = e->w->cur;
  int64_t *prv = e->w->prv;
  int from = e->earlier_run ? e->n_above : 0;
  const uint64_t loops = e->comp->loops & all_of(path),
                 restarting = loops & e->zero & path->temporal;
  for (uint64_t left = loops; left; left &= left - 1) {
    const int k = __builtin_ctzll(left);
    prv[path->loops[k]] = cur[path->loops[k]] - (k == e->stepping);
  }
  if (e->earlier_run) tf_retain_stand(e->ev, e->h, &e->prev_setting, prv);
  for (uint64_t left = from < TF_MAX_PATH ? restarting >> from << from : 0; left;
       left &= left - 1) {
    const int k = __builtin_ctzll(left);
    prv[path->loops[k]] = last_not_skipped(e, e->s->node, k, e->comp->loops, prv);
  }
  for (uint64_t left = loops & ~path->temporal; left; left &= left - 1)
    e->ev->irregular |= idle_before(e, __builtin_ctzll(left));
}

void tf_before_set(tf_summing *e) {
  if (e->earlier_run) tf_retain_force(e->ev, e->h, &e->prev_made);
  set_path(e);
  if (e->prev != e->s && e->comp->prev_loops) set_own(e);
}

/* Whether what s holds survives a step of loop k, further out than the one that steps now. */
static bool outlives(tf_summing *e, int k) {
  for (int i = 0; i < e->s->n_class; i++) {
    const tf_reuse_case *c = &e->s->classes[i];
    if (c->stepping != k) continue;
    e->ev->irregular |= c->prev >= 0 && &e->ev->plan->slices[c->prev] != e->s;
    e->ev->irregular |= c->if_idle[0] || c->if_idle[1];
    return c->prev >= 0;
  }
  return false;
}

/* Finds the latest earlier run in which `prev` was entered.  False: there is none, or its content
 * was dropped. */
static bool find_before(tf_summing *e) {
  tf_eval *ev = e->ev;
  e->prev_setting = e->setting;
  for (int n = 0; n < TF_BEFORE_BACK; n++) {
    int k = tf_retain_before(ev, e->h, e->w->prv, &e->prev_setting);
    if (k < 0 || (k != e->stepping && !outlives(e, k))) return false;
    tf_retain_made(ev, e->h, e->w->prv, &e->prev_setting, &e->prev_made);
    if (ev->plan->retain_at[e->prev->node] != ev->plan->retain_at[e->s->node] ||
        tf_retain_touched(ev, e->h, e->prev, e->w->prv))
      return true;
    ev->irregular |= e->prev != e->s || e->c->if_idle[0] || e->c->if_idle[1];
    tf_retain_skip(ev, e->h, &e->prev_setting);
  }
  ev->irregular = true;
  return false;
}

/* Whether the scope passed to a child named in `drops` that has points in the current run. */
static bool passes(const tf_summing *e, uint64_t drops, const int64_t *dg) {
  const tf_node *scope = &e->ev->plan->tree->nodes[e->h->scope];
  for (; drops; drops &= drops - 1)
    if (tf_retain_busy(e->ev, e->h, scope->children[__builtin_ctzll(drops)], dg)) return true;
  return false;
}

/* Words that the previous entry in the same run left: none, if it had no points. */
static void same_run(tf_summing *e) {
  const tf_plan *p = e->ev->plan;
  if (e->prev == e->s || p->retain_at[e->prev->node] != p->retain_at[e->s->node] ||
      tf_retain_touched(e->ev, e->h, e->prev, e->w->cur))
    return;
  e->dropped = true;
  e->ev->irregular |= p->home_scope[e->s->tensor] != e->h->scope || !e->prev->makes;
}

bool tf_before_arm(tf_summing *e) {
  const tf_plan *p = e->ev->plan;
  const tf_path *path = &p->path[e->h->scope];
  e->earlier_run = e->dropped = false;
  for (int k = 0; k < path->n; k++)
    e->setting.digit[k] = e->w->cur[path->loops[k]];
  for (int k = 0; k < p->path[e->s->node].n; k++)
    e->w->prv[p->path[e->s->node].loops[k]] = e->w->cur[p->path[e->s->node].loops[k]];
  e->ev->made = e->w->made;
  tf_retain_made(e->ev, e->h, e->w->cur, &e->setting, &e->made);
  e->runs_known = tf_retain_touched(e->ev, e->h, e->s, e->w->cur);
  if (!e->runs_known || !e->prev) return e->runs_known;
  e->dropped = passes(e, e->c->if_idle[0], e->w->cur);
  if (e->stepping < 0 || e->stepping >= e->n_above) {
    same_run(e);
    return true;
  }
  e->earlier_run = find_before(e);
  e->dropped |= !e->earlier_run || passes(e, e->c->if_idle[1], e->w->prv);
  tf_retain_force(e->ev, e->h, &e->made);
  return true;
}

void tf_before_disarm(tf_summing *e) {
  e->runs_known = false;
  e->ev->made = NULL;
}

bool tf_before_differs(tf_summing *e, int k) {
  const tf_plan *p = e->ev->plan;
  if (!e->earlier_run || k < e->n_above) return false;
  const tf_ploop *l = &p->loops[p->path[e->s->node].loops[k]];
  int64_t now = tf_dim_range(e->ev, l->op, l->dim, l->chain_node, e->w->cur).len;
  tf_retain_force(e->ev, e->h, &e->prev_made);
  int64_t then = tf_dim_range(e->ev, l->op, l->dim, l->chain_node, e->w->prv).len;
  tf_retain_force(e->ev, e->h, &e->made);
  return now != then;
}
