/* Mappings of groups on fewer chips than there are.  Formulas fill every mesh as far as they can,
 * and on more chips a search has more mappings to choose from, of which it sees the same number: so
 * a small group may get a worse mapping on more chips, though any mapping for fewer is one for
 * more. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net/net.h"
#include "search/common/objective.h"
#include "tileflow/tree.h"

/* The outermost memory of which there are several; -1: none. */
static int chips_of(const tf_arch *a) {
  for (int l = 1; l < a->n_memories; l++)
    if (a->memories[l].mesh[0] > 1 || a->memories[l].mesh[1] > 1) return l;
  return -1;
}

bool net_find_fewer(net_planning *s) {
  net_costs *c = &s->costs;
  const int chips = net_for_kernels(c) ? -1 : chips_of(c->arch);
  if (chips < 0) return true;
  int64_t mesh[2] = {c->arch->memories[chips].mesh[0], c->arch->memories[chips].mesh[1]};
  int n = 0;
  for (int side = 0; side < 2; side++)
    for (int64_t k = mesh[side]; k > 1; k = (k + 1) / 2)
      n++;
  c->fewer = TF_ARRAY(s->a, tf_arch, (size_t)n);
  if (!c->fewer) return tf_out_of_memory(c->d);
  for (int i = 0; i < n; i++) {
    tf_memory *m = TF_ARRAY(s->a, tf_memory, (size_t)c->arch->n_memories);
    if (!m) return tf_out_of_memory(c->d);
    memcpy(m, c->arch->memories, sizeof *m * (size_t)c->arch->n_memories);
    int64_t *side = &mesh[mesh[1] > mesh[0]];
    *side = (*side + 1) / 2;
    memcpy(m[chips].mesh, mesh, sizeof mesh);
    c->fewer[i] = *c->arch;
    c->fewer[i].memories = m;
  }
  c->n_fewer = n;
  return true;
}

static bool meet_fewer(const net_costs *c, net_cost *x) {
  if (x->fewer) return true;
  x->fewer = calloc((size_t)c->n_fewer, sizeof *x->fewer);
  for (int i = 0; x->fewer && i < c->n_fewer; i++) {
    net_cost *y = &x->fewer[i];
    *y = (net_cost){.group = x->group, .value = INFINITY};
    const bool counted = tf_bounds_of(&c->fewer[i], x->group->workload, &y->bounds);
    y->least = counted ? tf_bounds_value(c->o->objective, &y->bounds, &c->fewer[i]) : INFINITY;
  }
  return x->fewer || tf_out_of_memory(c->d);
}

/* Keeps the mapping on fewer chips if it is better on all; whether it is. */
static bool keep_on_all(const net_costs *c, net_cost *x, const net_cost *y, tf_diags *d) {
  const double before = x->value;
  tf_tree *t = y->tree ? tf_tree_copy(y->tree, c->arch, x->group->workload, d) : NULL;
  tf_figures f;
  if (t && tf_figures_of_tree(t, TF_COUNT_ALL, &f)) {
    net_keep(x, &t, tf_objective_value(c->o->objective, &f), f.cycles);
    if (x->value < before) x->slabs = y->slabs;
  }
  tf_tree_free(t);
  return x->value < before;
}

/* Half of the chips, half of these, as long as that gains: each try costs as much as that on all.
 */
bool net_on_fewer(net_costs *c, net_cost *x, net_work *work, int64_t evals) {
  net_costs all = *c;
  bool ok = true, gains = true;
  if (c->n_fewer && !meet_fewer(c, x)) return false;
  for (int i = 0; ok && gains && i < all.n_fewer; i++) {
    if (x->value <= NET_NEAR * x->least || net_is_late(c)) break;
    net_cost *y = &x->fewer[i];
    if (!(y->least < x->value)) break;
    c->d = tf_diags_new(); /* what has no mapping on fewer chips has one on all */
    c->arch = &all.fewer[i];
    ok = c->d && (work(c, y, evals) || !net_stopped(c));
    c->arch = all.arch;
    gains = ok && keep_on_all(c, x, y, c->d);
    tf_diags_free(c->d);
    c->d = all.d;
  }
  return ok;
}
