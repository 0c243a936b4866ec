/* The costs of groups: the best closed-form mapping and, if that is far from its bound, a short
 * search. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/demand/demand.h"
#include "net/net.h"
#include "planner/planner.h"
#include "search/common/objective.h"
#include "tileflow/solve.h"
#include "tileflow/tree.h"

enum { FORMULAS = 1000, SHORT_SEARCH = 800, SLOWER = 20 };
/* mappings evaluated; with overlapping slabs of several ops one takes that many times longer */
/* Relative to the bound: a mapping of several ops beyond FAR cannot be saved by a search from
 * there. */
#define FAR 1.5
/* A group of several ops is expected to take this share of its work, beyond its largest op, longer
 * than the kernels of its ops alone. So it is planned only if it may save a relevant number of
 * words: two convolutions rarely do, a convolution and the map after it nearly always. */
#define GAIN 0.03
/* Points for each word from which on an op is compute-bound. Each such op of a group takes as long
 * as its unit does alone, even if the kernel's estimate is lower: the maximum of two sums would
 * hide the rest of each. */
#define DEAR 16
/* If a kernel's cycles include its memories and its start, fusing saves both: a group is expected
 * to cost at least this share of its dearest op's kernel. */
#define KEPT 0.6
/* Otherwise a group competes with its ops apart, or with this multiple of its expected cost: a
 * mapping far from that rarely comes near. */
#define REACHED 1.3
/* The baseline is this share of the kernels of its ops (planner/rank.c has a multiple). */
#define APART 0.4

