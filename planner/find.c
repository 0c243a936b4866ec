/* Finds a mapping if none is given: a template fuses all ops as far as possible, and a search
 * completes the trip counts. */
#include <math.h>
#include <stdlib.h>

#include "model/eval/hooks.h"
#include "planner/planner.h"
#include "tileflow/tree.h"

/* Effort in quick evaluations (tf_model_effort) for each evaluation allowed, so that a search ends
 * early if borders inside a chain make evaluations slow; and the candidates kept for each kernel to
 * be timed, as many mappings have the same kernel. */
enum { EFFORT_EACH = 5, CANDIDATES = 256, EACH = 64 };
/* 1 / PROBE of the budget is used to find out whether a template suits the workload; first 1 /
 * FIRST of that, as most templates that suit show it at once. */
enum { PROBE = 8, FIRST = 8 };
/* A search gets 1 / SHARE of the time left, as kernels are estimated after it, and other forms
 * tried. */
enum { SHARE = 2 };
/* Effort after which no more of the target's own forms are evaluated, even if none has fitted. */
enum { FORMS_EFFORT = 8 * TF_PLANNER_EFFORT };
/* So many of them are evaluated in any case: one form with many masked steps may take more than
 * that effort. */
enum { LEAST_FORMS = 4 };
/* Likewise of the default budget, for a search whose result is improved by local search: that gains
 * more than the other half of the budget would. */
enum { POLISHED = 2 };
/* If a mapping takes longer than so many times the bound, the form may not suit it: other forms are
 * tried, too. Several ops contain what no bound includes: exp, and work that cannot overlap
 * (arch-specs/cores/fitted.csv). */
static const double NEAR_OF_ONE = 1.05, NEAR = 1.8;
/* If a kernel takes less than this share of the model's cycles, nearness to the bound says
 * nothing. */
static const double ALIKE = 0.7;
/* Likewise for one op that moves more than so many times its compulsory words. */
static const double NEAR_WORDS_OF_ONE = 2;
/* And for an op whose kernel takes more than so many times the model's cycles: it has costs that
 * the model does not include, such as packing weights again and again in short pieces of distant
 * rows. */
static const double BESIDE = 3;

/* ---- one search ------------------------------------------------------------------------------ */
typedef struct {
  const planner *p;
  double bound;
} view;

static void show(void *ctx, const tf_progress *p) {
  const view *v = ctx;
  tf_progress now = *p;
  now.bound = v->bound;
  v->p->o->budget.progress(v->p->o->budget.ctx, &now);
}

static bool stop(void *ctx) { return plan_stopped(((view *)ctx)->p); }

/* Adds the better mappings to the candidates, and takes ownership of their texts and trees. */
static bool add_variants(planner *p, tf_search_result *r) {
  bool ok = true;
  for (int i = 0; i < r->n_variants && ok; i++) {
    tf_found *f = &r->variants[i];
    ok = plan_add(p, (plan_candidate){.value = f->value,
                                      .cycles = f->figures.cycles,
                                      .traffic = f->figures.traffic_words,
                                      .text = f->text,
                                      .tree = f->tree});
    f->text = NULL;
    f->tree = NULL;
  }
  return ok;
}

int64_t tf_planner_evals(const tf_workload *wl) { return TF_PLANNER_WORK / (wl->n_ops + 1) + 1; }

/* Options with 1 / part of the budget. */
static tf_search_opts options_of(const planner *p, view *v, int part) {
  const tf_planner_opts *o = p->o;
  tf_search_opts so = {
      .strategy = o->strategy,
      .whole_tiles = true,
      .all_points = true, /* as plan_local_search counts; the kernel's own cycles are added later */
      /* of mappings that keep the units equally busy, the one that moves less has larger blocks */
      .objective = o->objective == TF_LATENCY ? TF_EDP : o->objective,
      .budget = o->budget,
      .variants = p->n_time * EACH > CANDIDATES ? p->n_time * EACH : CANDIDATES};
  if (!o->budget.max_evals && !(o->budget.time_limit > 0)) {
    so.budget.max_evals = tf_planner_evals(p->wl);
    so.budget.max_effort = TF_PLANNER_EFFORT;
  } else if (o->budget.max_evals < INT64_MAX / EFFORT_EACH) {
    so.budget.max_effort = o->budget.max_evals * EFFORT_EACH;
  }
  so.budget.max_evals = (so.budget.max_evals + part - 1) / part;
  so.budget.max_effort = (so.budget.max_effort + part - 1) / part;
  so.budget.time_limit = plan_seconds_left(p) / SHARE / part;
  so.budget.stop = stop;
  so.budget.progress = o->budget.progress ? show : NULL;
  so.budget.ctx = v;
  return so;
}

