/* Where no mapping is given: all ops fused, as far as they can be, and the search fills in the trip counts. */
#include <stdlib.h>

#include "planner/planner.h"

/* The effort (tf_model_effort; some three seconds a million) ends a search where borders inside a chain make
 * evaluations dear. */
enum { EFFORT = 1500000, FEW = 64, ENOUGH = 3000, ENOUGH_EFFORT = 500000 };
/* Candidates for each kernel that is to be timed: many mappings make the same kernel.  Without timing, of so many. */
enum { MAPPINGS = 64, KERNELS = 32 };

/* ---- one search ------------------------------------------------------------------------------- */
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

/* The better mappings join the candidates.  Takes their texts out of the result. */
static bool keep(planner *p, tf_search_result *r) {
  plan_candidate *at = realloc(p->at, (size_t)(p->n + r->n_variants + 1) * sizeof *at);
  if (!at) return plan_no_memory(p);
  p->at = at;
  for (int i = 0; i < r->n_variants; i++) {
    tf_found *f = &r->variants[i];
    p->at[p->n++] = (plan_candidate){f->value, f->figures.cycles, f->text};
    f->text = NULL;
  }
  return true;
}

/* Searches what is open in the mapping, or all mappings (NULL); the best is the plan's unless it has one. */
static bool search(planner *p, const tf_tree *open) {
  const tf_planner_opts *o = p->o;
  tf_bounds bounds;
  view v = {.p = p};
  tf_search_opts so = {.strategy = o->strategy,
                       /* Of mappings that keep the units busy alike, the one that moves less has the larger blocks. */
                       .objective = o->objective == TF_LATENCY ? TF_EDP : o->objective,
                       .budget = o->budget,
                       .variants = (p->n_time > KERNELS ? p->n_time : KERNELS) * MAPPINGS};
  if (!o->budget.max_evals && !(o->budget.time_limit > 0)) {
    so.budget.max_evals = TF_PLANNER_EVALS;
    so.budget.max_effort = EFFORT;
  }
  so.budget.stop = stop;
  so.budget.progress = o->budget.progress ? show : NULL;
  so.budget.ctx = &v;
  if (!tf_bounds_of(p->arch, p->wl, &bounds)) return tf_fail(p->d, p->wl->at, TF_E_OVERFLOW, "a bound passes 2^63 - 1");
  v.bound = tf_bounds_value(so.objective, &bounds, p->arch);
  tf_search_result *r = tf_search_run(p->arch, p->wl, open, &so, p->d);
  if (!r) return false;
  p->plan->evals += r->evals;
  p->plan->stopped_by = r->stopped_by;
  bool ok = keep(p, r);
  if (ok && !p->plan->tree && r->n_best) ok = plan_adopt(p, r->best[0].text);
  tf_search_free(r);
  return ok;
}

/* ---- templates -------------------------------------------------------------------------------- */
/* Whether a search of so many evaluations finds a completion that fits. */
static bool suits(const planner *p, const tf_tree *template, int64_t evals, tf_diags *d) {
  view v = {.p = p};
  tf_search_opts o = {.objective = TF_LATENCY,
                      .budget.seed = 1,
                      .budget.threads = 1,
                      .budget.max_evals = evals,
                      .budget.max_effort = ENOUGH_EFFORT,
                      .budget.stop = stop,
                      .budget.ctx = &v};
  tf_search_result *r = tf_search_run(p->arch, p->wl, template, &o, d);
  bool found = r && r->n_best > 0;
  tf_search_free(r);
  return found;
}

/* The text of that form of the template; NULL if the workload does not suit it. */
static char *template_that_suits(const planner *p, tf_template form) {
  char *text = tf_search_template(p->arch, p->wl, form);
  tf_diags *d = tf_diags_new(); /* what is wrong with a template is no error of the user's */
  tf_tree *t = text && d ? plan_parse(p, text, d) : NULL;
  bool ok = t && (suits(p, t, FEW, d) || suits(p, t, ENOUGH, d));
  tf_tree_free(t);
  tf_diags_free(d);
  if (ok) return text;
  free(text);
  return NULL;
}

/* Where the blocks of all ops fit close to the core at once, in rows whole or streamed, so be it, unless kernels are
 * timed; else the best of all forms in which they pass through. */
static bool search_templates(planner *p) {
  bool any = false, ok = true;
  for (int form = 0; ok && form < TF_N_TEMPLATES && !plan_stopped(p); form++) {
    if (any && !p->plan->tree) break;
    if (form > TF_TEMPLATE_STREAM && p->plan->tree && p->n_time == 0) break;
    char *text = template_that_suits(p, (tf_template)form);
    if (!text) continue;
    tf_tree *t = plan_parse(p, text, p->d);
    free(text);
    ok = t && search(p, t);
    tf_tree_free(t);
    any = true;
  }
  return any ? ok : search(p, NULL);
}

bool plan_find(planner *p) {
  if (!p->given) return search_templates(p);
  if (p->given->open) return search(p, p->given);
  p->plan->tree = p->given;
  return true;
}