static void by_formulas(net_costs *c, net_cost *x) {
  const tf_solve_opts o = {
      .objective = c->o->objective, .budget = net_part_of(c, FORMULAS), .alone = true};
  tf_diags *d = tf_diags_new(); /* what formulas cannot do may still be searched for */
  tf_solve_result *r = d ? tf_solve_closed(c->arch, x->group->workload, &o, d) : NULL;
  if (r) {
    c->evals += r->evals;
    c->skipped = c->skipped || r->stopped_by == TF_STOP_TIME;
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
  /* slow evaluations (reads partly in padding) would use up the effort before anything is found:
   * fused groups are limited by their few evaluations, and an op, which needs some mapping, by
   * evaluations only */
  if (open || (!x->tree && x->group->workload->n_ops == 1)) o.budget.max_effort = 0;
  if (!x->tree && x->group->workload->n_ops == 1) o.budget.time_limit = 0;
  tf_search_result *r = tf_search_run(c->arch, x->group->workload, open, &o, d);
  if (!r) return false;
  c->evals += r->evals;
  c->skipped = c->skipped || r->stopped_by == TF_STOP_TIME;
  if (r->n_best) net_keep(x, &r->best[0].tree, r->best[0].value, r->best[0].figures.cycles);
  tf_search_free(r);
  return true;
}

/* For chains for which formulas find no good tiles: slabs of an image that pass through several
 * convolutions, with their skip connection. */
static bool by_template(net_costs *c, net_cost *x, int64_t evals) {
  const double before = x->value;
  tf_tree *open = tf_search_template(c->arch, x->group->workload, TF_TEMPLATE_WHOLE);
  const bool ok = !open || by_search(c, x, open, (evals + SLOWER - 1) / SLOWER, c->d);
  tf_tree_free(open);
  x->slabs = x->slabs || x->value < before;
  return ok;
}

/* A mapping better than the formulas', if one is worth a search.  Formulas count what two windows
 * share as read twice, which slabs read once. */
static bool refine(net_costs *c, net_cost *x) {
  const bool several = x->group->workload->n_ops > 1;
  const bool shares = several && c->o->objective == TF_TRAFFIC && x->value > x->least &&
                      x->value <= FAR * x->least && plan_reads_beyond(x->group->workload);
  if (shares && !net_is_late(c) && !by_template(c, x, SHORT_SEARCH)) return false;
  if (x->value <= NET_NEAR * x->least || (x->tree && net_is_late(c))) return true;
  if (several && x->value > FAR * x->least) return by_template(c, x, SHORT_SEARCH);
  return by_search(c, x, NULL, SHORT_SEARCH, c->d);
}

static bool map_first(net_costs *c, net_cost *x, int64_t evals) {
  (void)evals;
  by_formulas(c, x);
  return refine(c, x);
}

static bool map_better(net_costs *c, net_cost *x, int64_t evals) {
  return x->slabs ? by_template(c, x, evals) : by_search(c, x, NULL, evals, c->d);
}

bool net_cost_of(void *costs, int id, double *cost) {
  net_costs *c = costs;
  net_cost *x = &c->entry[id];
  if (!x->known && x->group->workload->n_ops > 1 && net_is_late(c)) {
    *cost = INFINITY; /* an equal one may be found when there is time */
    return !net_stopped(c);
  }
  if (!x->known && net_has_kernels(c) && !net_kernel_of(c, id)) return false;
  if (!x->known) {
    if (!map_first(c, x, 0) || !net_on_fewer(c, x, map_first, 0)) return false;
    x->known = true;
    c->evaluated++;
    net_tell(c, INFINITY);
  }
  *cost = x->value;
  return !net_stopped(c);
}

bool net_cost_known(void *costs, int id, double *cost) {
  const net_costs *c = costs;
  net_cost *x = &c->entry[id];
  if (!x->known && x->expected) net_raise_least(c, x);
  *cost = x->known ? x->value : x->least;
  return x->known;
}

bool net_improve(net_costs *c, int id, int64_t evals) {
  net_cost *x = &c->entry[id];
  if (x->tree && net_is_late(c)) return !net_stopped(c);
  if (net_for_kernels(c)) return net_by_planner(c, id, evals);
  return map_better(c, x, evals) && net_on_fewer(c, x, map_better, evals) && !net_stopped(c);
}

/* ---- groups of several ops compared with the kernels of their ops --------------------------- */

/* The op as a group of its own, with its cost. *x: NULL: it cannot be one. */
static bool single_op(net_costs *c, int op, const net_cost **x) {
  int id = -1;
  double least, cost;
  if (!c->alone) {
    c->alone = malloc(sizeof *c->alone * (size_t)c->wl->n_ops);
    if (!c->alone) return tf_out_of_memory(c->d);
    for (int o = 0; o < c->wl->n_ops; o++)
      c->alone[o] = -1;
  }
  if (c->alone[op] < 0) {
    if (!net_meet_kind(c, &op, 1, &id, &least)) return false;
    if (id >= 0 && !net_cost_of(c, id, &cost)) return false;
    c->alone[op] = id;
  }
  *x = c->alone[op] < 0 ? NULL : &c->entry[c->alone[op]];
  return true;
}

/* Whether the op is compute-bound, fused or not. */
static bool is_dear(const tf_workload *wl, const tf_op *op) {
  double points = 1, words = (double)tf_tensor_words(&wl->tensors[op->out]);
  for (int k = 0; k < op->n_dims; k++)
    points *= (double)wl->dims[op->dims[k]].extent;
  for (int i = 0; i < op->n_reads; i++)
    words += (double)tf_tensor_words(&wl->tensors[op->reads[i].tensor]);
  return points >= DEAR * words;
}

/* part[i]: the share of the work of op ops[i] that the group needs; less than all if its reader in
 * the group reads a part only. False: out of memory. */
static bool needed_parts(const net_costs *c, const tf_workload *group, const int *ops, int n,
                         double *part) {
  tf_demand d;
  const bool ok = tf_demand_of(group, &d);
  for (int i = 0; ok && i < n; i++) {
    const tf_op *op = &c->wl->ops[ops[i]];
    double points = 1;
    part[i] = 1;
    for (int k = 0; k < op->n_dims; k++)
      points *= (double)c->wl->dims[op->dims[k]].extent;
    for (int o = 0; o < group->n_ops; o++)
      if (!strcmp(group->ops[o].name, op->name))
        part[i] = fmin(1, tf_demanded_points(&d, o) / points);
  }
  tf_demand_free(&d);
  return ok || tf_out_of_memory(c->d);
}

/* Raises the least cost of the group to its expected cost: the kernels of its ops, each alone, as
 * fusing ops saves words and not work, plus a margin. This is no lower bound: a kernel in which
 * maps are absorbed may cost less. False: out of memory, or stopped. */
static bool least_of_kernels(net_costs *c, int id, const int *ops, int n) {
  double all = 0, most = 0, apart = 0, kernels = 0, part[NET_MAX_GROUP];
  int n_dear = 0;
  if (c->entry[id].expected) return true;
  if (!needed_parts(c, c->entry[id].group->workload, ops, n, part)) return false;
  for (int i = 0; i < n; i++)
    n_dear += is_dear(c->wl, &c->wl->ops[ops[i]]);
  for (int i = 0; i < n; i++) {
    const net_cost *one = NULL;
    if (!single_op(c, ops[i], &one)) return false;
    const bool dear = n_dear > 1 && is_dear(c->wl, &c->wl->ops[ops[i]]);
    const double cycles = part[i] * (!one ? 0 : dear ? one->unit_cycles : one->kernel);
    all += cycles;
    kernels += one ? part[i] * one->kernel : 0;
    apart += one ? part[i] * one->value : 0;
    most = fmax(most, cycles);
  }
  net_cost *x = &c->entry[id];
  const bool whole = tf_emit_cycles_whole(c->o->target);
  x->least = fmax(x->least, whole ? KEPT * most : all + GAIN * (all - most));
  x->baseline = whole ? APART * all : fmin(apart, REACHED * x->least);
  x->alone = kernels;
  x->expected = true;
  return true;
}

bool net_meet(void *costs, const int *ops, int n, int *id, double *least) {
  net_costs *c = costs;
  int met = -1;
  if (!net_meet_kind(c, ops, n, &met, least)) return false;
  if (met < 0) return true;
  *id = met;
  if (n == 1 || !net_has_kernels(c)) return true;
  if (!least_of_kernels(c, *id, ops, n)) return false;
  if (!tf_emit_cycles_whole(c->o->target) && !net_note_place(c, *id, ops, n)) return false;
  *least = c->entry[*id].least;
  return !net_stopped(c);
}
