/* The costs of groups as kernels of a target: the planner's mapping of each, and its kernel's
 * estimate. */
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "net/net.h"
#include "search/common/objective.h"
#include "tileflow/planner.h"

enum {
  CUT_EVALS = 200,
  LATE_EVALS = 20
}; /* mappings tried of a group while the network is cut; and when time is short */

bool net_for_kernels(const net_costs *c) { return c->o->isa || c->o->target; }
bool net_has_kernels(const net_costs *c) {
  return net_for_kernels(c) && c->o->objective == TF_LATENCY;
}

/* Scales the architecture's rates to the kernels' type: units do as many more multiply-adds of
 * narrower data as the target says, and memories pass as many more of narrower floats, as all
 * tensors are. Capacities stay: mappings must fit the machine as given. */
bool net_scale_rates(net_planning *s) {
  net_costs *c = &s->costs;
  const tf_emit_options o = {.isa = c->o->isa, .dtype = c->o->dtype};
  if (!net_has_kernels(c) || tf_emit_cycles_whole(c->o->target)) return true;
  const double rate = tf_emit_rate(c->o->target, &o), width = tf_emit_width(c->o->dtype, c->arch);
  if (rate <= 1 && width >= 1) return true;
  tf_arch *seen = TF_ARRAY(s->a, tf_arch, 1);
  tf_memory *memories = TF_ARRAY(s->a, tf_memory, (size_t)c->arch->n_memories);
  tf_unit *units = TF_ARRAY(s->a, tf_unit, (size_t)c->arch->n_units);
  if (!seen || !memories || !units) return false;
  *seen = *c->arch;
  seen->memories =
      memcpy(memories, c->arch->memories, sizeof *memories * (size_t)c->arch->n_memories);
  seen->units = memcpy(units, c->arch->units, sizeof *units * (size_t)c->arch->n_units);
  for (int l = 0; l < seen->n_memories; l++)
    memories[l].read_bw /= width, memories[l].write_bw /= width;
  for (int u = 0; u < seen->n_units; u++)
    if (units[u].kinds >> TF_K_MAC & 1) units[u].rate *= rate;
  c->arch = seen;
  return true;
}

/* The value of a plan: INFINITY if its kernel cannot be emitted; *kernel: the kernel's cycles. */
static double value_of(const net_costs *c, const net_cost *x, const tf_planned *p, double *kernel,
                       tf_diags *d) {
  const tf_figures f = tf_figures_of(c->arch, x->group->workload, &p->result);
  const double value = tf_objective_value(c->o->objective, &f);
  *kernel = 0;
  if (!net_has_kernels(c)) return value;
  *kernel = tf_emit_cycles(p->tree, c->o->target,
                           &(tf_emit_options){.isa = c->o->isa, .dtype = c->o->dtype}, d);
  if (*kernel < 0) return INFINITY;
  return tf_emit_cycles_whole(c->o->target) ? *kernel : fmax(value, *kernel);
}

/* Whether the group needs a kernel even if time is over: it is an op, for which formulas may only
 * find mappings without one. */
static bool must_have(const net_costs *c, const net_cost *x) {
  return x->group->workload->n_ops == 1 && tf_emit_cycles_whole(c->o->target);
}

