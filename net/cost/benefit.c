/* What fusing gains: what groups cost apart, less what one group of them costs (the benefit of TLF,
 * T(L3) - T(L2, N): outside on-chip memory as they are, or inside it in N slices). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "net/net.h"
#include "tileflow/tree.h"

/* Of networks of at most FEW_OPS ops, single ops and at most MAPPED distinct groups of two groups'
 * ops are mapped for this alone, the latter no more than one for each MET groups of the search.
 * Elsewhere that would be a third of the time, and the least that they may cost is said. */
enum { FEW_OPS = 32, MAPPED = 12, MET = 16 };

typedef struct {
  net_planning *s;
  int *of;          /* [n_ops] the group that stores what it makes; of others, the first */
  int *times;       /* [n_ops] groups that have it */
  bool *after;      /* [groups] of `between`: those that come after the first */
  int most, mapped; /* pairs to map, mapped so far */
  bool maps;        /* what is not known may be mapped */
} gains;

/* ---- what passes ---------------------------------------------------------------------------- */
/* The words written and read of a tensor of so many words, which the outermost memory moves. */
static double cycles_of(const tf_arch *a, double words) {
  const tf_memory *m = &a->memories[0];
  return m->one_port ? 2 * words / m->read_bw : fmax(words / m->read_bw, words / m->write_bw);
}

/* Whether the group is given the tensor, as it is or as a view. */
static bool reads(const tf_workload *wl, const tf_net_group *g, int tensor) {
  for (int t = 0; t < g->group->workload->n_tensors; t++) {
    const int z = g->group->tensor[t], of = wl->tensors[z].view_of;
    if ((of ? of - 1 : z) == tensor && g->group->workload->tensors[t].producer < 0) return true;
  }
  return false;
}

/* Words of what group i makes and group k reads; of i = k, of what it keeps inside. */
static double words_between(const gains *x, int i, int k) {
  const tf_workload *wl = x->s->costs.wl;
  const tf_net_group *g = &x->s->plan->groups[i];
  double words = 0;
  for (int o = 0; o < g->group->workload->n_ops; o++) {
    const int z = wl->ops[g->group->op[o]].out;
    const tf_tensor *own = &g->group->workload->tensors[g->group->workload->ops[o].out];
    if (i == k ? own->n_consumers > 0 : reads(wl, &x->s->plan->groups[k], z))
      words += (double)tf_tensor_words(&wl->tensors[z]);
  }
  return words;
}

int64_t net_slices(const tf_tree *t) {
  int64_t n = 1;
  for (int i = 0; t->nodes[i].kind == TF_TILE; i = t->nodes[i].children[0])
    for (int l = 0; l < t->nodes[i].n_temporal; l++)
      if (__builtin_mul_overflow(n, t->nodes[i].loops[l].trip, &n)) return INT64_MAX;
  return n;
}

/* ---- why not -------------------------------------------------------------------------------- */
static bool has(const int *ops, int n, int op) {
  for (int i = 0; i < n; i++)
    if (ops[i] == op) return true;
  return false;
}

/* A tensor that is read both by ops of the set, of which one makes it, and by others, unless it is
 * made again anyway. */
static const tf_tensor *read_outside(const gains *x, const int *ops, int n, int *reader) {
  const tf_workload *wl = x->s->costs.wl;
  for (int i = 0; i < n; i++) {
    const tf_tensor *z = &wl->tensors[wl->ops[ops[i]].out];
    if (x->times[ops[i]] > 1) continue;
    int inside = 0, outside = -1;
    for (int k = 0; k < z->n_consumers; k++)
      if (has(ops, n, z->consumers[k]))
        inside++;
      else
        outside = z->consumers[k];
    if (!inside || outside < 0) continue;
    *reader = outside;
    return z;
  }
  return NULL;
}

/* A group that has to run between two: it reads what the first makes, or what such a one makes, and
 * the second reads of it so.  -1: there is none. */