/* The workload's bounds, found once.  NULL: an error. */
static const tf_bounds *bounds_of(planner *p) {
  if (!p->is_bounded) p->is_bounded = tf_bounds_find(p->arch, p->wl, &p->bounds, p->d);
  return p->is_bounded ? &p->bounds : NULL;
}

/* Searches the completions of the mapping, or all mappings (NULL); adopts the best unless the plan
 * has one. */
static bool search(planner *p, const tf_tree *open, int part) {
  view v = {.p = p};
  const tf_search_opts so = options_of(p, &v, part);
  const tf_bounds *bounds = bounds_of(p);
  if (!bounds) return false;
  v.bound = tf_bounds_value(so.objective, bounds, p->arch);
  tf_search_result *r = tf_search_run(p->arch, p->wl, open, &so, p->d);
  if (!r) return false;
  p->plan->evals += r->evals;
  p->plan->stopped_by = r->stopped_by;
  bool ok = add_variants(p, r);
  if (ok && !p->plan->tree && r->n_best) ok = plan_adopt(p, r->best[0].tree);
  tf_search_free(r);
  return ok;
}

static int polished(const planner *p, int part) {
  return p->o->budget.max_evals || p->o->budget.time_limit > 0 ? part : POLISHED * part;
}

/* The same, followed by local improvement of the best mapping. */
static bool search_on(planner *p, const tf_tree *open, int part) {
  const int from = p->n;
  return search(p, open, polished(p, part)) && plan_local_search(p, open, from);
}

/* ---- templates ------------------------------------------------------------------------------- */
/* Whether a search of 1 / part of the budget finds a completion that fits. */
static bool suits(const planner *p, const tf_tree *template, int part, tf_diags *d) {
  view v = {.p = p};
  tf_search_opts so = options_of(p, &v, polished(p, part));
  so.variants = 0;
  so.budget.progress = NULL;
  tf_search_result *r = tf_search_run(p->arch, p->wl, template, &so, d);
  const bool found = r && r->n_best > 0;
  if (r) p->plan->evals += r->evals;
  if (r) p->plan->stopped_by = r->stopped_by;
  tf_search_free(r);
  return found;
}

/* The tree of that form of the template; NULL if the workload does not suit it. */
static tf_tree *template_of(const planner *p, tf_template form) {
  tf_diags *d = tf_diags_new(); /* a template that does not fit is no error of the user's */
  tf_tree *t = d ? tf_search_template(p->arch, p->wl, form) : NULL;
  const bool ok = t && (suits(p, t, PROBE * FIRST, d) || suits(p, t, PROBE, d));
  tf_diags_free(d);
  if (ok) return t;
  tf_tree_free(t);
  return NULL;
}

/* The best of the candidates whose kernels have been estimated; NULL: none. */
static const plan_candidate *best_of(const planner *p) {
  const plan_candidate *best = NULL;
  for (int i = 0; i < p->n; i++)
    if (p->candidate[i].is_scored && p->candidate[i].value < (best ? best->value : INFINITY))
      best = &p->candidate[i];
  return best;
}

/* Whether the best mapping so far does not take much longer than the bound, by the model. Masked
 * workloads are searched with all points counted, for which the bounds do not hold. If the kernel
 * takes much less than the model says (tiles of AMX, a single query) bounds tell little. */
static bool is_near(const planner *p, const tf_bounds *bounds) {
  const plan_candidate *best = best_of(p);
  if (tf_workload_masked(p->wl)) return true;
  if (!best) return false;
  if (p->wl->n_ops == 1)
    return best->kernel <= BESIDE * best->cycles &&
           best->cycles <= NEAR_OF_ONE * tf_bounds_value(TF_LATENCY, bounds, p->arch) &&
           best->traffic <= NEAR_WORDS_OF_ONE * tf_bounds_value(TF_TRAFFIC, bounds, p->arch);
  return best->cycles <= NEAR * tf_bounds_value(TF_LATENCY, bounds, p->arch) &&
         (tf_emit_cycles_whole(p->o->target) || best->kernel >= ALIKE * best->cycles);
}

