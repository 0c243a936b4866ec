/* Times the kernels of the best candidates, by the caller's function. */
#include <stdlib.h>
#include <string.h>

#include "planner/planner.h"

/* Distinct kernels, in the order of the candidates. */
typedef struct {
  int n;
  tf_emitted **files;  /* [n] */
  const char **source; /* kernel.c among the files: kernels are equal if it is */
  tf_measured *m;      /* [n] rank - 1 is the candidate's number */
} kernels;

static bool is_new(const kernels *k, const char *source) {
  for (int i = 0; i < k->n; i++)
    if (!strcmp(k->source[i], source)) return false;
  return true;
}

/* Takes ownership of the files. */
static void keep_new(kernels *k, int candidate, tf_emitted *e, double predicted) {
  const char *source = NULL;
  for (int f = e->n;
       f-- > 0;) /* the first one: with several instruction sets, kernel.c only selects */
    if (!strncmp(e->file[f].name, "kernel", 6) && strstr(e->file[f].name, ".c"))
      source = e->file[f].text;
  if (!source || !is_new(k, source)) {
    tf_emitted_free(e);
    return;
  }
  k->files[k->n] = e;
  k->source[k->n] = source;
  k->m[k->n++] = (tf_measured){.rank = candidate + 1, .predicted = predicted, .measured = -1};
}

/* Skips mappings that do not fit or that the generator refuses. False: out of memory. */
static bool emit_candidate(const planner *p, int i, kernels *k) {
  tf_diags *d = tf_diags_new();
  const tf_tree *tree = p->candidate[i].tree ? p->candidate[i].tree : p->plan->tree;
  tf_model *model = d ? tf_model_new(tree, d) : NULL;
  tf_result r;
  const bool ok = d != NULL;
  if (model) tf_model_walk_limit(model, PLAN_FINAL_STEPS), tf_model_estimate(model);
  if (model && tf_model_eval(model, NULL, &r) && r.feasible) {
    tf_emitted *files = tf_emit(tree, p->o->target, &p->kernel, d);
    if (files) keep_new(k, i, files, r.seconds);
  }
  tf_model_free(model);
  tf_diags_free(d);
  return ok;
}

/* A mapping without open parts is the only candidate. */
static bool add_given(planner *p) { return p->n || plan_add(p, (plan_candidate){0}); }

/* Moves the measurements to the plan, and adopts the mapping of the fastest kernel. */
static bool adopt_fastest(planner *p, kernels *k) {
  int best = -1;
  for (int i = 0; i < k->n; i++)
    if (k->m[i].measured >= 0 && (best < 0 || k->m[i].measured < k->m[best].measured)) best = i;
  if (best < 0) return true;
  p->plan->measured = k->m;
  p->plan->n_measured = k->n;
  p->plan->chosen = best;
  k->m = NULL;
  const tf_tree *tree = p->candidate[p->plan->measured[best].rank - 1].tree;
  return (!tree || plan_adopt(p, tree)) && plan_evaluate(p);
}

static bool time_them(planner *p, kernels *k) {
  for (int i = 0; i < p->n && k->n < p->n_time && !plan_stopped(p); i++)
    if (!emit_candidate(p, i, k)) return plan_no_memory(p);
  if (k->n == 0 || plan_stopped(p))
    return true; /* emitting the plan reports why nothing can be emitted */
  return p->o->time(p->o->budget.ctx, (const tf_emitted *const *)k->files, k->n, k->m) &&
         adopt_fastest(p, k);
}

bool plan_time(planner *p) {
  if (p->n_time == 0 || !p->plan->result.feasible || p->plan->result.overflow) return true;
  size_t room = (size_t)p->n_time;
  kernels k = {.files = calloc(room, sizeof *k.files),
               .source = calloc(room, sizeof *k.source),
               .m = calloc(room, sizeof *k.m)};
  bool ok = k.files && k.source && k.m ? add_given(p) && time_them(p, &k) : plan_no_memory(p);
  for (int i = 0; i < k.n; i++)
    tf_emitted_free(k.files[i]);
  free(k.files);
  free(k.source);
  free(k.m);
  return ok;
}
