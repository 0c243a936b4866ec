/* Shared by all methods of costing groups: the distinct groups, the best mapping of each, the
 * remaining time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "net/net.h"
#include "tileflow/tree.h"

#define LEAST_TIME 0.02 /* seconds that the closed form and the planner get in any case */

bool net_stopped(const net_costs *c) {
  return c->o->budget.stop && c->o->budget.stop(c->o->budget.ctx);
}

/* ---- distinct groups ------------------------------------------------------------------------ */
static uint64_t hash_of(const tf_group *g) {
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (size_t i = 0; i < g->key_size; i++)
    h = (h ^ (unsigned char)g->key[i]) * 1099511628211u;
  return h;
}

/* The number of an equal group; -1: there is none. */
static int find_like(const net_costs *c, const tf_group *g, uint64_t hash) {
  for (int i = c->bucket[hash % NET_BUCKETS] - 1; i >= 0; i = c->entry[i].next - 1) {
    const tf_group *have = c->entry[i].group;
    if (c->entry[i].hash == hash && have->key_size == g->key_size &&
        !memcmp(have->key, g->key, g->key_size))
      return i;
  }
  return -1;
}

static bool grow(net_costs *c) { return TF_GROW(c->entry, c->n) || tf_out_of_memory(c->d); }

/* Adds the group, and takes ownership. */
static bool add_group(net_costs *c, tf_group *g, uint64_t hash) {
  net_cost x = {.group = g, .hash = hash, .value = INFINITY, .next = c->bucket[hash % NET_BUCKETS]};
  if (!grow(c)) {
    tf_group_free(g);
    return false;
  }
  const bool counted = tf_bounds_of(c->arch, g->workload, &x.bounds);
  x.least = counted ? tf_bounds_value(c->o->objective, &x.bounds, c->arch) : INFINITY;
  c->entry[c->n++] = x;
  c->bucket[hash % NET_BUCKETS] = c->n;
  return true;
}

bool net_meet_kind(net_costs *c, const int *ops, int n, int *id, double *least) {
  tf_diags *d = tf_diags_new(); /* an impossible group is no error */
  if (!d) return tf_out_of_memory(c->d);
  tf_group *g = net_group_cut(c->wl, ops, n,
                              &(net_cutting){.name = "group",
                                             .splits = net_splits(c->o->target),
                                             .last = c->last,
                                             .recompute = c->o->recompute},
                              d);
  tf_diags_free(d);
  *least = INFINITY;
  if (!g) return true;
  const uint64_t hash = hash_of(g);
  *id = find_like(c, g, hash);
  if (*id >= 0) {
    tf_group_free(g);
  } else {
    if (!add_group(c, g, hash)) return false;
    *id = c->n - 1;
  }
  *least = c->entry[*id].least;
  return !net_stopped(c);
}

/* ---- mappings ------------------------------------------------------------------------------- */
void net_keep(net_cost *x, tf_tree **tree, double value, double cycles) {
  if (!*tree || !(value < x->value || (value == x->value && cycles < x->cycles))) return;
  tf_tree_free(x->tree);
  x->tree = *tree;
  x->value = value;
  x->cycles = cycles;
  *tree = NULL;
}

/* Whether time is over; a search is then skipped. */
bool net_is_late(net_costs *c) {
  const bool late = c->until < INFINITY && tf_now() >= c->until;
  c->skipped = c->skipped || late;
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

void net_tell(const net_costs *c, double best) {
  const tf_progress p = {.evals = c->evals, .shapes = c->evaluated, .best = best};
  if (c->o->budget.progress) c->o->budget.progress(c->o->budget.ctx, &p);
}

static void free_on_fewer(const net_costs *c, net_cost *x) {
  for (int i = 0; x->fewer && i < c->n_fewer; i++)
    tf_tree_free(x->fewer[i].tree);
  free(x->fewer);
}

void net_costs_free(net_costs *c) {
  for (int i = 0; i < c->n; i++) {
    tf_tree_free(c->entry[i].tree);
    free_on_fewer(c, &c->entry[i]);
    tf_group_free(c->entry[i].group);
  }
  free(c->entry);
  free(c->alone);
  net_parts_free(&c->parts);
  free(c->new_kinds);
}
