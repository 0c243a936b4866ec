/* Making a plan: find, rank, evaluate, time. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/locale.h"
#include "planner/planner.h"
#include "tileflow/tree.h"

static bool find_and_time(planner *p) {
  if (!plan_find(p)) return false;
  if (!p->plan->tree) return true;
  if (!plan_stopped(p) && !plan_rank(p)) return false;
  if (!p->plan->tree) return true; /* the target makes none of those found */
  return plan_evaluate(p) && plan_time(p);
}

/* The kernel's options; by default the kernel is for this computer. */
static tf_emit_options kernel_of(const tf_planner_opts *o) {
  tf_emit_options e = o->kernel;
  if (!e.isa) e.isa = tf_emit_isa(e.dtype);
  e.result = NULL;
  e.measured = NULL;
  e.n_measured = 0;
  return e;
}

static tf_planned *run(planner p) {
  const tf_planner_opts *o = p.o;
  p.kernel = kernel_of(o);
  p.until = o->budget.time_limit > 0 ? tf_now() + o->budget.time_limit : INFINITY;
  p.n_time = o->time && o->n_time > 0 ? o->n_time : 0;
  p.plan = calloc(1, sizeof *p.plan);
  bool ok = p.plan ? find_and_time(&p) : plan_no_memory(&p);
  for (int i = 0; i < p.n; i++)
    plan_candidate_clear(&p.at[i]);
  free(p.at);
  if (ok) return p.plan;
  tf_planned_free(p.plan);
  return NULL;
}

tf_planned *tf_planner_run(const tf_arch *arch, const tf_workload *wl, const tf_tree *given, const tf_planner_opts *o,
                           tf_diags *d) {
  TF_IN_C_LOCALE;
  if (!tf_no_views(wl, d)) return NULL;
  return run((planner){.arch = arch, .wl = wl, .given = given, .o = o, .d = d});
}

tf_planned *plan_of_one(const tf_arch *arch, const tf_workload *wl, const tf_planner_opts *o, tf_diags *d) {
  return run((planner){.arch = arch, .wl = wl, .o = o, .d = d, .of_one = true});
}

tf_emitted *tf_planned_emit(const tf_planned *p, const tf_planner_opts *o, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_emit_options e = kernel_of(o);
  e.result = p->result.overflow ? NULL : &p->result;
  e.measured = p->measured;
  e.n_measured = p->n_measured;
  e.chosen = p->chosen;
  return tf_emit(p->tree, o->target, &e, d);
}