bool plan_add_closed(planner *p, const tf_tree *t, bool apart, int64_t *effort) {
  tf_result r;
  tf_model *m = tf_model_new(t, p->d);
  if (m) tf_model_walk_limit(m, 0), tf_model_estimate(m);
  const bool fits = m && tf_model_eval(m, NULL, &r) && r.feasible;
  plan_candidate c = {.cycles = fits ? r.cycles : 0,
                      .traffic = fits ? tf_result_traffic(p->wl, &r) : 0,
                      .per_op = apart};
  if (!m) return false; /* the error in the model is in d */
  *effort += tf_model_effort(m);
  p->plan->walked += tf_model_walked(m);
  tf_model_free(m);
  p->plan->evals++;
  if (!fits) return true;
  c.text = tf_tree_text(t);
  c.tree = c.text ? tf_tree_copy(t, p->arch, p->wl, p->d) : NULL;
  if (!c.tree) {
    plan_candidate_clear(&c);
    return plan_no_memory(p);
  }
  return plan_add(p, c) && (p->plan->tree || plan_adopt(p, c.tree));
}

/* Searches mappings of any shape; if none is found that fits (many small ops), one that does,
 * whenever tensors fit at all. */
static bool search_freely(planner *p) {
  int64_t effort = 0;
  tf_tree *t = NULL;
  bool ok = search(p, NULL, 1);
  if (ok && !p->plan->tree && !plan_over(p))
    ok = plan_ops_in_sequence(p, &t) && (!t || plan_add_closed(p, t, false, &effort));
  tf_tree_free(t);
  return ok;
}

bool plan_reads_beyond(const tf_workload *wl) {
  bool padded = false;
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    for (int r = 0; t->producer >= 0 && t->n_consumers > 0 && r < t->rank; r++)
      padded |= t->pad[r] > 0;
  }
  return padded;
}

/* Whether more forms than the first that suits, or a search over all shapes, are not worth their
 * time: kernels of the single ops exist, and an op reads another's output beyond its borders. Such
 * mappings take hundreds of times as long to count.  More forms made one such group of YOLOv5s in
 * forty better, by an eighth at most, in two thirds of the time; a search sees a few dozen
 * mappings, and rarely finds one that a plan uses.  The groups that a plan takes are planned once
 * more. */
static bool one_form_does(const planner *p) {
  return p->o->baseline > 0 && plan_reads_beyond(p->wl);
}

/* Whether the form's template equals the one before: an op without intermediates has no home, by
 * which the two differ. */
static bool is_repeated(const tf_workload *wl, int form) {
  return form == TF_TEMPLATE_OUTSIDE && wl->n_ops == 1;
}

/* If blocks of all ops fit close to the core at once, with whole or streamed rows, and the best
 * such mapping is not far from the bound, uses that form, unless kernels are timed. Otherwise the
 * best of these forms and those in which blocks stream through; or through the next outer memory,
 * too, for weights larger than the last-level cache, which half of the rows at a time would fetch
 * twice. */
bool plan_find_shapes(planner *p) {
  const tf_bounds *bounds = bounds_of(p);
  if (!bounds) return false;
  bool ok = true;
  for (int form = 0; ok && form < TF_N_TEMPLATES && !plan_over(p); form++) {
    const bool more = form == TF_TEMPLATE_PARTS || form == TF_TEMPLATE_FAR;
    const plan_candidate *best = best_of(p);
    if (more && p->plan->tree && p->n_time == 0 && is_near(p, bounds)) break;
    if (best && (plan_is_lost(p, best) || one_form_does(p))) break;
    tf_tree *t = is_repeated(p->wl, form) ? NULL : template_of(p, (tf_template)form);
    ok = !t ||
         search_on(p, t, form == TF_TEMPLATE_WHOLE ? 1 : 2); /* of the other forms two may suit */
    tf_tree_free(t);
  }
  return ok && !p->plan->tree && !one_form_does(p) ? search_freely(p) : ok;
}

bool plan_find_forms(planner *p, bool *any) {
  bool ok = true;
  int64_t effort = 0;
  const double until = p->until;
  if (isfinite(until)) p->until -= plan_seconds_left(p) / SHARE; /* the rest is for their kernels */
  for (int k = 0; ok && !plan_over(p) &&
                  (k < LEAST_FORMS || effort < (p->plan->tree ? TF_PLANNER_EFFORT : FORMS_EFFORT));
       k++) {
    tf_tree *t = tf_emit_form(p->o->target, p->arch, p->wl, p->shortest ? -1 - k : k);
    if (!t) break;
    *any = true;
    p->form = k;
    ok = t->open ? search(p, t, 2) : plan_add_closed(p, t, false, &effort);
    tf_tree_free(t);
  }
  p->until = until;
  return ok;
}

bool plan_find_given(planner *p) {
  if (p->given->open) return search_on(p, p->given, 1);
  p->plan->tree = p->given;
  return true;
}
