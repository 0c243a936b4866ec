/* Scopes that retain if each run of them computes all that it needs, or nothing.  A run computes
 * what is needed and not held (docs/SEMANTICS.md, D10).  Of the loops above the scope, one that
 * cuts a range into tiles needs another tile at each step, of which nothing is held.  One that
 * moves nothing needs the same tile again: inside the last loop that cuts, all of it is held at
 * each step but the first.  So the ops that compute it run only while those inner loops are at
 * their first step: their sums have these loops fixed there. */
#include "model/cost/quick/uneven_plan.h"
#include "model/flow/retain.h"

/* The retaining scope whose runs determine the ranges of all ops that the slice touches, or that
 * are below its node; -1: of none, SOME: of some ops only. */
enum { SOME = -2 };
static int made_in(const tf_plan *p, const tf_slice *s) {
  int made = 0, all = 0;
  for (int i = 0; i < s->n_touch; i++, all++)
    made += p->made_in[s->touch[i].op] >= 0;
  for (int n = s->node; n < p->tree->nodes[s->node].end && !s->n_touch; n++)
    if (p->tree->nodes[n].kind == TF_OP) all++, made += p->made_in[p->tree->nodes[n].op] >= 0;
  if (p->retain_at[s->node] < 0 || !made) return -1;
  return made == all ? p->retain_at[s->node] : SOME;
}

int tf_run_of_node(const tf_plan *p, int n) {
  const int made = made_in(p, &(tf_slice){.node = n, .level = -1, .tensor = -1});
  return made < 0 ? -1 : made;
}

static bool follows(const tf_even *e, int i) {
  bool any = false;
  for (int r = 0; r < e->slices[i].n_rank; r++)
    any |= e->ranges[e->slices[i].range[r]].by_run;
  return any;
}

/* Whether sums can count what slice u finds of what the other one left. */
static bool finds(const tf_plan *p, const tf_even *e, const tf_uneven_slice *u, int prev) {
  const tf_slice *q = &p->slices[prev];
  const int made = made_in(p, q);
  if (u->run < 0) return made == -1 && !follows(e, prev);
  return made == u->run || (made == -1 && p->retain_at[q->node] == u->run);
}

int tf_run_found(const tf_plan *p, const tf_slice *s, const tf_reuse_case *c) {
  if (c->prev < 0 || c->common < 0 || c->stepping >= 0 || made_in(p, s) != -1 ||
      c->if_idle[0] | c->if_idle[1])
    return -1;
  const tf_slice *q = &p->slices[c->prev];
  const int made = made_in(p, q);
  return made >= 0 && q->makes && p->home_scope[s->tensor] == p->retains[made].scope ? made : -1;
}

bool tf_run_tells(const tf_plan *p, const tf_even *e, int i, tf_uneven_slice *out) {
  const tf_slice *s = tf_slice_at(p, i);
  const int made = made_in(p, s);
  out->run = out->needs = made < 0 ? -1 : made;
  if (i >= p->n_slices) return made == -1;
  if (made == SOME || (made < 0 && follows(e, i))) return false;
  for (int c = 0; c < s->n_class; c++) {
    const tf_reuse_case *k = &s->classes[c];
    if (k->prev < 0) continue;
    if (tf_run_found(p, s, k) >= 0) {
      out->needs = tf_run_found(p, s, k);
      continue;
    }
    if (!finds(p, e, out, k->prev)) return false;
    if (made >= 0 || !(k->if_idle[0] | k->if_idle[1])) continue;
    out->needs = p->retain_at[s->node];
    if (out->needs < 0 || k->if_idle[1] || k->stepping < 0) return false;
  }
  return true;
}

/* ---- in one evaluation ---------------------------------------------------------------------- */

/* Positions of loops at whose steps another tile of op o's result is needed; *moves: at whose steps
 * something else is needed. */
