/* Makes a plan: find, rank, evaluate, time. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/locale.h"
#include "planner/planner.h"
#include "tileflow/tree.h"

static tf_planned *run(planner p);

/* Plans op o alone and adds its mapping. *found: whether there is one. False: an error. */
static bool plan_alone(planner *p, int o, tf_build *b, int scope, bool *found) {
  plan_single_op l;
  tf_planner_opts opts = *p->o;
  opts.n_time = 0;
  *found = false;
  if (plan_over(p)) return true;
  opts.budget.time_limit = plan_seconds_left(p);
  if (!plan_isolate(p->wl, o, &l)) return plan_no_memory(p);
  tf_planned *q =
      run((planner){.arch = p->arch, .wl = &l.workload, .o = &opts, .d = p->d, .single_op = true});
  *found = q && q->tree;
  if (*found) plan_add_op(b, scope, q->tree, o);
  if (q) p->plan->evals += q->evals, p->plan->walked += q->walked;
  const bool ok = q;
  tf_planned_free(q);
  free(l.workload.tensors);
  return ok;
}

/* All ops in sequence, each as it is planned alone: a search over all at once would face the
 * product of their spaces, and find worse mappings. *made: NULL if an op has none, or on a stop. */
static bool plan_ops_alone(planner *p, tf_tree **made) {
  bool ok = true, found = true;
  tf_build *b = tf_build_new(p->arch, p->wl, NULL);
  *made = NULL;
  if (!b) return plan_no_memory(p);
  const int root = tf_build_tile(b, -1, 0), scope = tf_build_scope(b, root, TF_SEQ);
  for (int i = 0; ok && found && i < p->wl->n_ops; i++)
    ok = plan_alone(p, p->wl->topo[i], b, scope, &found);
  if (ok && found)
    *made = tf_build_tree(b);
  else
    tf_build_free(b);
  return ok;
}

/* The given mapping; or the target's own forms and, if it predicts cycles of programs, each op
 * alone; or a search. */
static bool find_mappings(planner *p) {
  bool forms = false;
  int64_t effort = 0;
  if (p->given) return plan_find_given(p);
  if (!plan_find_forms(p, &forms)) return false;
  if (forms && p->wl->n_ops > 1 && tf_emit_cycles_expected(p->o->target)) {
    tf_tree *t;
    const bool ok = plan_ops_alone(p, &t) && (!t || plan_add_closed(p, t, true, &effort));
    tf_tree_free(t);
    if (!ok) return false;
  }
  return (forms && p->plan->tree) || plan_find_shapes(p);
}

/* Where the target can make a program of none, its shortest programs are searched, too. */
static bool rank(planner *p) {
  bool any;
  if (!plan_rank(p)) return false;
  return !p->shortest || p->given || (plan_find_forms(p, &any) && plan_rank(p));
}

static bool find_and_time(planner *p) {
  if (!find_mappings(p)) return false;
  if (!p->plan->tree) return true;
  if (!plan_stopped(p) && !rank(p)) return false;
  if (!p->plan->tree) return true; /* the target can make none of those found */
  return plan_evaluate(p) && plan_time(p);
}

/* The kernel's options; the default is a kernel for this computer. */
static tf_emit_options kernel_of(const tf_planner_opts *o) {
  tf_emit_options e = o->kernel;
  if (!e.isa) e.isa = tf_emit_isa(e.dtype);
  e.result = NULL;
  e.memo = NULL;
  e.settled = NULL;
  e.measured = NULL;
  e.n_measured = 0;
  return e;
}

static tf_planned *run(planner p) {
  const tf_planner_opts *o = p.o;
  p.kernel = kernel_of(o);
  p.kernel.memo = tf_emit_memo_new(); /* without it predictions are made again */
  p.until = o->budget.time_limit > 0 ? tf_now() + o->budget.time_limit : INFINITY;
  p.n_time = o->time && o->n_time > 0 ? o->n_time : 0;
  p.plan = calloc(1, sizeof *p.plan);
  bool ok = p.plan ? find_and_time(&p) : plan_no_memory(&p);
  for (int i = 0; i < p.n; i++)
    plan_candidate_clear(&p.candidate[i]);
  free(p.candidate);
  tf_emit_memo_free(p.kernel.memo);
  if (ok) return p.plan;
  tf_planned_free(p.plan);
  return NULL;
}

tf_planned *tf_planner_run(const tf_arch *arch, const tf_workload *wl, const tf_tree *given,
                           const tf_planner_opts *o, tf_diags *d) {
  TF_IN_C_LOCALE;
  if (!tf_no_views(wl, d)) return NULL;
  return run((planner){.arch = arch, .wl = wl, .given = given, .o = o, .d = d});
}

tf_emitted *tf_planned_emit(const tf_planned *p, const tf_planner_opts *o, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_emit_options e = kernel_of(o);
  e.result = p->result.overflow ? NULL : &p->result;
  e.measured = p->measured;
  e.n_measured = p->n_measured;
  e.chosen = p->chosen;
  e.settled = p->settled;
  return tf_emit(p->tree, o->target, &e, d);
}
