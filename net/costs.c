/* The costs of groups: the best closed-form mapping, and where that is far from its bound, a short search. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "net/net.h"
#include "search/common/objective.h"
#include "tileflow/planner.h"
#include "tileflow/solve.h"
#include "tileflow/tree.h"

enum { FORMULAS = 1000, SHORT_SEARCH = 800, SLOWER = 20 };
/* mappings evaluated, and how many times longer one takes in which slabs of several ops overlap */
#define LEAST_TIME 0.02 /* seconds that the closed form and the planner get, even past the deadline */
/* Relative to the bound: a mapping nearer than this needs no search yet; for a group of several ops, one that is
 * farther away cannot be saved by a search from there. */
#define NEAR 1.02
#define FAR 1.5

static bool no_memory(const net_costs *c) { return tf_out_of_memory(c->d); }

bool net_stopped(const net_costs *c) { return c->o->budget.stop && c->o->budget.stop(c->o->budget.ctx); }

/* ---- distinct groups -------------------------------------------------------------------------------------- */
static uint64_t hash_of(const tf_group *g) {
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (size_t i = 0; i < g->key_size; i++)
    h = (h ^ (unsigned char)g->key[i]) * 1099511628211u;
  return h;
}

/* The number of an equal group; -1: it is the first of its kind. */
static int find_like(const net_costs *c, const tf_group *g, uint64_t hash) {
  for (int i = c->bucket[hash % NET_BUCKETS] - 1; i >= 0; i = c->at[i].next - 1) {
    const tf_group *have = c->at[i].group;
    if (c->at[i].hash == hash && have->key_size == g->key_size && !memcmp(have->key, g->key, g->key_size)) return i;
  }
  return -1;
}

static bool grow(net_costs *c) { return TF_GROW(c->at, c->n) || no_memory(c); }

/* Takes over the group. */
static bool add(net_costs *c, tf_group *g, uint64_t hash) {
  net_cost x = {.group = g, .hash = hash, .value = INFINITY, .next = c->bucket[hash % NET_BUCKETS]};
  if (!grow(c)) {
    tf_group_free(g);
    return false;
  }
  const bool counted = tf_bounds_of(c->arch, g->workload, &x.bounds);
  x.least = counted ? tf_bounds_value(c->o->objective, &x.bounds, c->arch) : INFINITY;
  c->at[c->n++] = x;
  c->bucket[hash % NET_BUCKETS] = c->n;
  return true;
}

bool net_meet(void *costs, const int *ops, int n, int *id, double *least) {
  net_costs *c = costs;
  tf_diags *d = tf_diags_new(); /* a group that is not possible is no error */
  if (!d) return no_memory(c);
  tf_group *g = net_group_cut(c->wl, ops, n, &(net_cutting){.name = "group", .splits = net_splits(c->o->target)}, d);
  tf_diags_free(d);
  *least = INFINITY;
  if (!g) return true;
  const uint64_t hash = hash_of(g);
  *id = find_like(c, g, hash);
  if (*id >= 0) {
    tf_group_free(g);
  } else {
    if (!add(c, g, hash)) return false;
    *id = c->n - 1;
  }
  if (n > 1 && net_has_kernels(c) && !net_least_of_kernels(c, *id, ops, n)) return false;
  *least = c->at[*id].least;
  return !net_stopped(c);
}

/* ---- mappings --------------------------------------------------------------------------------------------- */
/* Keeps the mapping where it is better. */
void net_keep(net_cost *x, tf_tree **tree, double value, double cycles) {
  if (!*tree || !(value < x->value || (value == x->value && cycles < x->cycles))) return;
  tf_tree_free(x->tree);
  x->tree = *tree;
  x->value = value;
  x->cycles = cycles;
  *tree = NULL;
}

/* Whether time is up, for a search that could have been made. */
bool net_is_late(net_costs *c) {
  const bool late = c->until < INFINITY && tf_now() >= c->until;
  c->late = c->late || late;
  return late;
}

tf_budget net_part_of(const net_costs *c, int64_t evals) {
  const double left = c->until - tf_now();
  return (tf_budget){.time_limit = isinf(left)         ? 0
                                   : left > LEAST_TIME ? left
                                                       : LEAST_TIME,
                     .max_evals = evals,
                     .max_effort = evals,
                     .threads = c->o->budget.threads,
                     .seed = c->o->budget.seed,
                     .stop = c->o->budget.stop,
                     .ctx = c->o->budget.ctx};
}