/* Finds a planner's mapping of the group; only the group's own entry changes. */
static void plan_group(const net_costs *c, net_cost *x, int64_t evals, tf_stop *stopped_by) {
  tf_planner_opts o = {.target = c->o->target,
                       .kernel = {.isa = c->o->isa, .dtype = c->o->dtype},
                       .objective = c->o->objective,
                       .budget = net_part_of(c, evals),
                       .baseline = x->expected && !x->known ? x->baseline : 0};
  if (must_have(c, x) && evals == LATE_EVALS) o.budget.time_limit = 0;
  if (isinf(c->deadline))
    o.budget.threads =
        1; /* groups are planned concurrently, with the same result for any number of threads */
  tf_diags *d = tf_diags_new(); /* a group without a kernel is no error */
  tf_planned *p = d ? tf_planner_run(c->arch, x->group->workload, NULL, &o, d) : NULL;
  *stopped_by = p ? p->stopped_by : TF_STOP_EXHAUSTED;
  x->spent = p ? p->evals : 0;
  if (p && p->found && p->result.feasible && !p->result.overflow) {
    double kernel;
    const double value = value_of(c, x, p, &kernel, d);
    /* values by the model do not include kernels: the planner's mapping replaces the one of the
     * cut */
    if (!net_has_kernels(c)) x->value = INFINITY;
    net_keep(x, &p->found, value, p->result.cycles);
    if (!p->found) x->kernel = kernel, x->unit_cycles = fmax(kernel, p->result.ops[0].cycles);
  }
  tf_planned_free(p);
  tf_diags_free(d);
}

bool net_by_planner(net_costs *c, int id, int64_t evals) {
  tf_stop stopped_by;
  plan_group(c, &c->entry[id], evals, &stopped_by);
  c->evals += c->entry[id].spent;
  c->skipped = c->skipped || stopped_by == TF_STOP_TIME;
  return !net_stopped(c);
}

/* ---- several groups concurrently ------------------------------------------------------------ */
typedef struct {
  net_costs *c;
  const int *id;
  int64_t evals;
} batch;

static void plan_one(void *ctx, int i, int worker) {
  const batch *b = ctx;
  net_cost *x = &b->c->entry[b->id[i]];
  tf_stop stopped_by; /* not for lack of time: there is no deadline */
  (void)worker;
  if (!net_stopped(b->c)) plan_group(b->c, x, b->evals, &stopped_by);
}

int net_at_once(const net_costs *c) {
  if (!net_for_kernels(c) || !isinf(c->deadline)) return 1;
  return c->o->budget.threads > 0 ? c->o->budget.threads : tf_threads_there();
}

void net_plan_ahead(void *costs, const int *id, int n) {
  net_costs *c = costs;
  int fresh[NET_MOST_AT_ONCE], n_fresh = 0;
  for (int i = 0; i < n; i++) {
    net_cost *x = &c->entry[id[i]];
    if (!x->known && !x->planned) fresh[n_fresh++] = id[i];
    x->planned = true;
  }
  batch b = {c, fresh, CUT_EVALS};
  tf_threads_run(net_at_once(c), n_fresh, plan_one, &b);
}

bool net_plan_alone(net_costs *c) {
  int id[NET_MOST_AT_ONCE], n = 0;
  if (!net_has_kernels(c) || net_at_once(c) < 2) return true;
  for (int o = 0; o < c->wl->n_ops; o++) {
    double least;
    id[n] = -1;
    if (!net_meet_kind(c, &o, 1, &id[n], &least)) return false;
    n += id[n] >= 0;
    if (n < NET_MOST_AT_ONCE && o + 1 < c->wl->n_ops) continue;
    net_plan_ahead(c, id, n);
    n = 0;
  }
  return true;
}

bool net_improve_all(net_costs *c, const int *id, int n, int64_t evals) {
  batch b = {c, id, evals};
  tf_threads_run(net_at_once(c), n, plan_one, &b);
  for (int i = 0; i < n; i++)
    c->evals += c->entry[id[i]].spent;
  return !net_stopped(c);
}

bool net_kernel_of(net_costs *c, int id) {
  net_cost *x = &c->entry[id];
  const bool late = net_is_late(c), one = x->group->workload->n_ops == 1;
  if (x->planned)
    c->evals += x->spent;
  else if (!net_by_planner(c, id, late ? LATE_EVALS : CUT_EVALS))
    return false;
  if (!x->tree && must_have(c, x) && !isinf(c->deadline) && !net_by_planner(c, id, LATE_EVALS))
    return false;
  /* an op must have some mapping: formulas, or a search by the model, may find one; other groups
   * are dropped */
  if (!x->tree && one) return true;
  x->known = true;
  c->evaluated++;
  net_tell(c, INFINITY);
  return true;
}
