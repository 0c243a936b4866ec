/* The plan of a network: cut into groups, each mapped, and totals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/locale.h"
#include "net/net.h"
#include "search/common/objective.h"
#include "tileflow/tree.h"

/* ---- one group ------------------------------------------------------------------------------ */
/* An error, if the kernel cannot be made, is reported where its cycles are asked for. */
static void expect_cycles(tf_net_group *g, const tf_net_opts *o, const tf_result *r) {
  tf_diags *d = tf_diags_new();
  const tf_emit_options e = {.isa = o->isa, .dtype = o->dtype, .choices = g->choices, .result = r};
  if (d && !tf_emit_expected(g->tree, o->target, &e, &g->expected, d))
    g->expected = (tf_expected){0};
  tf_diags_free(d);
}

bool net_evaluate(const tf_arch *arch, tf_net_group *g, const tf_net_opts *o, tf_loc at,
                  tf_diags *d) {
  const tf_workload *wl = g->group->workload;
  tf_model *m = tf_model_new(g->tree, d);
  tf_result r = {0};
  bool ok = m && tf_model_eval(m, NULL, &r);
  if (ok && !r.feasible)
    ok = tf_fail(d, at, r.violations[0].code,
                 "the mapping of this group does not fit: %lld needed %s %s, %lld there",
                 (long long)r.violations[0].need, r.violations[0].unit < 0 ? "of" : "below",
                 arch->memories[r.violations[0].level].name, (long long)r.violations[0].have);
  else if (m && !ok)
    ok = tf_model_starved(m) ? tf_out_of_memory(d)
                             : tf_fail(d, at, r.overflow ? TF_E_OVERFLOW : TF_E_COVER,
                                       r.overflow ? "a count of this mapping passes 2^63 - 1"
                                                  : "the trip counts do not reach the extents");
  if (ok) g->figures = tf_figures_of(arch, wl, &r);
  if (ok) memcpy(g->bottleneck, r.bottleneck, sizeof g->bottleneck);
  for (int k = 0; ok && k < wl->n_ops; k++) {
    g->points += (double)r.ops[k].points;
    g->recomputed += (double)r.ops[k].recomputed;
  }
  if (ok && o) expect_cycles(g, o, &r);
  tf_model_free(m);
  return ok && tf_bounds_find(arch, wl, &g->bounds, d);
}

/* The mapping of group i, whose cost entry is x: a given one, that of an equal group, or x's; with
 * the choices for its kernel. */
static tf_tree *mapping_of(net_planning *s, int i, const net_cost *x) {
  const net_costs *c = &s->costs;
  tf_net_group *g = &s->plan->groups[i];
  const tf_workload *wl = g->group->workload;
  const size_t errors = tf_diags_errors(c->d);
  tf_tree *known =
      g->like == i && c->o->known ? c->o->known(c->o->known_ctx, wl, &g->choices, c->d) : NULL;
  const tf_tree *from = g->like == i ? x->tree : s->plan->groups[g->like].tree;
  if (g->like != i) g->choices = s->plan->groups[g->like].choices;
  s->plan->n_known += known != NULL;
  s->unknown = !known && tf_diags_errors(c->d) > errors;
  if (known || s->unknown) return known;
  if (from) return tf_tree_copy(from, s->arch, wl, c->d);
  tf_fail(c->d, wl->ops[0].at, TF_E_CAPACITY, "no mapping of op '%.60s' was found that fits",
          wl->ops[0].name);
  return NULL;
}

/* Figures of the first group of each kind, on the architecture as given. */
static bool set_figures(const net_planning *s, tf_net_group *g) {
  const net_costs *c = &s->costs;
  const size_t errors = tf_diags_errors(c->d);
  if (!net_evaluate(s->arch, g, net_has_kernels(c) ? c->o : NULL, g->group->workload->at, c->d))
    return false;
  if (net_has_kernels(c))
    g->kernel_cycles = tf_emit_cycles(
        g->tree, c->o->target,
        &(tf_emit_options){.isa = c->o->isa, .dtype = c->o->dtype, .choices = g->choices}, c->d);
  if (tf_diags_errors(c->d) == errors) return true;
  const tf_op *op = &g->group->workload->ops[0];
  tf_note(c->d, op->at, "op '%.60s' is in this group, which has no kernel", op->name);
  return false;
}