static void by_formulas(net_costs *c, net_cost *x) {
  const tf_solve_opts o = {.objective = c->o->objective, .budget = net_part_of(c, FORMULAS), .alone = true};
  tf_diags *d = tf_diags_new(); /* what formulas cannot do may still be searched for */
  tf_solve_result *r = d ? tf_solve_closed(c->arch, x->group->workload, &o, d) : NULL;
  if (r) {
    c->evals += r->evals;
    c->late = c->late || r->stopped_by == TF_STOP_TIME;
    net_keep(x, &r->tree, r->value, r->figures.cycles);
  }
  tf_solve_free(r);
  tf_diags_free(d);
}

/* Searches all mappings of the group from its best on, or the completions of `open`. */
static bool by_search(net_costs *c, net_cost *x, const tf_tree *open, int64_t evals, tf_diags *d) {
  const tf_tree *start[] = {x->tree};
  tf_search_opts o = {.objective = c->o->objective,
                      .all_points = true, /* many groups in little time */
                      .budget = net_part_of(c, evals),
                      .keep = 1,
                      .starts = start,
                      .n_starts = x->tree && !open};
  /* slow counts (reads partly in the padding) would use up the effort before anything is found: what is fused is
   * limited by its few evaluations, and an op, which needs some mapping, by evaluations only */
  if (open || (!x->tree && x->group->workload->n_ops == 1)) o.budget.max_effort = 0;
  if (!x->tree && x->group->workload->n_ops == 1) o.budget.time_limit = 0;
  tf_search_result *r = tf_search_run(c->arch, x->group->workload, open, &o, d);
  if (!r) return false;
  c->evals += r->evals;
  c->late = c->late || r->stopped_by == TF_STOP_TIME;
  if (r->n_best) net_keep(x, &r->best[0].tree, r->best[0].value, r->best[0].figures.cycles);
  tf_search_free(r);
  return true;
}

/* For chains of which formulas find no good tiles: slabs of an image that pass through several convolutions, with
 * their skip. */
static bool by_template(net_costs *c, net_cost *x, int64_t evals) {
  const double before = x->value;
  tf_tree *open = tf_search_template(c->arch, x->group->workload, TF_TEMPLATE_WHOLE);
  const bool ok = !open || by_search(c, x, open, (evals + SLOWER - 1) / SLOWER, c->d);
  tf_tree_free(open);
  x->slabs = x->slabs || x->value < before;
  return ok;
}

void net_tell(const net_costs *c, double best) {
  const tf_progress p = {.evals = c->evals, .shapes = c->evaluated, .best = best};
  if (c->o->budget.progress) c->o->budget.progress(c->o->budget.ctx, &p);
}

/* A mapping better than that of formulas, if such a one is worth a search. */
static bool refine(net_costs *c, net_cost *x) {
  const bool several = x->group->workload->n_ops > 1;
  if (x->value <= NEAR * x->least || (x->tree && net_is_late(c))) return true;
  if (several && x->value > FAR * x->least) return by_template(c, x, SHORT_SEARCH);
  return by_search(c, x, NULL, SHORT_SEARCH, c->d);
}

bool net_cost_of(void *costs, int id, double *cost) {
  net_costs *c = costs;
  net_cost *x = &c->at[id];
  if (!x->known && x->group->workload->n_ops > 1 && net_is_late(c)) {
    *cost = INFINITY; /* an equal one may come when there is time */
    return !net_stopped(c);
  }
  if (!x->known && net_has_kernels(c) && !net_kernel_of(c, id)) return false;
  if (!x->known) {
    by_formulas(c, x);
    if (!refine(c, x)) return false;
    x->known = true;
    c->evaluated++;
    net_tell(c, INFINITY);
  }
  *cost = x->value;
  return !net_stopped(c);
}

bool net_cost_known(void *costs, int id, double *cost) {
  const net_costs *c = costs;
  *cost = c->at[id].value;
  return c->at[id].known;
}

bool net_improve(net_costs *c, int id, int64_t evals) {
  net_cost *x = &c->at[id];
  if (x->tree && net_is_late(c)) return !net_stopped(c);
  if (net_for_kernels(c)) return net_by_planner(c, id, evals);
  return (x->slabs ? by_template(c, x, evals) : by_search(c, x, NULL, evals, c->d)) && !net_stopped(c);
}

void net_costs_free(net_costs *c) {
  for (int i = 0; i < c->n; i++) {
    tf_tree_free(c->at[i].tree);
    tf_group_free(c->at[i].group);
  }
  free(c->at);
  free(c->alone);
  free(c->fresh);
}
