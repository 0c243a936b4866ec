/* The planner's state: time left, candidates. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/grow.h"
#include "model/eval/hooks.h"
#include "planner/planner.h"
#include "tileflow/tree.h"

bool plan_stopped(const planner *p) {
  return p->o->budget.stop && p->o->budget.stop(p->o->budget.ctx);
}

bool plan_over(const planner *p) {
  return plan_stopped(p) || (isfinite(p->until) && tf_now() >= p->until);
}

double plan_seconds_left(const planner *p) {
  const double least = 1e-3; /* 0 would mean no limit */
  return isfinite(p->until) ? fmax(least, p->until - tf_now()) : 0;
}

bool plan_no_memory(const planner *p) { return tf_out_of_memory(p->d); }

void plan_candidate_clear(plan_candidate *c) {
  free(c->text);
  tf_tree_free(c->tree);
}

bool plan_add(planner *p, plan_candidate c) {
  if (!TF_GROW(p->candidate, p->n)) {
    plan_candidate_clear(&c);
    return plan_no_memory(p);
  }
  c.form = p->form;
  p->candidate[p->n++] = c;
  return true;
}

bool plan_adopt(planner *p, const tf_tree *tree) {
  tf_tree *t = tf_tree_copy(tree, p->arch, p->wl, p->d);
  if (!t || !tf_tree_place(t, "(mapping found)", p->d)) {
    tf_tree_free(t);
    return false;
  }
  tf_model_free(p->plan->model); /* of the previous tree */
  p->plan->model = NULL;
  tf_tree_free(p->plan->found);
  p->plan->tree = p->plan->found = t;
  return true;
}

/* A given mapping is counted exactly, if that is possible. One that was found is only walked as far
 * as a plan takes about a second; otherwise partial tiles are taken to be whole. */
bool plan_evaluate(planner *p) {
  tf_planned *q = p->plan;
  q->model = tf_model_new(q->tree, p->d);
  if (q->model && q->found)
    tf_model_walk_limit(q->model, PLAN_FINAL_STEPS), tf_model_estimate(q->model);
  if (q->model) tf_model_eval(q->model, NULL, &q->result), q->walked += tf_model_walked(q->model);
  return q->model;
}

void tf_planned_free(tf_planned *p) {
  if (!p) return;
  tf_model_free(p->model);
  tf_tree_free(p->found);
  free(p->measured);
  free(p->settled);
  free(p);
}

double plan_score(const planner *p, plan_candidate *c) {
  tf_diags *d = tf_diags_new();
  c->kernel = d ? tf_emit_cycles(c->tree, p->o->target, &p->kernel, d) : -1;
  tf_diags_free(d);
  return c->kernel < 0 ? INFINITY
                       : tf_emit_value(p->o->target, p->kernel.dtype, c->tree, c->cycles,
                                       c->traffic, c->kernel);
}
