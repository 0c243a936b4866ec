/* Detects retention without reuse.  A run of a scope that retains computes what is needed and not
 * held (docs/SEMANTICS.md, D10).  A loop above the scope that cuts a range into tiles needs another
 * tile at each step, of which nothing is held; and a Seq further out may drop all that is.  If that
 * is true of all loops above that take more than one step, every run computes all that is needed,
 * as without retention. */
#include "model/eval/bare.h"

#include <stdlib.h>
#include <string.h>

#include "model/cost/quick/even.h"
#include "model/flow/range_memo.h"
#include "model/flow/retain.h"

tf_tree *tf_bare_tree(const struct tf_model *m) {
  const tf_plan *p = m->plan;
  for (int k = 0; k < p->n_retains; k++)
    if (p->retains[k].n_ops >= TF_MAX_RETAIN) return NULL; /* the plan may not list all of them */
  tf_tree *t = TF_NEW(m->arena, tf_tree);
  if (!t) return NULL;
  *t = *p->tree;
  t->nodes = TF_ARRAY(m->arena, tf_node, (size_t)t->n_nodes);
  if (!t->nodes) return NULL;
  memcpy(t->nodes, p->tree->nodes, (size_t)t->n_nodes * sizeof *t->nodes);
  for (int n = 0; n < t->n_nodes; n++)
    t->nodes[n].n_retain = 0;
  return t;
}

/* Positions of the loops above op o's home scope at whose steps nothing that is needed next is
 * held. */
static uint64_t renewed_by(const struct tf_model *bare, const tf_retain *h, int o) {
  const tf_even *e = bare->even;
  const int z = bare->plan->wl->ops[o].out;
  uint64_t all = h->drops;
  for (int r = 0; e && r < bare->plan->wl->tensors[z].rank; r++) {
    const int range = e->home[e->home_at[z] + r].range;
    if (e->ranges[range].what == TF_PART && tf_even_only_split(e, range))
      all |= e->ranges[range].depends;
  }
  return all;
}

/* Finds the loops above the scopes at whose steps something that is needed next may be held. */
static bool find_holding(struct tf_model *m) {
  const tf_plan *p = m->plan;
  m->holding = TF_ARRAY(m->arena, bool, (size_t)p->n_loops + 1);
  for (int k = 0; m->holding && k < p->n_retains; k++) {
    const tf_retain *h = &p->retains[k];
    const tf_path *path = &p->path[h->scope];
    for (int i = 0; i < h->n_ops; i++)
      for (uint64_t left = path->temporal & ~renewed_by(m->bare, h, h->ops[i]); left;
           left &= left - 1)
        m->holding[path->loops[__builtin_ctzll(left)]] = true;
  }
  return m->holding != NULL;
}

bool tf_bare_prepare(struct tf_model *m) {
  /* with retention the mean instance counts (SEMANTICS.md, section 5) */
  m->bare->means = true;
  m->bare->plan->skips = NULL; /* nor is a step left out (section 2) */
  return find_holding(m);
}

bool tf_bare_counts(struct tf_model *m, const int64_t *trips) {
  for (int l = 0; l < m->plan->n_loops; l++)
    if (m->holding[l] && (trips ? trips : m->own_trip)[l] > 1) return false;
  m->bare->walk_max = m->walk_max;
  m->bare->estimates = m->estimates;
  m->bare->fits_first = m->fits_first;
  m->bare->ev.work_most = m->ev.work_most;
  return true;
}

/* Whether steps that drop what is held occur at all. */
static bool is_any_dropped(const tf_plan *p, const int64_t *trip) {
  bool any = false;
  for (int k = 0; k < p->n_retains; k++)
    for (uint64_t left = p->retains[k].drops; left; left &= left - 1)
      any |= trip[p->path[p->retains[k].scope].loops[__builtin_ctzll(left)]] > 1;
  return any;
}

/* Whether ranges suggest that some op has no work in the setting. */
static bool may_idle(const tf_eval *ev, const int64_t *dg) {
  bool any = false;
  for (int o = 0; o < ev->plan->wl->n_ops && !any; o++)
    any = tf_op_idle(ev, o, ev->plan->tree->op_node[o], dg);
  return any;
}

/* The same as tf_retain_drops, given that without work an op reads nothing: so others may have
 * none, either. */
static bool drops_exactly(struct tf_model *by, const tf_retain *h, int64_t *dg) {
  tf_range_memo *const before = by->plan->memo;
  tf_arena *memo = tf_arena_new(); /* without it this is slower, with the same result */
  tf_eval ev = by->ev;
  if (memo && !tf_range_memo_exact(memo, by->plan)) by->plan->memo = before;
  ev.exact = true;
  const bool all = tf_retain_drops(&ev, h, dg);
  by->plan->memo = before;
  tf_arena_free(memo);
  return all;
}

bool tf_always_drops(const tf_plan *p, struct tf_model *by) {
  if (!is_any_dropped(p, by->ev.trip)) return true;
  int64_t *dg = calloc((size_t)p->n_loops + 1, sizeof *dg);
  bool all = dg != NULL;
  for (int k = 0; k < p->n_retains && all; k++)
    all = tf_retain_drops(&by->ev, &p->retains[k], dg) &&
          (!may_idle(&by->ev, dg) || drops_exactly(by, &p->retains[k], dg));
  free(dg);
  return all;
}

bool tf_bare_holds(struct tf_model *m) {
  struct tf_model *bare = m->bare;
  /* the quick count needs no steps */
  return !is_any_dropped(m->plan, bare->ev.trip) ||
         ((!bare->quick || tf_eval_steps(&bare->ev)) && tf_always_drops(m->plan, bare));
}