static int between(const gains *x, int first, int second) {
  const tf_workload *wl = x->s->costs.wl;
  const tf_net_plan *p = x->s->plan;
  memset(x->after, 0, (size_t)p->n * sizeof *x->after);
  for (int g = first + 1; g <= second; g++) {
    const tf_group *own = p->groups[g].group;
    for (int t = 0; t < own->workload->n_tensors; t++) {
      const int maker = wl->tensors[own->tensor[t]].producer;
      const int from = maker < 0 || own->workload->tensors[t].producer >= 0 ? -1 : x->of[maker];
      if (from < 0 || from == g) continue;
      if (g == second && from != first && x->after[from]) return from;
      x->after[g] |= from == first || x->after[from];
    }
  }
  return -1;
}

/* What forbids a group of these ops, of two groups; false: nothing that is known without a cut. */
static bool forbidden(const gains *x, const int *ops, int n, tf_net_benefit *b) {
  const tf_workload *wl = x->s->costs.wl;
  const int mid = between(x, b->first, b->second);
  int reader = -1;
  const tf_tensor *z = read_outside(x, ops, n, &reader);
  if (mid >= 0)
    snprintf(b->why, sizeof b->why, "group %d runs between", mid + 1);
  else if (z)
    snprintf(b->why, sizeof b->why, "%.60s is read by %.60s, too", z->name, wl->ops[reader].name);
  else if (n > NET_MAX_GROUP)
    snprintf(b->why, sizeof b->why, "%d ops, of %d at most", n, NET_MAX_GROUP);
  else if (!net_may_group(wl, ops, n, x->s->costs.o->recompute))
    snprintf(b->why, sizeof b->why, "a view, or bytes multiplied, of what is made inside");
  return *b->why;
}

