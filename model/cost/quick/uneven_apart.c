/* Ops that share loops and advance by different steps: each has a bound of its own (uneven_sum.c),
 * and in a step beyond it the op's branch of the tree is idle.  Branches with independent tiles are
 * counted one by one, each by its op's steps; above them, the moments at which some op is active
 * count. */
#include "model/cost/quick/uneven_plan.h"

enum { MOST_APART = 4 };

/* How far the loop at a position of node n's path moves the first op below n that it splits;
 * *mixed: others below move by another step.  0: it splits none. */
static int64_t step_of(const struct tf_model *m, int n, int pos, bool *mixed) {
  const tf_plan *p = m->plan;
  const int l = p->path[n].loops[pos];
  int64_t first = 0;
  for (int i = 0; i < p->loops[l].n_leader; i++) {
    const int o = p->loops[l].leaders[i];
    if (!tf_op_below(p->facts, o, n)) continue;
    const int64_t step = m->value[m->even->op_step[o * p->n_loops + l]];
    if (!first) first = step;
    *mixed |= step != first;
  }
  return first;
}

/* Fills the steps of node n. */
static bool node_steps(struct tf_model *m, int n) {
  const tf_path *path = &m->plan->path[n];
  tf_uneven_node *u = &m->uneven->node[n];
  bool all = true;
  u->mixed = false;
  for (int k = 0; k < path->n; k++) {
    u->step[k] = m->value[m->even->step[path->loops[k]]];
    if (!m->mixed_steps || m->ev.trip[path->loops[k]] <= 1) continue;
    const int64_t step = step_of(m, n, k, &u->mixed);
    bool any = false; /* ops elsewhere may move by other steps */
    for (int i = 0; i < m->even->n_equals; i++)
      any |= m->even->equals[i].loop == path->loops[k] &&
             m->value[m->even->equals[i].a] != m->value[m->even->equals[i].b];
    all &= step > 0 || !any;
    if (step) u->step[k] = step;
  }
  return all;
}

/* The ops below mixed node n that its loops split; their number, 0: too many, or they do not share
 * all loops. */
static int apart_below(const struct tf_model *m, int n, int *ops) {
  const tf_plan *p = m->plan;
  int count = 0;
  for (int k = 0; k < p->path[n].n; k++) {
    const tf_ploop *l = &p->loops[p->path[n].loops[k]];
    int below = 0;
    for (int i = 0; i < l->n_leader; i++) {
      if (!tf_op_below(p->facts, l->leaders[i], n)) continue;
      if (below == MOST_APART) return 0;
      if (k == 0)
        ops[count++] = l->leaders[i];
      else if (below == count || ops[below] != l->leaders[i])
        return 0;
      below++;
    }
    if (below != count) return 0;
  }
  return count;
}

/* Whether the moments of mixed node n follow from the bounds of its ops, which are whole extents,
 * and nothing there depends on which op is active: no Tile holds a tensor that both use, and no
 * scope drops what one holds while the other is active. */
static bool may_mix(const struct tf_model *m, int n) {
  const tf_plan *p = m->plan;
  const tf_uneven_node *u = &m->uneven->node[n];
  int ops[MOST_APART];
  bool ok =
      !m->views->node[n].n_slices && !tf_plan_drops(&p->tree->nodes[n]) && apart_below(m, n, ops);
  for (int c = 0; c < u->n; c++)
    ok = ok && m->even->ranges[m->even->chains[u->chain[c].chain].base].what == TF_WHOLE;
  for (int o = 0; o < p->wl->n_ops; o++)
    ok = ok && p->stream[o].node != n;
  return ok;
}

/* Whether the slice's entries find what a sibling left whose op advances by other steps. */
static bool finds_apart(const struct tf_model *m, const tf_slice *s) {
  const tf_plan *p = m->plan;
  for (int c = 0; c < s->n_class; c++) {
    if (s->classes[c].prev < 0 || s->classes[c].common < 0) continue;
    const tf_uneven_node *a = &m->uneven->node[s->node],
                         *b = &m->uneven->node[p->slices[s->classes[c].prev].node];
    for (int k = 0; k < p->path[s->classes[c].common].n; k++)
      if (a->step[k] != b->step[k] && m->ev.trip[p->path[s->node].loops[k]] > 1) return true;
  }
  return false;
}

bool tf_uneven_steps(struct tf_model *m) {
  const tf_plan *p = m->plan;
  bool ok = !m->mixed_steps || !(p->clips || p->n_retains || m->open || !tf_even_alike(m));
  for (int n = 0; n < p->tree->n_nodes && ok; n++)
    ok = node_steps(m, n) && (!m->uneven->node[n].mixed || may_mix(m, n));
  for (int i = 0; i < p->n_tile_slices && ok && m->mixed_steps; i++)
    ok = !finds_apart(m, &p->slices[i]);
  return ok;
}

/* Ops of a mixed node that must all be active, and the loops that are fixed. */
typedef struct {
  const struct tf_model *m;
  const tf_path *path;
  const int *ops;
  unsigned with; /* of ops[] */
  uint64_t zero;
  int stepping;
} active_ops;

/* The digit of an op's bound for a loop; *rest: the remaining part of the last element's number. */
static int64_t digit_of(const active_ops *g, int at, const tf_turn *t, int64_t *rest) {
  const tf_plan *p = g->m->plan;
  const int l = g->path->loops[__builtin_ctzll(t->bit)];
  const int64_t step = g->m->value[g->m->even->op_step[g->ops[at] * p->n_loops + l]],
                digit = *rest / step;
  *rest -= digit * step;
  return digit;
}

/* The settings of a chain's loops at which all of the ops are active: up to the least of their
 * bounds, digit by digit from the outside. */
static int64_t settings_of(const active_ops *g, const tf_path_chain *of) {
  int64_t rest[MOST_APART], below = 0;
  unsigned least = g->with; /* ops whose bound is least so far */
  bool equal = true;
  for (int i = 0; i < MOST_APART; i++)
    rest[i] = of->len - 1;
  for (const tf_turn *t = of->turn; t < of->turn + of->n_turn; t++) {
    const int64_t n = g->zero & t->bit ? 1 : t->trip,
                  first = g->stepping >= 0 && t->bit >> g->stepping & 1;
    int64_t digit[MOST_APART], bound = INT64_MAX;
    for (unsigned left = least; left; left &= left - 1) {
      const int i = __builtin_ctz(left);
      digit[i] = digit_of(g, i, t, &rest[i]);
      bound = digit[i] < bound ? digit[i] : bound;
    }
    for (unsigned left = least; left; left &= left - 1)
      if (digit[__builtin_ctz(left)] > bound) least &= ~(left & -left);
    below *= n - first;
    const int64_t most = bound < n ? bound : n;
    if (equal && most > first) below += most - first;
    equal &= bound >= first && bound < n;
  }
  return below + equal;
}

int64_t tf_uneven_mixed(const struct tf_model *m, int n, uint64_t zero, int stepping) {
  const tf_uneven_node *u = &m->uneven->node[n];
  int ops[MOST_APART];
  const int count = apart_below(m, n, ops);
  int64_t sum = 0;
  for (unsigned with = 1; with < 1U << count;
       with++) { /* some op is active: inclusion and exclusion over subsets */
    const active_ops g = {m, &m->plan->path[n], ops, with, zero, stepping};
    int64_t all = 1;
    for (int c = 0; c < u->n; c++)
      all *= settings_of(&g, &u->chain[c]);
    sum += __builtin_popcount(with) % 2 ? all : -all;
  }
  return sum;
}