static bool make_group(net_planning *s, int i) {
  const net_costs *c = &s->costs;
  tf_net_group *g = &s->plan->groups[i];
  const net_cost *x = &c->entry[s->cuts.id[i]];
  const int *ops = s->cuts.op + s->cuts.first[i], n = s->cuts.first[i + 1] - s->cuts.first[i];
  char name[300];
  snprintf(name, sizeof name, "%.250s.%d", c->wl->name, i + 1);
  s->plan->n = i + 1;
  g->group = net_group_cut(c->wl, ops, n,
                           &(net_cutting){.name = name,
                                          .loc = c->wl->ops[ops[0]].at,
                                          .splits = net_splits(c->o->target),
                                          .last = c->last,
                                          .recompute = c->o->recompute},
                           c->d);
  if (!g->group) return false;
  int *like = &s->same_entry[s->cuts.id[i]];
  if (!*like) *like = i + 1;
  g->like = *like - 1;
  if (g->like != i && s->plan->groups[g->like].kernel_cycles < 0)
    return false; /* reported for the first one */
  g->tree = mapping_of(s, i, x);
  if (!g->tree || !tf_tree_place(g->tree, g->group->workload->name, c->d)) return false;
  if (g->like == i) return set_figures(s, g);
  const tf_net_group *same = &s->plan->groups[g->like];
  g->figures = same->figures;
  g->bounds = same->bounds;
  g->points = same->points;
  g->recomputed = same->recomputed;
  g->kernel_cycles = same->kernel_cycles;
  g->expected = same->expected;
  memcpy(g->bottleneck, same->bottleneck, sizeof g->bottleneck);
  return true;
}

/* ---- all groups ----------------------------------------------------------------------------- */
bool net_sum(const tf_arch *arch, const tf_workload *wl, tf_net_plan *p, tf_diags *d) {
  p->n_distinct = 0;
  for (int i = 0; i < p->n; i++) {
    const tf_net_group *g = &p->groups[i];
    p->n_distinct += g->like == i;
    p->total.cycles += g->figures.cycles;
    p->total.energy_pj += g->figures.energy_pj;
    p->total.traffic_words += g->figures.traffic_words;
    p->total.held_words = fmax(p->total.held_words, g->figures.held_words);
    p->parts.cycles += g->bounds.cycles;
    p->parts.energy_pj += g->bounds.energy_pj;
    p->expected_cycles += g->expected_cycles;
    if (g->kernel_cycles > 0) p->kernel_cycles += fmax(g->memory_cycles, g->kernel_cycles);
    if (__builtin_add_overflow(p->parts.traffic_words, g->bounds.traffic_words,
                               &p->parts.traffic_words))
      return tf_fail(d, wl->at, TF_E_OVERFLOW, "the words of all groups pass 2^63 - 1");
  }
  p->total.edp = p->total.energy_pj * p->total.cycles / arch->clock_hz;
  return tf_bounds_find(arch, wl, &p->bounds, d);
}

/* ---- passes --------------------------------------------------------------------------------- */
/* Whether the group's kernel is so near to its bound that a search is pointless. */
static bool is_settled(const net_costs *c, const net_cost *x) {
  const double near = 1.005;
  return net_has_kernels(c) && x->tree &&
         x->value <= near * tf_bounds_value(c->o->objective, &x->bounds, c->arch);
}

/* A longer search for each distinct group of the cut. */
static bool improve(net_planning *s) {
  net_costs *c = &s->costs;
  const int64_t asked = c->o->budget.max_evals, evals = asked ? asked : TF_NET_EVALS;
  bool *seen = TF_ARRAY(s->a, bool, (size_t)c->n);
  int *id = TF_ARRAY(s->a, int, (size_t)s->cuts.n), n = 0;
  if (!seen || !id) return tf_out_of_memory(c->d);
  for (int i = 0; i < s->cuts.n; i++) {
    if (!seen[s->cuts.id[i]] && !is_settled(c, &c->entry[s->cuts.id[i]])) id[n++] = s->cuts.id[i];
    seen[s->cuts.id[i]] = true;
  }
  if (net_at_once(c) > 1) return net_improve_all(c, id, n, evals);
  for (int i = 0; i < n; i++) {
    net_time_improve(c, n - i);
    if (!net_improve(c, id[i], evals)) return false;
  }
  return true;
}

/* If no cut has a finite cost: reports each op that cannot be mapped as a group of its own. */
static bool report_unmapped(net_planning *s) {
  net_costs *c = &s->costs;
  for (int o = 0; o < c->wl->n_ops; o++) {
    int id = -1;
    double least, cost = INFINITY;
    if (!net_meet(c, &o, 1, &id, &least) || (id >= 0 && !net_cost_of(c, id, &cost))) return false;
    if (isinf(cost))
      tf_fail(c->d, c->wl->ops[o].at, TF_E_CAPACITY, "no mapping of op '%.60s' was found that fits",
              c->wl->ops[o].name);
  }
  return false;
}

static bool cut(net_planning *s) {
  const net_costs *c = &s->costs;
  const net_cost_source source = {
      .meet = net_meet,
      .cost = net_cost_of,
      .known = net_cost_known,
      .ahead = net_plan_ahead,
      .at_once = net_has_kernels(c) && net_at_once(c) > 1 ? NET_MOST_AT_ONCE : 1,
      .reach = net_time_reach,
      .recompute = c->o->recompute,
      .ctx = &s->costs};
  const int max_ops = c->o->max_ops ? c->o->max_ops : TF_NET_MAX_OPS;
  if (!net_time_begin(&s->costs) || !net_plan_alone(&s->costs)) return false;
  if (!net_partition(s->a, c->wl, max_ops, &source, &s->cuts, c->d)) return false;
  return isinf(s->cuts.cost) ? report_unmapped(s) : true;
}