/* ---- values --------------------------------------------------------------------------------- */
static int by_place(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* The ops of both groups, in the order of the network; their number, 0 without memory. */
static int join(const gains *x, int first, int second, int **ops) {
  const tf_workload *wl = x->s->costs.wl;
  const tf_group *g[] = {x->s->plan->groups[first].group, x->s->plan->groups[second].group};
  const int all = g[0]->workload->n_ops + g[1]->workload->n_ops;
  int n = 0, *place = TF_ARRAY(x->s->a, int, (size_t)wl->n_ops);
  *ops = TF_ARRAY(x->s->a, int, (size_t)all);
  if (!place || !*ops) return 0;
  for (int k = 0; k < wl->n_ops; k++)
    place[wl->topo[k]] = k;
  for (int i = 0; i < 2; i++)
    for (int o = 0; o < g[i]->workload->n_ops; o++)
      (*ops)[n++] = place[g[i]->op[o]];
  qsort(*ops, (size_t)n, sizeof **ops, by_place);
  int distinct = 0; /* some may be made in both */
  for (int i = 0; i < n; i++)
    if (!i || (*ops)[i] != (*ops)[distinct - 1]) (*ops)[distinct++] = (*ops)[i];
  for (int i = 0; i < distinct; i++)
    (*ops)[i] = wl->topo[(*ops)[i]];
  return distinct;
}

/* What one group of the ops costs, which is searched for unless that is too much.  False: stopped,
 * or no memory. */
static bool value_of_both(gains *x, const int *ops, int n, tf_net_benefit *b) {
  net_costs *c = &x->s->costs;
  const int most = c->o->max_ops ? c->o->max_ops : TF_NET_MAX_OPS;
  int id = -1;
  if (!net_meet(c, ops, n, &id, &b->fused)) return false;
  if (id < 0) {
    snprintf(b->why, sizeof b->why, "more dims than a group has");
    return true;
  }
  double cost;
  const bool asked = x->maps && x->mapped < x->most && !c->entry[id].known;
  x->mapped += asked;
  if (asked && !net_cost_of(c, id, &cost)) return false;
  b->at_least = !net_cost_known(c, id, &b->fused);
  if (!b->at_least && c->entry[id].tree) b->slices = net_slices(c->entry[id].tree);
  if (n > most)
    snprintf(b->why, sizeof b->why, "%d ops, of --max-ops %d", n, most);
  else if (isinf(b->fused))
    snprintf(b->why, sizeof b->why, "no mapping was found that fits");
  return true;
}

static bool weigh_pair(gains *x, int first, int second) {
  const net_costs *c = &x->s->costs;
  const double words = words_between(x, first, second);
  tf_net_plan *p = x->s->plan;
  int *ops;
  tf_net_benefit b = {.first = first, .second = second, .words = 2 * words, .fused = INFINITY};
  b.cycles = cycles_of(x->s->arch, words);
  b.apart = c->entry[x->s->cuts.id[first]].value + c->entry[x->s->cuts.id[second]].value;
  const int n = join(x, first, second, &ops);
  if (!n) return tf_out_of_memory(c->d);
  if (!forbidden(x, ops, n, &b) && !value_of_both(x, ops, n, &b)) return false;
  if (!TF_GROW(p->benefits, p->n_benefits)) return tf_out_of_memory(c->d);
  p->benefits[p->n_benefits++] = b;
  return true;
}

/* A group beside its ops, each a group of its own. */
static bool weigh_ops(gains *x, int i) {
  net_costs *c = &x->s->costs;
  tf_net_plan *p = x->s->plan;
  const tf_net_group *g = &p->groups[i];
  const double words = words_between(x, i, i);
  tf_net_benefit b = {.first = i, .second = i, .words = 2 * words};
  b.cycles = cycles_of(x->s->arch, words);
  b.fused = c->entry[x->s->cuts.id[i]].value;
  b.slices = net_slices(g->tree);
  for (int o = 0; o < g->group->workload->n_ops; o++) {
    int id = -1;
    double least = INFINITY, cost = INFINITY;
    if (!net_meet_kind(c, &g->group->op[o], 1, &id, &least)) return false;
    if (id >= 0 && x->maps && !net_cost_of(c, id, &cost)) return false;
    if (id >= 0 && !x->maps && !net_cost_known(c, id, &cost)) b.apart_at_least = true;
    b.apart += cost;
  }
  if (!TF_GROW(p->benefits, p->n_benefits)) return tf_out_of_memory(c->d);
  p->benefits[p->n_benefits++] = b;
  return true;
}

/* Each group before that makes what group i reads. */
static bool weigh_makers(gains *x, int i) {
  const tf_group *g = x->s->plan->groups[i].group;
  bool *makes = TF_ARRAY(x->s->a, bool, (size_t)i + 1), ok = true;
  if (!makes) return tf_out_of_memory(x->s->costs.d);
  for (int t = 0; ok && t < g->workload->n_tensors; t++) {
    const int maker = x->s->costs.wl->tensors[g->tensor[t]].producer;
    if (g->workload->tensors[t].producer < 0 && maker >= 0 && x->of[maker] < i)
      makes[x->of[maker]] = true;
  }
  for (int k = 0; ok && k < i; k++)
    if (makes[k]) ok = weigh_pair(x, k, i);
  return ok;
}

bool net_benefits(net_planning *s) {
  net_costs *c = &s->costs;
  gains x = {.s = s,
             .of = TF_ARRAY(s->a, int, (size_t)c->wl->n_ops),
             .times = TF_ARRAY(s->a, int, (size_t)c->wl->n_ops),
             .after = TF_ARRAY(s->a, bool, (size_t)s->plan->n + 1)};
  bool ok = true;
  if (!x.of || !x.times || !x.after) return tf_out_of_memory(c->d);
  const int64_t by_met = 1 + c->evaluated / MET;
  x.maps = !net_has_kernels(c) && c->wl->n_ops <= FEW_OPS;
  x.most = by_met < MAPPED ? (int)by_met : MAPPED;
  c->until = c->deadline;
  for (int i = 0; ok && i < s->plan->n; i++)
    for (int o = 0; o < s->plan->groups[i].group->workload->n_ops; o++) {
      const tf_group *g = s->plan->groups[i].group;
      const bool stored = !g->workload->tensors[g->workload->ops[o].out].n_consumers;
      if (stored || !x.times[g->op[o]]) x.of[g->op[o]] = i;
      x.times[g->op[o]]++;
    }
  for (int i = 0; ok && i < s->plan->n; i++)
    ok = weigh_makers(&x, i) && (s->plan->groups[i].group->workload->n_ops < 2 || weigh_ops(&x, i));
  return ok;
}