static uint64_t renewing(const struct tf_model *m, int o, uint64_t *moves) {
  const tf_even *e = m->even;
  const int z = m->plan->wl->ops[o].out;
  uint64_t all = 0;
  *moves = 0;
  for (int r = 0; r < m->plan->wl->tensors[z].rank; r++) {
    const int range = e->home[e->home_at[z] + r].range;
    *moves |= e->ranges[range].depends;
    if (e->ranges[range].what == TF_PART && tf_even_only_split(e, range))
      all |= e->ranges[range].depends;
  }
  return all;
}

/* Whether every instance takes several steps of the chain of a loop inside position k, for all
 * settings of the loops outside of k: all of its settings occur, or none of its loops is spatial or
 * outside. */
static bool goes_round(const struct tf_model *m, const tf_path *path, int chain, int k) {
  const tf_even *e = m->even;
  const tf_even_range *base = &e->ranges[e->chains[chain].base];
  int first = -1;
  bool plain = true;
  for (int i = 0; i < path->n; i++) {
    const int l = path->loops[i];
    if (m->ev.trip[l] <= 1) continue;
    plain &= e->ranges[e->chains[e->chain_of[l]].base].what ==
             TF_WHOLE; /* then chains are independent */
    if (e->chain_of[l] != chain) continue;
    plain &= path->temporal >> i & 1;
    if (first < 0) first = i;
  }
  if (first < 0 || base->what != TF_WHOLE || base->by_run) return false;
  const int64_t step = m->value[e->step[path->loops[first]]];
  return m->ev.trip[path->loops[first]] * step == base->len ||
         (plain && first > k && base->len > step);
}

/* Whether loops that cut are inside position k, so that a step of the loop there needs another tile
 * than the first. */
static bool cuts_inside(const struct tf_model *m, const tf_path *path, uint64_t renews, int k) {
  bool any = false;
  for (uint64_t left = renews & ~UINT64_C(0) << k << 1; left && !any; left &= left - 1)
    any = goes_round(m, path, m->even->chain_of[path->loops[__builtin_ctzll(left)]], k);
  return any;
}

/* The loops above the scope at whose first step alone its retained results are computed.  False:
 * runs may compute parts. */
static bool find_still(const struct tf_model *m, const tf_retain *h, uint64_t *still) {
  const tf_path *path = &m->plan->path[h->scope];
  uint64_t turning = 0, renews = 0, moves;
  for (int k = 0; k < path->n; k++)
    turning |= (uint64_t)(m->ev.trip[path->loops[k]] > 1) << k;
  turning &= path->temporal;
  for (int i = 0; i < h->n_ops; i++) {
    const uint64_t own = renewing(m, h->ops[i], &moves) & turning;
    if ((moves | h->drops) & turning & ~own) return false;
    if (i && own != renews) return false;
    renews = own;
  }
  *still = turning & ~renews;
  if (!renews) return true;
  const int last = 63 - __builtin_clzll(renews);
  bool cut = true;
  for (uint64_t outer = *still & ((UINT64_C(1) << last) - 1); outer && cut; outer &= outer - 1)
    cut = cuts_inside(m, path, renews, __builtin_ctzll(outer));
  *still &= ~((UINT64_C(1) << last) - 1);
  return cut;
}

void tf_run_begin(struct tf_model *m) {
  const tf_plan *p = m->plan;
  tf_uneven *u = m->uneven;
  for (int k = 0; k < p->n_retains; k++) {
    const tf_retain *h = &p->retains[k];
    u->still[k] = 0;
    u->tells[k] = h->n_ops > 0 && h->n_ops < TF_MAX_RETAIN && find_still(m, h, &u->still[k]);
  }
  for (int i = 0; i < p->n_slices + p->wl->n_ops; i++) {
    tf_uneven_slice *x = &u->slice[i];
    if (tf_slice_at(p, i)->node < 0) continue;
    x->off = x->to_general || (x->needs >= 0 && !u->tells[x->needs]);
    for (int r = 0; x->run >= 0 && r < m->even->slices[i].n_rank; r++)
      x->off |= (m->even->ranges[m->even->slices[i].range[r]].depends & u->still[x->run]) != 0;
  }
  for (int i = 0; i < m->even->n_singles; i++)
    u->slice[m->even->singles[i].slice].off |= m->ev.trip[m->even->singles[i].loop] > 1;
}