/* All orders cost the same, but need different amounts of memory between groups. */
static bool order(net_planning *s) {
  return net_order(s->a, s->costs.wl, &s->cuts) || tf_out_of_memory(s->costs.d);
}

static bool make_groups(net_planning *s) {
  const net_costs *c = &s->costs;
  tf_net_plan *p = s->plan;
  p->objective = c->o->objective;
  if (net_splits(c->o->target)) {
    snprintf(p->target, sizeof p->target, "%s", c->o->target);
    snprintf(p->isa, sizeof p->isa, "%s", c->o->isa ? c->o->isa : "");
    snprintf(p->dtype, sizeof p->dtype, "%s", c->o->dtype ? c->o->dtype : "");
  }
  p->window = s->cuts.window;
  p->exact = s->cuts.exact;
  p->evals = c->evals;
  p->candidates = c->n;
  p->evaluated = c->evaluated;
  p->stopped_by = c->skipped ? TF_STOP_TIME : TF_STOP_EXHAUSTED;
  p->groups = calloc((size_t)s->cuts.n + 1, sizeof *p->groups);
  s->same_entry = TF_ARRAY(s->a, int, (size_t)c->n);
  if (!p->groups || !s->same_entry) return tf_out_of_memory(c->d);
  bool ok = true;
  for (int i = 0; i < s->cuts.n && (ok || !(s->unknown || net_stopped(c)));
       i++) /* each that cannot be made is reported */
    if (!make_group(s, i)) ok = false, p->groups[i].kernel_cycles = -1;
  return ok;
}

/* Cycles of memories, for kernels whose estimates are without them. */
static bool left(net_planning *s) {
  const net_costs *c = &s->costs;
  return !net_has_kernels(c) || tf_emit_cycles_whole(c->o->target) ||
         net_cache_residue(s->a, c->arch, c->wl, s->plan, c->arch != s->arch, c->d);
}

/* The plan's sums, and what fusing gains. */
static bool sum(net_planning *s) {
  return net_sum(s->arch, s->costs.wl, s->plan, s->costs.d) && net_benefits(s);
}

/* In execution order. */
static bool (*const passes[])(net_planning *s) = {net_find_fewer, cut,  improve, order,
                                                  make_groups,    left, sum};
enum { N_PASSES = sizeof passes / sizeof passes[0] };

static bool check_options(const tf_net_opts *o, tf_diags *d) {
  if (o->objective == TF_EDP)
    return tf_fail(d, (tf_loc){0}, TF_E_USAGE,
                   "edp is no sum over groups: plan for latency, energy or traffic");
  if (o->max_ops < 0 || o->max_ops > NET_MAX_GROUP)
    return tf_fail(d, (tf_loc){0}, TF_E_RANGE, "groups of 1 to %d ops, not %d", NET_MAX_GROUP,
                   o->max_ops);
  return true;
}

tf_net_plan *tf_net_plan_of(const tf_arch *arch, const tf_workload *wl, const tf_net_opts *o,
                            tf_diags *d) {
  TF_IN_C_LOCALE;
  if (!check_options(o, d) || (o->target && !tf_emit_suits(o->target, arch, d))) return NULL;
  net_planning *s = calloc(1, sizeof *s);
  tf_net_plan *p = calloc(1, sizeof *p);
  tf_arena *a = tf_arena_new();
  bool ok = false;
  if (s && p && a) {
    const double limit = o->budget.time_limit, now = tf_now(),
                 end = limit > 0 ? now + limit : INFINITY;
    *s = (net_planning){
        .costs =
            {.arch = arch, .wl = wl, .o = o, .d = d, .begun = now, .deadline = end, .until = end},
        .arch = arch,
        .a = a,
        .plan = p};
    ok = (net_channels_last(a, wl, o->target, o->dtype, &s->costs.last) && net_scale_rates(s)) ||
         tf_out_of_memory(d);
    for (int i = 0; ok && i < N_PASSES; i++)
      ok = passes[i](s);
    net_costs_free(&s->costs);
  } else {
    tf_out_of_memory(d);
  }
  free(s);
  tf_arena_free(a);
  if (ok) return p;
  tf_net_plan_free(p);
  return NULL;
}

void tf_net_plan_free(tf_net_plan *p) {
  if (!p) return;
  for (int i = 0; i < p->n; i++) {
    tf_tree_free(p->groups[i].tree);
    tf_group_free(p->groups[i].group);
  }
  free(p->groups);
  free(p->benefits);
  free(p);
}
